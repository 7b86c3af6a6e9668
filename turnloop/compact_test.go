package turnloop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	. "jp/turnloop"
)

// trims is a decision to trim the first result, once.
func trims(_ context.Context, r Room) ([]conversation.Body, error) {
	first := -1
	for _, e := range r.Events {
		switch e.Body.(type) {
		case *conversation.Compaction:
			return nil, nil
		case *conversation.ToolCallResponse:
			if first < 0 {
				first = e.Seq
			}
		}
	}
	if first < 0 {
		return nil, nil
	}
	return []conversation.Body{&conversation.Compaction{
		Kind: conversation.CompactTrim, By: conversation.ByLimit, ToSeq: first, Trimmed: []int{first}, Before: 2, After: 1,
	}}, nil
}

// A crash at any append leaves the conversation without the compaction, or with all of it, and the turn
// goes on to its end with one.
func TestACrashAtEveryAppendOfACompaction(t *testing.T) {
	begin := func(t *testing.T) *crashRig {
		c := newCrashRig(t, longTurn()...)
		c.opts.Model.MakeRoom = trims
		return c
	}
	compactions := func(c *crashRig) (n int) {
		for _, e := range c.stored() {
			if b, ok := e.Body.(*conversation.Compaction); ok {
				require.Len(c.t, b.Trimmed, 1)
				n++
			}
		}
		return n
	}
	whole := begin(t)
	whole.done()
	require.Equal(t, 1, compactions(whole))
	seen := map[int]bool{}
	for _, how := range []crash{refuses, dies, silent} {
		for n := 1; n <= whole.journal.count; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				c := begin(t)
				_, _ = New(c.opts).Start(c.crashAt(n, how), Request{Chat: conversation.ChatRequest{Content: "do it"}})
				seen[compactions(c)] = true
				c.heal()
				c.finish()
				require.Equal(t, 1, compactions(c))
			})
		}
	}
	require.Equal(t, map[int]bool{0: true, 1: true}, seen)
}

// A model that is too expensive to ask ends the turn well.
func TestACallThatCostsTooMuchEndsTheTurn(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read")}, asksFor("read"), once(&provider.Error{Class: provider.ClassBudget, Message: "it reaches limits.cost_usd"}))
	o := r.done()
	require.Equal(t, Stopped, o.Status)
	require.Equal(t, conversation.ByBudget, o.By)
	require.Equal(t, "it reaches limits.cost_usd", o.Reason)
	require.Equal(t, conversation.TypeTurnDone, r.opts.Conversation.Stream.Last().Type())
}

// A model that answers in place of the turn's makes the room that it needs itself: before its first request, and once if its
// server refuses one. Its tools name it.
func TestAFallbackMakesItsOwnRoom(t *testing.T) {
	quota := &provider.Error{Class: provider.ClassQuota, Message: "nothing left"}
	tooLong := &provider.Error{Class: provider.ClassContext, Message: "too long"}
	r := newRig(t, []*fakeTool{reads("read")}, asksFor("read"), once(quota))
	other := newRig(t, nil, answers("not asked"), asksFor("read"), once(tooLong)).model
	var asked []string
	room := func(name string) func(context.Context, Room) ([]conversation.Body, error) {
		return func(ctx context.Context, room Room) ([]conversation.Body, error) {
			asked = append(asked, fmt.Sprint(name, " as ", room.Request.Model, " refused ", room.Refused != nil))
			if name == "first" || room.Refused != nil {
				return nil, nil
			}
			return trims(ctx, room)
		}
	}
	r.opts.Model.MakeRoom = room("first")
	r.opts.Model.Fallback = func(_ context.Context, n int) (*Candidate, error) {
		if n > 0 {
			return nil, nil
		}
		return &Candidate{Provider: other, API: "test", Model: "test/other", MakeRoom: room("other")}, nil
	}
	_, err := r.start(t.Context())
	require.ErrorContains(t, err, "too long")
	require.Equal(t, []string{
		"first as test/model refused false", "first as test/model refused false",
		"other as test/other refused false", "other as test/other refused false", "other as test/other refused true",
	}, asked)
	var models []string
	for _, e := range r.opts.Conversation.Stream.Events() {
		switch e.Body.(type) {
		case *conversation.ToolCallRequest, *conversation.ToolCallResponse, *conversation.Compaction:
			models = append(models, string(e.Type())+" "+e.Model)
		}
	}
	require.Equal(t, []string{
		"tool_call_request test/model", "tool_call_response test/model", "compaction test/other",
		"tool_call_request test/other", "tool_call_response test/other",
	}, models)
}
