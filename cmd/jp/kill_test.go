package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	crash "jp/internal/testing/crashtest/row"
)

// fiveTools makes, reads, changes, looks at and takes away a file.
const fiveTools = `
[[reply]]
reasoning = "First a file."
message = "I make a file and read it."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "one\ntwo\n" }
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "README.md" }
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "made.txt", edits = [{ old = "two", new = "2" }] }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["printf", "line\n"] }
[[reply]]
[[reply.tool_call]]
name = "fs_delete_file"
arguments = { path = "made.txt" }
[[reply]]
message = "Over."
`

// largestGroup is how many events become durable together at most, in a turn
// of fiveTools: those that begin it.
const largestGroup = 3

// TestKill kills jp at random moments of a turn: events that it reported as durable are.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := crash.Of(10, 25, 300)
	if testing.Short() {
		kills = 5
	}
	p := newPlace(t)
	p.write("../five.toml", fiveTools)
	require.NoError(t, os.Remove(filepath.Join(p.dir, "../home/.config/jp/config.toml"))) // events survive a power cut, too
	whole := p.jp("query", "-y", "--json", "-m", "script/../five.toml", "Go")
	require.Zero(t, whole.exit, whole.stderr)
	lines := strings.Count(whole.stdout, "\n")
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		after, later := random.IntN(lines), time.Duration(random.Int64N(int64(4*time.Millisecond)))
		t.Run(fmt.Sprintf("%d after %d lines and %v", i, after, later), func(t *testing.T) {
			q := *p
			q.t = t
			q.survives(q.kill(after, later))
		})
	}
	require.Equal(t, 0, p.jp("verify", "--all").exit)
	require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))
	_ = os.Remove(filepath.Join(p.dir, "made.txt"))
	for line := range strings.Lines(p.git("status", "--porcelain")) {
		require.Contains(t, line, "?? .jp-", "only what a tool was about to rename may be left")
	}
	p.git("commit", "-q", "--allow-empty", "-m", "nothing is locked")
	crash.Log(t, crash.Row{Class: "b", Name: "a turn of five tools, killed at random moments", Points: kills})
}

// kill runs a turn, kills jp some time after it has written so many lines, and returns the complete
// lines.
func (p *workspace) kill(after int, later time.Duration) []string {
	p.t.Helper()
	_ = os.Remove(filepath.Join(p.dir, "made.txt"))
	cmd := p.command("query", "--new", "-y", "--json", "-m", "script/../five.toml", "Go")
	stdout, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	kill := func() { time.AfterFunc(later, func() { _ = cmd.Process.Kill() }) }
	if after == 0 {
		kill()
	}
	var lines []string
	for r := bufio.NewReader(stdout); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			break // a line without its end was not written
		}
		if lines = append(lines, line); len(lines) == after {
			kill()
		}
	}
	_ = cmd.Wait()
	return lines
}

// survives checks that the events of these lines are those of the conversation,
// and that it has at most one group of events more.
func (p *workspace) survives(lines []string) {
	p.t.Helper()
	if len(lines) == 0 {
		return // jp has printed no event
	}
	var started struct{ Type, Conversation string }
	require.NoError(p.t, json.Unmarshal([]byte(lines[0]), &started))
	require.Equal(p.t, "started", started.Type)
	told, kept := []string{}, []string{}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, `{"conversation":"`+started.Conversation+`","data"`) { // the result is no event
			told = append(told, line)
		}
	}
	out := p.jp("print", started.Conversation, "--internal", "--format", "jsonl")
	require.Zero(p.t, out.exit, out.stderr)
	for line := range strings.Lines(out.stdout) {
		kept = append(kept, strings.Replace(line, `,"incomplete":true`, "", 1))
	}
	require.GreaterOrEqual(p.t, len(kept), len(told))
	require.Equal(p.t, told, kept[:len(told)])
	require.LessOrEqual(p.t, len(kept)-len(told), largestGroup, kept[len(told):])
	require.Zero(p.t, p.jp("verify", started.Conversation).exit)
}
