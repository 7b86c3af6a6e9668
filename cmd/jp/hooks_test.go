package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// changesPath is a hook that lets a file be made elsewhere.
const changesPath = "echo '{\"arguments\":{\"path\":\"safe.txt\",\"content\":\"changed\\\\n\"}}'\n"

// hook makes a script of a shell the user's hook before tools.
func (p *workspace) hook(script string) {
	p.t.Helper()
	p.write("../hook.sh", "#!/bin/sh\n"+script)
	p.write("../home/.config/jp/config.toml", "[store]\ndurability = \"off\"\n[hooks]\ntool-pre = [\"../hook.sh\"]\n")
}

// fifo makes a named pipe next to the place.
func (p *workspace) fifo(name string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, "..", name)
	require.NoError(p.t, syscall.Mkfifo(path, 0o600))
	return path
}

const oneFile = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "Over."
`

func TestThePromptShowsWhatAHookChanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hook(changesPath)
	p.write("../one.toml", oneFile)
	s := p.sit(100, "query", "-m", "script/../one.toml", "Make a file")
	s.prompted()
	require.Contains(t, s.Text(), "create safe.txt")
	require.Contains(t, s.Text(), "! a hook changed the arguments; the model asked for others (d)")
	require.Contains(t, s.Text(), "1 + changed")
	require.NotContains(t, s.Text(), "made.txt")
	s.Type("d")
	s.WaitFor("The model asked for:")
	s.WaitFor(`"path": "made.txt"`)
	s.prompted()
	s.Type("y")
	require.Zero(t, s.exit())
	require.FileExists(t, filepath.Join(p.dir, "safe.txt"))
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
}

// requireSafe goes on with the turn, and wants it to have run the call as the hook changed it, and the
// hook to be on record once.
func (p *workspace) requireSafe() {
	p.t.Helper()
	out := p.jp("continue", "-y")
	require.Zero(p.t, out.exit, out.stderr)
	require.FileExists(p.t, filepath.Join(p.dir, "safe.txt"))
	require.NoFileExists(p.t, filepath.Join(p.dir, "made.txt"))
	hooks := 0
	for _, e := range p.ofType("inquiry_request") {
		if e["kind"] == "hook" {
			hooks++
		}
	}
	require.Equal(p.t, 1, hooks)
}

func TestAKillDuringAHookBeforeATool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ready, hold := p.fifo("ready"), p.fifo("hold")
	p.hook("echo > ../ready; cat ../hold\n")
	p.write("../one.toml", oneFile)
	cmd := p.command("query", "-y", "-m", "script/../one.toml", "Make a file")
	require.NoError(t, cmd.Start())
	_, err := os.ReadFile(ready) // until the hook runs
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, os.WriteFile(hold, nil, 0)) // lets the hook end
	require.Empty(t, p.ofType("inquiry_request"), "nothing was decided")
	p.hook(changesPath)
	p.requireSafe()
}

func TestAKillBehindAHookBeforeATool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hook(changesPath)
	p.write("../one.toml", oneFile)
	s := p.sit(100, "query", "-m", "script/../one.toml", "Make a file")
	s.prompted()
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	p.hook("echo no >&2; exit 2\n") // it has no effect any more
	p.requireSafe()
}

func TestCtrlCDuringAHook(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ready, hold := p.fifo("ready"), p.fifo("hold")
	p.hook("echo > ../ready; cat ../hold\n")
	p.write("../one.toml", oneFile)
	s := p.sit(100, "query", "-y", "-m", "script/../one.toml", "Make a file")
	_, err := os.ReadFile(ready)
	require.NoError(t, err)
	s.Type("\x03")
	s.WaitFor("The tool-pre hook has run")
	s.WaitFor("before create made.txt.")
	s.WaitFor("s stop the turn")
	s.Type("s")
	require.Zero(t, s.exit())
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
	require.Len(t, p.ofType("turn_stopped"), 1)
	_, err = os.OpenFile(hold, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	require.ErrorIs(t, err, syscall.ENXIO, "nobody reads it any more: the hook has ended")
}

func TestAHookSeesTheCallsOfADelegate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hook(`told=$(cat)
case $told in
*'"name":"fs_create_file"'*) printf '%s\n' "$told" >> ../told; echo nowhere >&2; exit 2 ;;
esac
`)
	p.write("../parent.toml", `
[[reply]]
[[reply.tool_call]]
name = "delegate"
arguments = { task = "Make a file", model = "script/../one.toml" }
[[reply]]
message = "Over."
`)
	p.write("../one.toml", oneFile)
	out := p.jp("query", "-y", "-t", "delegate", "-m", "script/../parent.toml", "Let a file be made")
	require.Zero(t, out.exit, out.stderr)
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
	told, err := os.ReadFile(filepath.Join(p.dir, "../told"))
	require.NoError(t, err)
	child := p.ofType("tool_started")[0]["child"].(string)
	require.Contains(t, string(told), `"conversation":"`+child+`"`)
	require.Equal(t, 1, strings.Count(string(told), "\n"))
}
