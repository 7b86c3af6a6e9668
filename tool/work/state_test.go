package work_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	"jp/tool/work"
)

func TestAStateIsKeptAsAnEvent(t *testing.T) {
	tests := map[string]struct {
		arguments string
		want      conversation.WorkState
		effect    string
	}{
		"nothing": {`{}`, conversation.WorkState{}, "0 open tasks"},
		"all of it": {
			`{"plan":"p","open_tasks":["a"],"files_touched":["f.go"],"assumptions":["g"],"errors":["e","d"]}`,
			conversation.WorkState{Plan: "p", OpenTasks: []string{"a"}, FilesTouched: []string{"f.go"}, Assumptions: []string{"g"}, Errors: []string{"e", "d"}},
			"1 open task",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := run(t, work.StateTool(), tt.arguments, 0)
			require.NoError(t, err)
			require.False(t, result.IsError)
			require.Equal(t, tt.effect, result.Effect)
			require.Equal(t, []conversation.Body{&tt.want}, result.Records)
		})
	}
}

func TestAStateThatIsTooLongIsNotKept(t *testing.T) {
	result, err := run(t, work.StateTool(), `{"plan":"`+strings.Repeat("x", 17<<10)+`"}`, 0)
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Contains(t, string(result.Content), "fewer words")
	require.Empty(t, result.Records)
}

func TestKeepingAStateNeedsNoPermission(t *testing.T) {
	def := work.StateTool().Definition()
	require.Equal(t, tool.Unattended, def.Run)
	require.Equal(t, tool.Reads, def.Effect)
}
