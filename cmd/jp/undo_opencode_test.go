package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"jp/internal/testing/peertest"
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
	program := peertest.Program(t, "opencode")
	model := peertest.NewModel(t)
	version, err := exec.Command(program, "--version").Output()
	require.NoError(t, err)
	peer := openOpencode(t, program, model.URL)
	table := "| program | paths it changed | jp brings back | opencode brings back |\n|---|---|---|---|\n"
	sum := [2]damage{}
	for _, command := range destroyers {
		g := destroyed(t)
		model.Answer(peertest.Call{Tool: "shell_run", Arguments: map[string]any{"argv": []string{"sh", "-c", command}}})
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
		model.Answer(peertest.Call{Tool: "bash", Arguments: map[string]string{"command": command, "description": "run"}})
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

// An opencodeServer is a running opencode serve.
type opencodeServer struct {
	t   *testing.T
	url string
}

func openOpencode(t *testing.T, program, model string) *opencodeServer {
	home := t.TempDir()
	peertest.Configure(t, "opencode", home, home, model)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", "--port", "0", "--hostname", "127.0.0.1")
	cmd.Dir = home
	cmd.Env = append(peertest.Environ(model), "PATH="+os.Getenv("PATH"), "HOME="+home, "TZ=UTC")
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
