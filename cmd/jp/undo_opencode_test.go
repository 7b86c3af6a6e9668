package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// destroyers are programs over the files of [destroyed].
var destroyers = []string{
	"rm -rf a.txt b.txt c.log d.sh",
	"mv -f b.txt a.txt && mv c.log d.sh e/",
	"sed -i s/line/LINE/ a.txt b.txt c.log d.sh",
	"truncate -s 0 a.txt b.txt c.log d.sh large.bin",
	"echo over | tee a.txt b.txt c.log d.sh",
	"git clean -fdx",
	"git stash -u",
	"git checkout -- .",
	"tar xf over.tar",
	"ln -sf nowhere a.txt && ln -sf nowhere b.txt && ln -sf nowhere c.log",
	"chmod 600 a.txt b.txt c.log d.sh",
	"rm b.txt c.log d.sh && mkdir b.txt c.log d.sh",
}

// destroyed makes the files: tracked and since then edited, untracked, ignored, with another mode, in a folder, a link, one
// of 3 MB, and one below an ignored folder.
func destroyed(t *testing.T) *grove {
	p := newPlace(t)
	for _, name := range []string{"a.txt", "b.txt", "c.log", "d.sh"} {
		p.write(name, "over "+name+"\n")
	}
	out, err := exec.Command("tar", "-C", p.dir, "-cf", filepath.Join(p.dir, "over.tar"), "a.txt", "b.txt", "c.log", "d.sh").CombinedOutput()
	require.NoError(t, err, string(out))
	p.write(".gitignore", "*.log\nbuild/\n")
	p.git("add", ".gitignore", "a.txt", "over.tar")
	p.git("commit", "-qm", "two")
	for _, name := range []string{"a.txt", "b.txt", "c.log", "d.sh", "e/f.txt", "build/x.o"} {
		p.write(name, "line of "+name+"\n")
		require.NoError(t, os.Chmod(filepath.Join(p.dir, name), 0o644))
	}
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "d.sh"), 0o750))
	require.NoError(t, os.Symlink("b.txt", filepath.Join(p.dir, "link")))
	p.write("large.bin", strings.Repeat("0123456789abcde\n", 3<<16))
	return &grove{p: p}
}

// A damage is how many paths a program changed, and how many of them are as before again: in all, and in their content.
type damage struct{ changed, back, content int }

// measure runs a program and takes it back.
func (g *grove) measure(run, undo func()) (d damage) {
	before := g.sight()
	run()
	after := g.sight()
	undo()
	now := g.sight()
	content := func(text string) string { // of a file without its mode
		if strings.HasPrefix(text, "-") {
			_, text, _ = strings.Cut(text, " ")
		}
		return text
	}
	for _, path := range union(before, after) {
		if before[path] == after[path] {
			continue
		}
		d.changed++
		if before[path] == now[path] {
			d.back++
		}
		if content(before[path]) == content(now[path]) {
			d.content++
		}
	}
	return d
}

func (d damage) String() string {
	if d.content > d.back {
		return fmt.Sprintf("%d, and %d with another mode", d.back, d.content-d.back)
	}
	return fmt.Sprint(d.back)
}

