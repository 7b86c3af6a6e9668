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
	"jp/conversation"
	"jp/export"
)

// hostilePage writes the page of a conversation whose texts try to run a script.
func hostilePage(t *testing.T, events int) (path string) {
	t.Helper()
	const hostile = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [a](javascript:document.title='owned') </pre></details></article><svg onload=\"document.title='owned'\">\n\n```go\nfunc a() {}\n```\n"
	arguments, _ := json.Marshal(map[string]string{"path": hostile})
	var all []*conversation.Event
	began := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	add := func(b conversation.Body) {
		n := len(all)
		all = append(all, &conversation.Event{Seq: n, Turn: 1 + n/100, Time: began.Add(time.Duration(n) * time.Second), Body: b, Author: "Ada", Model: "a/b", Version: conversation.Version})
	}
	for len(all) < events {
		switch n := len(all); n % 5 {
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
	v := &repo.View{ID: "jp-c17528832001-k3f9", Repo: &repo.Repo{Env: &repo.Host{}}, Events: all}
	path = filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(path)
	require.NoError(t, err)
	page, err := export.New(v, all, repo.NewOutgoing(nil)).Page(t.Context(), pageOptions())
	require.NoError(t, err)
	require.NoError(t, page.Write(file))
	page.Close()
	require.NoError(t, file.Close())
	return path
}

// browse runs a browser without a screen and without a network, in one process, and returns its output
// and processor time.
func browse(t *testing.T, path string, flags ...string) (out string, used time.Duration) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium: make chromium installs it")
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--single-process", "--no-zygote",
		"--user-data-dir=" + home, "--host-resolver-rules=MAP * ~NOTFOUND"}, append(flags, "file://"+path)...)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	text, err := cmd.Output()
	require.NoError(t, err)
	return string(text), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// A browser shows each event of a page whose texts try to run a script, and runs none.
func TestPageInABrowser(t *testing.T) {
	const events = 500
	text, _ := browse(t, hostilePage(t, events), "--dump-dom")
	require.Equal(t, events/5*4, strings.Count(text, "<article "), "a tool's call and its result are one")
	require.Equal(t, events, strings.Count(text, ` id="e`))
	require.NotContains(t, text, "<title>owned")
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, "<svg")
	require.NotContains(t, text, "<img")
}

// A browser lays out and paints a page of 10,000 events in little more time than its start takes: both
// are slow on a machine with other work.
func TestLargePageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser six times")
	}
	large, empty := hostilePage(t, 10_000), filepath.Join(t.TempDir(), "empty.html")
	require.NoError(t, os.WriteFile(empty, []byte("<!DOCTYPE html><title>Empty</title>"), 0o644))
	least := map[string]time.Duration{}
	for range 3 {
		for _, path := range []string{large, empty} {
			_, used := browse(t, path, "--screenshot="+filepath.Join(t.TempDir(), "screen.png"), "--window-size=1280,900")
			if was := least[path]; was == 0 || used < was {
				least[path] = used
			}
		}
	}
	t.Logf("10,000 events take %v of processor time, and the start of the browser %v", least[large]-least[empty], least[empty])
	require.Less(t, least[large]-least[empty], 4*least[empty])
}

// A validator of HTML finds no errors in the page of a conversation, and in a site.
func TestPageIsValid(t *testing.T) {
	validator, err := filepath.Abs("testdata/page/node_modules/.bin/html-validate")
	require.NoError(t, err)
	if _, err := os.Stat(validator); err != nil {
		t.Skip("html-validate is not installed; it comes from npm: make validator")
	}
	p := newPlace(t)
	p.write("../talk.toml", "[[reply]]\nreasoning = \"Where?\"\nmessage = \"I **look**.\\n\\n- a\\n- b\"\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"made.txt\", content = \"made\" }\n[[reply]]\nmessage = \"It is done.\"\n")
	require.Equal(t, 0, p.jp("query", "-y", "-m", "script/../talk.toml", "Look").exit)
	require.Equal(t, 0, p.jp("fork", "@3").exit)
	require.Equal(t, 0, p.jp("export", "--all", "--to", "html", "../site").exit)
	pages, err := filepath.Glob(filepath.Join(p.dir, "..", "site", "*.html"))
	require.NoError(t, err)
	require.Len(t, pages, 3)
	args := append([]string{"--config", "testdata/page/rules.json", hostilePage(t, 500)}, pages...)
	out, err := exec.CommandContext(t.Context(), validator, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}
