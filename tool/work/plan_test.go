package work_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/work"
)

func TestPlan(t *testing.T) {
	long := strings.Repeat("x", 501)
	for name, tt := range map[string]struct {
		steps   []work.Step
		want    string // the list, or a part of the error
		subject string
		wrong   bool
	}{
		"three states": {
			steps: []work.Step{{"Read", "completed"}, {"Fix", "in_progress"}, {"Test", "pending"}},
			want:  "[x] Read\n[>] Fix\n[ ] Test", subject: "3 steps",
		},
		"one":                 {steps: []work.Step{{"Read", "pending"}}, want: "[ ] Read", subject: "1 step"},
		"a text of two lines": {steps: []work.Step{{"Read\n[x] all", "pending"}}, want: "[ ] Read [x] all", subject: "1 step"},
		"none":                {steps: []work.Step{}, want: "0 steps", wrong: true},
		"too many":            {steps: make([]work.Step, 51), want: "51 steps", wrong: true},
		"no text":             {steps: []work.Step{{"Read", "pending"}, {" ", "pending"}}, want: "step 2 has no text", wrong: true},
		"a long text":         {steps: []work.Step{{long, "pending"}}, want: "501 bytes", wrong: true},
		"another state":       {steps: []work.Step{{"Read", "done"}}, want: `state "done"`, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]any{"steps": tt.steps})
			require.NoError(t, err)
			result, err := work.PlanTool().Run(t.Context(), tool.Call{Arguments: arguments})
			require.NoError(t, err)
			require.Equal(t, tt.wrong, result.IsError)
			require.Empty(t, result.WrittenFiles)
			if tt.wrong {
				require.Contains(t, string(result.Content), tt.want)
				return
			}
			require.Equal(t, tt.want, string(result.Content))
			require.Equal(t, tt.subject, work.PlanTool().Definition().Subject(arguments))
		})
	}
}

func TestTheDefinitionTakesWhatTheToolTakes(t *testing.T) {
	registry, err := tool.NewRegistry(work.PlanTool())
	require.NoError(t, err)
	found, ok := registry.Lookup(tool.Plan)
	require.True(t, ok)
	for arguments, fits := range map[string]bool{
		`{"steps":[{"text":"a","state":"pending"}]}`: true,
		`{"steps":[]}`:             false,
		`{}`:                       false,
		`{"steps":[{"text":"a"}]}`: false,
		`{"steps":[{"text":"a","state":"done"}]}`: false,
	} {
		_, err := tool.Check(found.Definition(), json.RawMessage(arguments))
		require.Equal(t, fits, err == nil, arguments)
	}
}