// opencode, as make peers installs it, brings back at most as many paths of each program as jp. The test takes five minutes: make programs.
func TestUndoBesideOpencode(t *testing.T) {
	if os.Getenv("JP_PROGRAMS") == "" {
		t.Skip("only with JP_PROGRAMS=1")
	}
	program, err := filepath.Abs("../../export/testdata/peers/node_modules/.bin/opencode")
	require.NoError(t, err)
	if _, err := os.Stat(program); err != nil {
		t.Skip("opencode is not installed; it comes from npm: make peers")
	}
	model := &destroyer{}
	model.Server = httptest.NewServer(model)
	t.Cleanup(model.Close)
	version, err := exec.Command(program, "--version").Output()
	require.NoError(t, err)
	peer := openOpencode(t, program, model.URL)
	table := "| program | paths it changed | jp brings back | opencode brings back |\n|---|---|---|---|\n"
	sum := [2]damage{}
	for _, command := range destroyers {
		model.command = command
		g := destroyed(t)
		g.p.environ = append(g.p.environ, "JP_CFG_PROVIDERS__STUB__BASE_URL="+model.URL+"/v1")
		jp := g.measure(func() {
			out := g.p.jp("query", "-y", "-m", "stub/m", "Go")
			require.Zero(t, out.exit, out.stderr)
		}, func() {
			out := g.p.jp("undo", "-y")
			require.Zero(t, out.exit, out.stderr)
		})
		g = destroyed(t)
		session := "/session/" + peer.post("/session", g.p.dir, map[string]any{}).ID
		request := ""
		other := g.measure(func() {
			request = peer.post(session+"/message", g.p.dir, map[string]any{"parts": []any{map[string]string{"type": "text", "text": "Go"}}}).Info.ParentID
		}, func() {
			peer.post(session+"/revert", g.p.dir, map[string]string{"messageID": request})
		})
		assert.Equal(t, jp.changed, other.changed, command)
		assert.GreaterOrEqual(t, jp.back, other.back, command)
		assert.GreaterOrEqual(t, jp.content, other.content, command)
		table += fmt.Sprintf("| `%s` | %d | %s | %s |\n", command, jp.changed, jp, other)
		for i, d := range []damage{jp, other} {
			sum[i] = damage{sum[i].changed + d.changed, sum[i].back + d.back, sum[i].content + d.content}
		}
	}
	t.Logf("opencode %s\n%s| all | %d | %s | %s |", bytes.TrimSpace(version), table, sum[0].changed, sum[0], sum[1])
}

// A destroyer is a model that has one command run, and ends the turn. It speaks Chat Completions.
type destroyer struct {
	*httptest.Server
	command string
}

// ServeHTTP implements [http.Handler].
func (d *destroyer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Role string }
		Tools    []struct{ Function struct{ Name string } }
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	delta, reason := map[string]any{"role": "assistant", "content": "Done."}, "stop"
	for _, tool := range asked.Tools {
		arguments := map[string]any{
			"shell_run": map[string]any{"argv": []string{"sh", "-c", d.command}}, "bash": map[string]any{"command": d.command, "description": "run"},
		}[tool.Function.Name]
		if arguments == nil || asked.Messages[len(asked.Messages)-1].Role == "tool" {
			continue
		}
		text, _ := json.Marshal(arguments)
		delta["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": tool.Function.Name, "arguments": string(text)}}}
		reason = "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": reason}} {
		text, _ := json.Marshal(map[string]any{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// An opencodeServer is a running opencode serve.
type opencodeServer struct {
	t   *testing.T
	url string
}

func openOpencode(t *testing.T, program, model string) *opencodeServer {
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"autoupdate": false, "model": "local/m", "provider": map[string]any{"local": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": model + "/v1", "apiKey": "x"}, "models": map[string]any{"m": map[string]any{}},
	}}})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".config", "opencode"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".config", "opencode", "opencode.json"), config, 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", "--port", "0", "--hostname", "127.0.0.1")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TZ=UTC", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, is := strings.Cut(lines.Text(), "listening on "); is {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return &opencodeServer{t, url}
		}
	}
	require.Fail(t, "opencode serve has ended")
	return nil
}

// post sends a request for a folder, and reads the answer.
func (s *opencodeServer) post(path, dir string, body any) (answer struct {
	ID   string
	Info struct{ ParentID string }
}) {
	text, err := json.Marshal(body)
	require.NoError(s.t, err)
	res, err := http.Post(s.url+path+"?directory="+dir, "application/json", bytes.NewReader(text))
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err = io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s: %s", path, text)
	require.NoError(s.t, json.Unmarshal(text, &answer), string(text))
	return answer
}
