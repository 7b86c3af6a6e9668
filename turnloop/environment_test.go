package turnloop_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	. "jp/turnloop"
)

// The model gets the environment whenever it changes. A discarded turn does not count.
func TestEnvironmentIsToldOnce(t *testing.T) {
	rig := newCrashRig(t, slices.Repeat([]reply{answers("Done.")}, 6)...)
	turn := func(environment string, discard bool) (told string) {
		rig.opts.Input.Environment = environment
		loop := New(rig.opts)
		_, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
		require.NoError(t, err)
		if discard {
			require.NoError(t, loop.Discard(t.Context()))
		}
		rig.opts.Conversation.Head = loop.Head()
		for _, e := range rig.opts.Conversation.Stream.Events() {
			if b, ok := e.Body.(*conversation.TurnStart); ok {
				told = b.Environment
			}
		}
		return told
	}
	require.Equal(t, "Monday.", turn("Monday.", false))
	require.Empty(t, turn("Monday.", false))
	require.Equal(t, "Tuesday.", turn("Tuesday.", true))
	require.Equal(t, "Tuesday.", turn("Tuesday.", false))
	require.Equal(t, "Monday.", turn("Monday.", false))
	require.Empty(t, turn("Monday.", false))
}
