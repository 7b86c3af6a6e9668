package importer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// An agent may continue after an answer without a request. A model then gets each of the answers.
func TestAnswersToOneRequestAreKept(t *testing.T) {
	_, events := build(t, claude{}, fixture(t, "claude_hook.jsonl"), nil)
	var said []string
	for _, m := range provider.Project(events, provider.Target{}) {
		for _, b := range m.Blocks {
			if m.Role == conversation.RoleAssistant && b.Kind == provider.BlockText {
				said = append(said, b.Text)
			}
		}
	}
	require.Equal(t, []string{"Capped.", "I test.", "Tested.", "No docs."}, said)
}

// A conversation that an import made without notes between the answers stays as it is.
func TestAnswersWithNothingBetween(t *testing.T) {
	text := fixture(t, "claude_hook.jsonl")
	_, events := build(t, claude{}, text, nil)
	was := len(events)
	events = slices.DeleteFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeNote })
	require.Len(t, events, was-2)
	for seq, e := range events {
		if r, ok := e.Body.(*conversation.ToolCallResponse); ok {
			r.For -= e.Seq - seq
		}
		e.Seq = seq
	}
	rep, after := build(t, claude{}, text, events)
	require.Equal(t, StateUnchanged, rep.State)
	require.Equal(t, tell(events), tell(after))
}
