package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/cmd/jp/internal/webpage"
	"jp/conversation"
	"jp/export"
)

// A browser shows each event of a page whose texts try to run a script, and runs none.
func TestPageInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium: make chromium installs it")
	}
	const hostile = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [a](javascript:document.title='owned') </pre></details></article><svg onload=\"document.title='owned'\">\n\n```go\nfunc a() {}\n```\n"
	arguments, _ := json.Marshal(map[string]string{"path": hostile})
	var events []*conversation.Event
	began := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	add := func(b conversation.Body) {
		n := len(events)
		events = append(events, &conversation.Event{Seq: n, Turn: 1 + n/100, Time: began.Add(time.Duration(n) * time.Second), Body: b, Author: "Ada", Model: "a/b", Version: conversation.Version})
	}
	for len(events) < 500 {
		switch n := len(events); n % 5 {
		case 0:
			if n%100 == 0 {
				add(&conversation.TurnStart{Model: "a/b"})
			} else {
				add(&conversation.Note{Content: hostile})
			}
		case 1:
			add(&conversation.ChatRequest{Content: hostile})
		case 2:
			add(&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: strings.Repeat("A **sentence** of a model with `code`. ", 10) + hostile})
		case 3:
			add(&conversation.ToolCallRequest{Call: 1, ID: "c", Name: "fs_read", Arguments: arguments})
		case 4:
			add(&conversation.ToolCallResponse{For: n - 1, ID: "c", Name: "fs_read", Content: strings.Repeat("a line of a result\n", 20) + hostile})
		}
	}
	v := &repo.View{ID: "jp-c17528832001-k3f9", Repo: &repo.Repo{Env: &repo.Host{}}, Events: events}
	path := filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, export.New(v, events, repo.NewOutgoing(nil)).Page(t.Context(), file, export.Options{Markdown: webpage.Markdown}))
	require.NoError(t, file.Close())

	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--user-data-dir="+home,
		"--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", "file://"+path)
	cmd.Env = append(os.Environ(), "HOME="+home)
	dom, err := cmd.Output()
	require.NoError(t, err)
	text := string(dom)
	require.Equal(t, len(events), strings.Count(text, "<article "))
	require.NotContains(t, text, "<title>owned")
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, "<svg")
	require.NotContains(t, text, "<img")
}
