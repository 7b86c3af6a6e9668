package turnloop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

// repeatingTools are tools that return the same each time, with and without changing a
// file, one that always fails, one whose every result differs, and one that takes time.
func repeatingTools(w *workspace, waited *atomic.Int64) []*fakeTool {
	runs := 0
	return []*fakeTool{
		reads("read"), reads("look"), changes("write").writing(w, "a.go"), changes("declined").asking(),
		reads("fails").doing(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: []byte("exit 1"), IsError: true}, nil
		}),
		reads("poll").doing(func(context.Context, tool.Call) (tool.Result, error) {
			waited.Add(int64(time.Second))
			return tool.Result{Content: []byte("pending")}, nil
		}),
		reads("clock").doing(func(context.Context, tool.Call) (tool.Result, error) {
			runs++
			return tool.Result{Content: fmt.Appendf(nil, "%d", runs)}, nil
		}),
	}
}

// The model makes the same call with the same result three times in a row, and the turn ends if the user is
// absent. The test varies which calls count as the same.
func TestTheSameCallWithTheSameResultEndsTheTurn(t *testing.T) {
	const called = conversation.FinishToolCalls
	read := asksFor("read")
	on := func(path string) reply { return calling("read", `{"path":"`+path+`"}`, called) }
	both := asksFor("read", "look")
	times := func(n int, replies ...reply) []reply { return slices.Concat(slices.Repeat([][]reply{replies}, n)...) }
	for name, tc := range map[string]struct {
		replies []reply
		limit   int // 0: the default
		again   string
		times   int
		in      string // their order, if not in a row
	}{
		"three times":              {replies: []reply{read, read, read}, again: "read", times: 3},
		"twice":                    {replies: []reply{read, read}},
		"an error each time":       {replies: []reply{asksFor("fails"), asksFor("fails"), asksFor("fails")}, again: "fails", times: 3},
		"a changing tool":          {replies: times(9, asksFor("write"))},
		"a changing tool, longer":  {replies: times(10, asksFor("write")), again: "write", times: 10},
		"it takes time":            {replies: times(9, asksFor("poll"))},
		"it takes time, longer":    {replies: times(10, asksFor("poll")), again: "poll", times: 10},
		"it takes time, a limit":   {replies: times(12, asksFor("poll")), limit: 12, again: "poll", times: 12},
		"one of both takes time":   {replies: times(9, asksFor("read", "poll"))},
		"one in two":               {replies: times(9, read, asksFor("look"))},
		"one in two, longer":       {replies: times(10, read, asksFor("poll"))[:19], again: "read", times: 10, in: "in turn with another one,"},
		"declined each time":       {replies: []reply{asksFor("declined"), asksFor("declined"), asksFor("declined")}, again: "declined", times: 3},
		"another result each time": {replies: []reply{asksFor("clock"), asksFor("clock"), asksFor("clock"), asksFor("clock")}},
		"other arguments":          {replies: []reply{on("a"), on("b"), on("a"), on("b"), on("a")}},
		"JSON laid out otherwise": {replies: []reply{
			calling("read", `{"path":"a","argv":["b"]}`, called), calling("read", `{ "argv": [ "b" ],"path": "a" }`, called), calling("read", `{"argv":["b"],"path":"\u0061"}`, called),
		}, again: "read", times: 3},
		"other ids": {replies: []reply{
			once(calls("read", "_1", "{}"), ends(called)), once(calls("read", "_2", "{}"), ends(called)), once(calls("read", "_3", "{}"), ends(called)),
		}, again: "read", times: 3},
		"several calls, all again":           {replies: []reply{both, both, both}, again: "read", times: 3},
		"several calls, in another order":    {replies: []reply{both, asksFor("look", "read"), both}, again: "read", times: 3},
		"several calls, one of them again":   {replies: []reply{both, asksFor("read", "clock"), both, asksFor("read", "clock"), both}},
		"one more call":                      {replies: []reply{read, read, both, read, read}},
		"an edit between":                    {replies: []reply{read, asksFor("write"), read, asksFor("write"), read, asksFor("write")}},
		"three times in one answer":          {replies: []reply{asksFor("read", "read", "read"), asksFor("read", "read", "read")}},
		"three times in each of three":       {replies: []reply{asksFor("read", "read", "read"), asksFor("read", "read", "read"), asksFor("read", "read", "read")}, again: "read", times: 3},
		"words between":                      {replies: []reply{read, once(hasContent("Again."), calls("read", "_1", "{}"), ends(called)), read}, again: "read", times: 3},
		"begins later":                       {replies: []reply{asksFor("clock"), on("a"), read, read, read}, again: "read", times: 3},
		"another limit, reached":             {replies: []reply{read, read}, limit: 2, again: "read", times: 2},
		"another limit":                      {replies: []reply{read, read, read, read}, limit: 5},
		"a limit of one is two":              {replies: []reply{read, read}, limit: 1, again: "read", times: 2},
		"no limit":                           {replies: []reply{read, read, read, read, read, read}, limit: -1},
		"an answer that never ran a tool":    {replies: []reply{calling("none", "{}", called), calling("gone", "{}", called), calling("none", "{}", called)}},
		"another tool with the same result":  {replies: []reply{asksFor("fails"), calling("fails", `{"path":"a"}`, called), asksFor("fails")}},
		"the last answer is the same answer": {replies: []reply{read, asksFor("clock"), read, asksFor("clock"), read}},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, killed), func(t *testing.T) {
				w := newWorkspace()
				start := time.Date(2025, 7, 19, 14, 0, 0, 0, time.UTC)
				var waited atomic.Int64 // tools that read run side by side
				r := newRig(t, repeatingTools(w, &waited), append(tc.replies[:len(tc.replies):len(tc.replies)], answers("ok"))...)
				r.opts.Files.Workspace, r.opts.Limits.SameCalls, r.opts.User.Policy = w, tc.limit, PolicyDeny
				r.opts.Clock.Now = func() time.Time { return start.Add(time.Duration(waited.Load())) }
				o := r.doneOrKilled(killed)
				if tc.again == "" {
					require.Equal(t, Complete, o.Status)
					require.Equal(t, "ok", o.Message)
					return
				}
				why := fmt.Sprintf("the model made the same call %d times %s with the same result: %s", tc.times, cmp.Or(tc.in, "in a row"), tc.again)
				require.Equal(t, Stopped, o.Status)
				require.Equal(t, conversation.ByLimit, o.By)
				require.Equal(t, why, o.Reason)
				require.Nil(t, o.Failing)
				require.Equal(t, &conversation.TurnStopped{By: conversation.ByLimit, Reason: why}, last[*conversation.TurnStopped](r))
				require.True(t, killed || len(r.model.requests) == len(tc.replies), "the model is not asked again")
				require.True(t, r.opts.Conversation.Stream.Tail().Complete())
			})
		}
	}
}

