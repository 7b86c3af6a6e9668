package importer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

const saidSession = `{"type":"user","uuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:00Z","message":{"role":"user","content":"Cap the retries"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:01Z","message":{"id":"m1","model":"x","content":[{"type":"thinking","thinking":"I have to look"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cat \u003calpha\u003e and beta"}}]}}
{"type":"user","uuid":"3","parentUuid":"2","sessionId":"5e55","timestamp":"2026-11-02T09:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"three tries"}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","sessionId":"5e55","timestamp":"2026-11-02T09:00:03Z","message":{"id":"m2","model":"x","content":[{"type":"text","text":"Capped at three"}],"stop_reason":"end_turn"}}
`

// A record with another text at the same time is a changed one.
func TestAFileWithOtherWords(t *testing.T) {
	for name, change := range map[string][2]string{
		"request": {"Cap the", "Remove the"}, "reasoning": {"have to", "need not"}, "text": {"I look", "I wait"}, "command": {"and beta", "and gamma"},
		"result": {"three tries", "four tries"},
	} {
		t.Run(name, func(t *testing.T) {
			_, have, err := importText(t, claude{}, saidSession, "", nil)
			require.NoError(t, err)
			other := strings.Replace(saidSession, change[0], change[1], 1)
			require.NotEqual(t, saidSession, other)
			rep, _, err := importText(t, claude{}, other, "", have)
			require.ErrorIs(t, err, errChanged)
			require.ErrorContains(t, err, "another text")
			require.Zero(t, rep.Added)
		})
	}
}

// An answer that was incomplete when it was imported is replaced, and its beginning adds no event.
func TestTheNewestAnswerGrows(t *testing.T) {
	_, have, err := importText(t, claude{}, saidSession, "", nil)
	require.NoError(t, err)
	longer := strings.Replace(saidSession, "at three", "at three, and tested", 1)
	rep, now, err := importText(t, claude{}, longer, "", have)
	require.NoError(t, err)
	require.Equal(t, StateGrown, rep.State)
	_, whole, err := importText(t, claude{}, longer, "", nil)
	require.NoError(t, err)
	require.Equal(t, whole.tellAll(), now.tellAll())
	rep, now, err = importText(t, claude{}, saidSession, "", now)
	require.NoError(t, err)
	require.Zero(t, rep.Added)
	require.Equal(t, whole.tellAll(), now.tellAll())
}

// Secrets are replaced in stored events, and stay in the file. The words around them are compared.
func TestWordsAroundSecrets(t *testing.T) {
	hide := strings.NewReplacer("retries", "[secret:a-rule:0123456789abcdef]", "alpha", "[secret:a-rule:0123456789abcde0]", "three", "[secret:other:0123456789abcde1]")
	for name, test := range map[string]struct {
		was, is string
		changed bool
	}{
		"the same":        {"", "", false},
		"another secret":  {"retries", "attempts", false},
		"before a secret": {"Cap the", "Remove the", true},
		"behind a secret": {"three tries", "three times", true},
		"in a command":    {"and beta", "and gamma", true},
		"elsewhere":       {"I look", "I wait", true},
	} {
		t.Run(name, func(t *testing.T) {
			_, have, err := importText(t, claude{}, saidSession, "", nil)
			require.NoError(t, err)
			for _, events := range have {
				for _, e := range events {
					e.Rewrite(func(_, text string) string { return hide.Replace(text) })
				}
			}
			_, _, err = importText(t, claude{}, strings.Replace(saidSession, test.was, test.is, 1), "", have)
			if test.changed {
				require.ErrorIs(t, err, errChanged)
				return
			}
			require.NoError(t, err)
		})
	}
}

// A partly missing text is exempt from comparison.
func TestWordsThatAreNotHere(t *testing.T) {
	e := &conversation.Event{Body: &conversation.ChatRequest{Content: "The beg"}, Payloads: []conversation.Payload{{Name: conversation.PayloadText, Bytes: 100, Absent: true}}}
	require.False(t, contentOf(e).differs(&conversation.Event{Body: &conversation.ChatRequest{Content: "Another one"}}))
}
