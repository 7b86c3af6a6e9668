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
	quickest := func(run func() time.Duration) time.Duration {
		least := run()
		for range 4 {
			least = min(least, run())
		}
		return least
	}
	of := func(words ...string) time.Duration {
		return quickest(func() time.Duration {
			cmd := p.command(words...)
			cmd.Dir, cmd.Env = p.dir, p.environ
			require.NoError(t, cmd.Run())
			return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		})
	}
	start := of("version")
	most := max(50*time.Millisecond, 3*start) // on a slow machine all of it is slow
	t.Logf("jp version: %v", start)
	for _, words := range []string{"show ", "show @", "continue ", "query -m ", "query -t ", "query -p ", "query --skill ", "config set ", "ls --remote "} {
		took := of(append([]string{"__complete"}, strings.Split(words, " ")...)...)
		t.Logf("jp __complete %s: %v", words, took)
		require.Less(t, took, most, words)
	}
	took := quickest(func() time.Duration {
		s := p.sit(80)
		s.prompted()
		require.NoError(t, s.cmd.Process.Kill())
		_ = s.cmd.Wait()
		return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	})
	t.Logf("jp to its prompt: %v", took)
	require.Less(t, took, most)
}
