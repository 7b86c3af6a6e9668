package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A shell gets its candidates after little work, and the conversation its prompt. The quickest of some
// runs counts, in the time of the processor: the machine may have other work.
func TestStartsAreQuick(t *testing.T) {
	p := newPlace(t)
	p.write("../talk.toml", `[[reply]]
message = "Reading."
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "README.md" }
`+strings.Repeat("[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"README.md\" }\n", 99)+"[[reply]]\nmessage = \"Over.\"\n")
	require.Zero(t, p.jp("query", "-y", "-m", "script/../talk.toml", "Read them").exit)
	of := func(words ...string) time.Duration {
		return quickest(func() time.Duration { return p.took(words...) })
	}
	start := of("version")
	most := max(50*time.Millisecond, 3*start) // on a slow machine all of it is slow
	t.Logf("jp version: %v", start)
	for _, words := range []string{"show ", "show @", "continue ", "query -m ", "query -t ", "query -p ", "query --skill ", "config set ", "ls --remote "} {
		took := of(append([]string{"__complete"}, strings.Split(words, " ")...)...)
		t.Logf("jp __complete %s: %v", words, took)
		require.Less(t, took, most, words)
	}
	took := quickest(p.prompts)
	t.Logf("jp to its prompt: %v", took)
	require.Less(t, took, most)
}

// quickest is the least of some runs.
func quickest(run func() time.Duration) time.Duration {
	least := run()
	for range 4 {
		least = min(least, run())
	}
	return least
}

// took is the time of the processor that a command takes.
func (p *workspace) took(words ...string) time.Duration {
	p.t.Helper()
	cmd := p.command(words...)
	require.NoError(p.t, cmd.Run())
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// prompts is the time of the processor until jp shows its prompt.
func (p *workspace) prompts() time.Duration {
	p.t.Helper()
	s := p.sit(80)
	s.prompted()
	require.NoError(p.t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}
