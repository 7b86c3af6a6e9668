package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func TestNeedsAreCarried(t *testing.T) {
	note := func() *conversation.Event { return &conversation.Event{Version: 1, Body: &conversation.Note{}} }
	events := []*conversation.Event{note(), {Version: 1, Body: &conversation.Withholding{}}, note()}
	conversation.CarryNeeds(nil, events)
	require.Empty(t, events[0].Needs)
	require.Equal(t, []string{"withheld"}, events[1].Needs)
	require.Equal(t, []string{"withheld"}, events[2].Needs)
	require.False(t, events[2].Opaque())

	later := []*conversation.Event{note(), {Version: 1, Body: &conversation.Withholding{}}}
	conversation.CarryNeeds([]string{"quorum"}, later)
	require.Equal(t, []string{"quorum"}, later[0].Needs)
	require.Equal(t, []string{"quorum", "withheld"}, later[1].Needs)
	require.True(t, later[0].Opaque(), "an unknown need")
	conversation.CarryNeeds([]string{"quorum"}, later)
	require.Equal(t, []string{"quorum", "withheld"}, later[1].Needs, "once each")
}
