package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
)

// A mode that allows less holds at once, one that allows more for the next turn.
func TestModeChanges(t *testing.T) {
	for _, tt := range []struct {
		began, now string
		atOnce     bool
	}{
		{"", "plan", true}, {"edits", "plan", true}, {agent.ModeAuto, "plan", true},
		{"edits", "", true}, {agent.ModeAuto, "", true}, {agent.ModeAuto, "edits", true},
		{"", "edits", false}, {"", agent.ModeAuto, false}, {"edits", agent.ModeAuto, false}, {"plan", "", false}, {"plan", "edits", false}, {"edits", "edits", false},
	} {
		require.Equal(t, tt.atOnce, new(agent.ModeChange).Choose(tt.began, tt.now), "%q to %q", tt.began, tt.now)
	}
	var c agent.ModeChange
	require.True(t, c.Choose("edits", "plan"))
	require.False(t, c.Choose("edits", ""), "the turn stays in plan")
}
