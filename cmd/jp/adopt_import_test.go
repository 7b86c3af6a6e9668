package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const interruptedSession = `{"type":"user","uuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:00Z","message":{"role":"user","content":"Look"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:01Z","message":{"id":"m1","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
`

// jp asks one question before it goes on with an imported conversation. The question names the file
// and its owner.
func TestContinuingAnImportedConversationAsksOnce(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"continue"}, {"query", "--continue-turn", "--id"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../first.jsonl", interruptedSession)
			p.write("../talk.toml", "[[reply]]\nmessage = \"one\"\n[[reply]]\nmessage = \"I go on.\"\n")
			id := strings.TrimSpace(p.jp("import", "claude", "../first.jsonl").stdout)
			args = append(args, id, "-m", "script/../talk.toml")

			s := p.sit(100, args...)
			s.WaitFor("was imported from the file first.jsonl of claude, which belongs to ")
			s.prompted()
			s.Type("q")
			require.Equal(t, 3, s.exit())
			require.Equal(t, 1, strings.Count(p.jp("ls", "--json").stdout, `"short_id"`))

			s = p.sit(100, args...)
			s.prompted()
			s.Type("a")
			require.Equal(t, 0, s.exit())
			require.Contains(t, p.jp("print", "newest").stdout, "outcome unknown: recorded by claude without a result")
			require.Equal(t, 0, p.jp("verify").exit)
			require.NotContains(t, p.jp("print", id).stdout, "I go on.")
		})
	}
}