// A user is asked before the model is, and decides. A kill while the question stands leaves
// it to the next run, and so does a lost terminal.
func TestAUserDecidesWhetherARepeatingModelGoesOn(t *testing.T) {
	lost := errors.New("the terminal went away")
	read := asksFor("read")
	for name, tc := range map[string]struct {
		says   []func() (bool, error)
		asked  int
		status Status
		turn   string // the end of the turn
	}{
		"goes on": {
			says: []func() (bool, error){func() (bool, error) { return true, nil }}, asked: 1,
			status: Complete, turn: "tool_call_response note tool_call_request tool_call_response chat_response",
		},
		"stops":   {says: []func() (bool, error){func() (bool, error) { return false, nil }}, asked: 1, status: Stopped, turn: "tool_call_response turn_stopped"},
		"replies": {says: []func() (bool, error){func() (bool, error) { return false, &UserCommand{Kind: CommandReply, Text: "Try b."} }}, asked: 1, status: Complete, turn: "tool_call_response chat_request tool_call_request tool_call_response chat_response"},
		"is lost, then goes on": {
			says:  []func() (bool, error){func() (bool, error) { return false, lost }, func() (bool, error) { return true, nil }},
			asked: 2, status: Complete, turn: "tool_call_response turn_interrupted note tool_call_request tool_call_response chat_response",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{reads("read")}, read, read, read, read, answers("ok"))
			r.opts.Clock.Now = func() time.Time { return time.Unix(0, 0) }
			asked := 0
			r.opts.User.GoOn = func(_ context.Context, again *Repeating) (bool, error) {
				require.Equal(t, &Repeating{Tool: "read", Times: 3}, again)
				require.Len(t, r.model.requests, 3, "the model is not asked before the user")
				asked++
				return tc.says[asked-1]()
			}
			o, err := r.start(t.Context())
			if errors.Is(err, lost) {
				require.Equal(t, Incomplete, o.Status)
				o, err = r.resume(t.Context())
			}
			require.NoError(t, err)
			require.Equal(t, tc.asked, asked)
			require.Equal(t, tc.status, o.Status)
			require.Regexp(t, tc.turn+"$", r.turn())
			if tc.status == Stopped {
				require.Equal(t, conversation.ByUser, o.By)
				require.Contains(t, o.Reason, "3 times in a row")
			}
		})
	}
}

// The count begins anew once the user let the model go on.
func TestTheUserIsAskedAgainAfterAsManyCalls(t *testing.T) {
	read := asksFor("read")
	r := newRig(t, []*fakeTool{reads("read")}, read, read, read, read, read, read, answers("ok"))
	r.opts.Clock.Now = func() time.Time { return time.Unix(0, 0) }
	var at []int
	r.opts.User.GoOn = func(context.Context, *Repeating) (bool, error) {
		at = append(at, len(r.model.requests))
		return true, nil
	}
	require.Equal(t, "ok", r.done().Message)
	require.Equal(t, []int{3, 6}, at)
	require.Contains(t, r.model.sent(), "You made the same call several times in a row")
}

// From the third time on, the model reads in each result how often the call came with it. A
// resume counts on.
func TestTheModelReadsHowOftenACallCameWithTheSameResult(t *testing.T) {
	for _, killed := range []bool{false, true} {
		var waited atomic.Int64
		r := newRig(t, repeatingTools(newWorkspace(), &waited), append(slices.Repeat([]reply{asksFor("poll")}, 4), asksFor("clock"), answers("ok"))...)
		r.opts.Clock.Now = func() time.Time { return time.Unix(0, waited.Load()) }
		require.Equal(t, "ok", r.doneOrKilled(killed).Message)
		newest := r.model.requests[len(r.model.requests)-1]
		var got []string
		for _, m := range newest.Messages {
			for _, b := range m.Blocks {
				if b.Kind == provider.BlockResult {
					got = append(got, b.Text)
				}
			}
		}
		note := "pending\n[jp: same call, same result, %d times]"
		require.Equal(t, []string{"pending", "pending", fmt.Sprintf(note, 3), fmt.Sprintf(note, 4), "1"}, got)
		for _, e := range r.stored() {
			if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
				require.NotContains(t, b.Content, "jp:", "the event keeps the result")
			}
		}
	}
}
