package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recordKillVariable is the number of kills of a recording. An ordinary run has a few.
const recordKillVariable = "JP_RECORD_KILLS"

// TestRecordKill kills the agent, jp record or a hook at a random moment. Then the conversation is readable and can be forked, it
// has each word of the session once, its trees are those of their calls, and the session goes on in it.
func TestRecordKill(t *testing.T) {
	t.Parallel()
	rounds := 8
	if text := os.Getenv(recordKillVariable); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	seed := time.Now().UnixNano()
	if n, err := strconv.ParseInt(os.Getenv("JP_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("JP_SEED=%d", seed)
	random := rand.New(rand.NewSource(seed))
	whole := killRecording(t, "", time.Hour)
	t.Logf("a whole turn takes %s", whole.Round(time.Millisecond))
	for i := range rounds {
		who, at := []string{"agent", "recorder", "hook", "both"}[i%4], time.Duration(random.Int63n(int64(2*whole)))
		t.Run(fmt.Sprintf("%d_%s", i, who), func(t *testing.T) {
			t.Parallel()
			killRecording(t, who, at)
		})
	}
}

// killRecording kills a part of a recording some time behind its start, and returns how long it took.
func killRecording(t *testing.T, who string, at time.Duration) time.Duration {
	p := newPlace(t)
	p.fakesClaude()
	p.write("untracked.txt", "mine\n")
	began := time.Now()
	cmd := p.command("record", "claude", "First words", "echo 1 >f-1", "echo 2 >f-2; rm untracked.txt", "echo 3 >f-3")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(at, func() {
		switch who {
		case "agent":
			p.kills("claude-fake")
		case "recorder":
			_ = cmd.Process.Kill()
		case "both":
			_ = cmd.Process.Kill()
			p.kills("claude-fake")
		case "hook":
			for cmd.ProcessState == nil && !p.kills("record\x00hook") && len(p.processes("claude-fake")) > 0 {
				continue
			}
		}
	})
	err := cmd.Wait() // its output has an end when its agent has ended
	kill.Stop()
	took := time.Since(began)
	if who == "" {
		require.Equal(t, 3, exitOf(t, err), out.String())
	}
	require.NotContains(t, out.String(), "The hook")
	require.Eventually(t, func() bool { return len(p.processes("")) == 0 }, time.Minute, time.Millisecond)
	if _, err := os.Stat(p.fakeFile()); err != nil {
		require.Empty(t, p.jp("ls").stdout)
		return took
	}
	first := p.requireRecorded()

	resumed := p.jp("record", "claude", "--resume", "More words", "echo 4 >f-4", "rm f-4")
	require.Equal(t, 2, resumed.exit, resumed.stderr)
	require.Equal(t, first, p.requireRecorded())
	require.Empty(t, p.processes(""))
	require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))
	require.Zero(t, p.jp("verify", "--all").exit)
	forked := p.jp("fork", first, "--adopt")
	require.Zero(t, forked.exit, forked.stderr)
	p.git("add", ".") // no lock is left
	return took
}

// requireRecorded imports the session, and requires that the only conversation has each of its words once, and the files of its calls.
func (p *workspace) requireRecorded() (id string) {
	t := p.t
	t.Helper()
	file := p.fakeFile()
	imported := p.jp("import", "claude", file)
	require.Zero(t, imported.exit, imported.stderr)
	id = strings.TrimSpace(imported.stdout)
	require.Equal(t, 1, strings.Count(p.jp("ls", "--json").stdout, `"short_id"`))
	require.Zero(t, p.jp("log", id).exit)
	events := p.jp("print", "--json", id).stdout
	again := p.jp("import", "claude", file)
	require.Zero(t, again.exit, again.stderr)
	require.Equal(t, events, p.jp("print", "--json", id).stdout)

	wants := map[string]int{}
	commands := map[string]string{} // by call
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var l struct{ Message struct{ Content any } }
		require.NoError(t, json.Unmarshal([]byte(line), &l), line)
		if said, ok := l.Message.Content.(string); ok {
			wants[said]++
			continue
		}
		block := l.Message.Content.([]any)[0].(map[string]any)
		if call, ok := block["id"].(string); ok {
			wants["tool_call_request "+call]++
			wants["tool_call_response "+call]++ // also of one that never ended
			commands[call] = block["input"].(map[string]any)["command"].(string)
		} else if said, ok := block["text"].(string); ok {
			wants[said]++
		}
	}
	var all []struct {
		Type, Content, Message, Tree string
		Call                         string                       `json:"tool_call_id"`
		LeftOut                      []struct{ Path, Why string } `json:"left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(events), &all))
	seen := map[string]int{}
	for _, e := range all {
		switch e.Type {
		case "chat_request", "chat_response":
			seen[e.Content+e.Message]++
		case "tool_call_request", "tool_call_response":
			seen[e.Type+" "+e.Call]++
		}
		if e.Type != "tool_call_response" || len(e.LeftOut) > 0 {
			continue
		}
		var n int
		files := strings.Fields(p.git("ls-tree", "--name-only", e.Tree))
		if _, err := fmt.Sscanf(commands[e.Call], "rm f-%d", &n); err == nil {
			require.NotContains(t, files, fmt.Sprint("f-", n))
			continue
		}
		_, err := fmt.Sscanf(commands[e.Call], "echo %d", &n)
		require.NoError(t, err)
		require.Contains(t, files, fmt.Sprint("f-", n))
		require.NotContains(t, files, fmt.Sprint("f-", n+1))
	}
	require.Equal(t, wants, seen)
	return id
}

// processes are those of the place whose command line has a text.
func (p *workspace) processes(with string) (pids []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		environ, _ := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if bytes.Contains(environ, []byte("HOME="+p.environHome()+"\x00")) && strings.Contains(string(line), with) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *workspace) kills(with string) (found bool) {
	for _, pid := range p.processes(with) {
		found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
	}
	return found
}
