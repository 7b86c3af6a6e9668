package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/editor"
)

// acpPlace is a place whose model follows a script.
func acpPlace(t *testing.T, script string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", script)
	p.environ = append(p.environ, "JP_CFG_MODEL=script/"+filepath.Join(filepath.Dir(p.dir), "talk.toml"))
	return p
}

// An editorProcess is a client of jp acp as a process.
type editorProcess struct {
	*editor.Client
	cmd *exec.Cmd
}

// connects starts jp acp in a place, with a client of these capabilities.
func (p *workspace) connects(capabilities string, args ...string) editorProcess {
	p.t.Helper()
	cmd := p.command(append([]string{"acp"}, args...)...)
	in, err := cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(p.t, cmd.Start())
	e := editor.Start(p.t, editor.Server{In: in, Out: out, Log: &stderr, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }}, acpSchema)
	return editorProcess{e.Introduce(capabilities), cmd}
}

// An answer from another place withdraws the request.
func TestACPAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, editor.MakeFileScript)
	e := p.connects(`{}`)
	asked := e.Silent()
	session := e.Opens(p.dir)
	id := e.Prompts(session, "Make a file")
	<-asked
	r := p.jp("answer", session, "y")
	require.Zero(t, r.exit, r.stderr)
	require.Equal(t, "end_turn", e.Stops(id))
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
	require.Contains(t, fmt.Sprintf("%s", e.Said), `"method":"$/cancel_request"`)
	e.Leaves()
}

// A server's progress is in the live line of a terminal, and in the updates of an editor.
func TestServerProgress(t *testing.T) {
	t.Parallel()
	const far = "1/2, half of it"
	for name, follow := range map[string]func(p *workspace, over func()){
		"terminal": func(p *workspace, over func()) {
			s := p.sit(80, "query", "-y", "Look")
			s.WaitFor(far)
			over()
			require.Zero(t, s.exit())
			require.NotContains(t, s.Text(), far)
		},
		"editor": func(p *workspace, over func()) {
			e := p.connects(`{}`)
			e.Chooses("Yes, this once", nil)
			session := e.Opens(p.dir)
			id := e.Prompts(session, "Look")
			e.Until(far, func() bool {
				last := len(e.Updates) - 1
				return last >= 0 && e.Updates[last].Status == "in_progress" && strings.Contains(string(e.Updates[last].Raw), far)
			})
			over()
			require.Equal(t, "end_turn", e.Stops(id))
			e.Leaves()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, callRun)
			p.configure("[mcp.fake]\ncommand = [\"mcp-fake\", \"steps\", \"../log\"]\n")
			require.Zero(t, p.jp("trust", "--mcp", "fake", "-y").exit)
			follow(p, func() { p.write("../log.go", "") })
		})
	}
}
