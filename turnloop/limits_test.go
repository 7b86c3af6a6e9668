package turnloop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// Each model call of the fakes takes 12 tokens.
func TestABudgetEndsTheTurnBeforeAModelCall(t *testing.T) {
	tests := map[string]struct {
		tokens int
		calls  int
		status Status
	}{
		"none":                 {0, 3, Complete},
		"enough":               {36, 3, Complete},
		"enough for the start": {25, 3, Complete},
		"used up":              {24, 2, Stopped},
		"used up at once":      {1, 1, Stopped},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{reads("read")}, asksFor("read"), asksFor("read"), answers("ok"))
			r.opts.Limits.Tokens = tt.tokens
			o := r.done()
			require.Equal(t, tt.status, o.Status)
			require.Len(t, r.model.requests, tt.calls)
			if tt.status == Stopped {
				require.Equal(t, conversation.ByBudget, o.By)
			}
		})
	}
}

func TestWhatAToolAsksCountsForTheBudget(t *testing.T) {
	for _, tokens := range []int{40, 32} {
		f := reads("asker").doing(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Usage: &conversation.Usage{Input: 15, Output: 5}}, nil
		})
		r := newRig(t, []*fakeTool{f}, asksFor("asker"), answers("ok"))
		r.opts.Limits.Tokens = tokens
		o := r.done()
		require.Equal(t, map[int]Status{40: Complete, 32: Stopped}[tokens], o.Status)
		require.Equal(t, map[int]int{40: 44, 32: 32}[tokens], o.Usage.Input+o.Usage.Output)
	}
}

func TestAToolIsToldWhatIsLeftOfTheBudget(t *testing.T) {
	for tokens, left := range map[int]int{0: 0, 100: 88, 12: 1, 5: 1} {
		f := reads("read")
		r := newRig(t, []*fakeTool{f}, asksFor("read"), answers("ok"))
		r.opts.Limits.Tokens = tokens
		r.done()
		require.Equal(t, left, f.runs[0].Budget, tokens)
	}
}

func TestNoSideRequestWithoutABudget(t *testing.T) {
	f := reads("quest").questioning()
	f.def.Questions = map[string]tool.QuestionTo{"overwrite": {Assistant: true}}
	r := newRig(t, []*fakeTool{f}, asksFor("quest"), answers("ok"))
	r.opts.Limits.Tokens = 12
	require.Equal(t, Stopped, r.done().Status)
	require.Len(t, r.model.requests, 1)
	require.Equal(t, "the turn's budget of tokens is used up", last[*conversation.InquiryResponse](r).Reason)
}

func TestTimeOfATool(t *testing.T) {
	const forAll = 20 * time.Millisecond
	cases := []struct {
		name    string
		def     tool.Definition
		limit   time.Duration
		limited bool
	}{
		{"as all tools", tool.Definition{}, forAll, true},
		{"none at all", tool.Definition{}, -1, false},
		{"its own", tool.Definition{Timeout: forAll}, time.Hour, true},
		{"its own, where there is none for all", tool.Definition{Timeout: forAll}, -1, true},
		{"kept by itself", tool.Definition{Timed: true, Timeout: forAll}, forAll, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			limited := false
			slow := reads("slow").doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				_, limited = ctx.Deadline()
				return tool.Result{}, nil
			})
			slow.def.Timeout, slow.def.Timed = c.def.Timeout, c.def.Timed
			r := newRig(t, []*fakeTool{slow}, asksFor("slow"), answers("ok"))
			r.opts.Limits.ToolTimeout = c.limit
			r.done()
			require.Equal(t, c.limited, limited)
		})
	}
}
