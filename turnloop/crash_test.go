package turnloop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

var errDisk = errors.New("no space left")

// A crash is an event at one append.
type crash int

const (
	refuses crash = iota // it is refused, once
	dies                 // it is durable, and then the process ends
	silent               // it is durable, but the journal says otherwise, and then the process ends
)

func (c crash) String() string { return [...]string{"refuses", "dies", "silent"}[c] }

// A crashRig is a rig whose tools check that they may run.
type crashRig struct {
	*rig
	workspace *workspace
	crashed   int // lines of the trace when the crash came, 0 before
	mu        sync.Mutex
	problems  []string
}

// newCrashRig has a tool of every sort.
func newCrashRig(t testingT, replies ...reply) *crashRig {
	c := &crashRig{workspace: newWorkspace()}
	held, boss := changes("held"), changes("boss").exclusive()
	held.def.Result = tool.Ask
	tools := []*fakeTool{
		reads("read"), changes("write").asking().writing(c.workspace, "a.go"), changes("free").writing(c.workspace, "b.go"),
		changes("quest").questioning(), held, boss,
	}
	for _, f := range tools {
		f.do = c.watched(f)
	}
	c.rig = newRig(t, tools, replies...)
	c.opts.Files.Workspace = c.workspace
	c.prompting(func(_ context.Context, q Question) (Answer, error) {
		switch q.Inquiry.Request.Kind {
		case conversation.KindToolQuestion:
			return boolean("true"), nil
		case conversation.KindDeliverResult:
			return quoted("deliver"), nil
		}
		return quoted("run"), nil
	})
	return c
}

// watched is the tool's work, with the conditions that must hold then.
func (c *crashRig) watched(f *fakeTool) func(context.Context, tool.Call) (tool.Result, error) {
	do := f.do
	return func(ctx context.Context, call tool.Call) (tool.Result, error) {
		if f.def.Effect == tool.Changes {
			c.watch(call.Seq)
		}
		if do == nil {
			return tool.Result{Content: []byte("ok")}, nil
		}
		return do(ctx, call)
	}
}

// watch checks, from what is durable, that a changing call may run now: it has a
// yes, its newest event is its start, and its response is missing.
func (c *crashRig) watch(seq int) {
	ledger := conversation.LedgerOf(c.stored())
	call := ledger.ToolCall(seq)
	yes := call.Inquiry(conversation.KindRunTool)
	newest := call.Started
	starts := 0
	for _, e := range c.stored() {
		if b, ok := e.Body.(*conversation.ToolStarted); ok && b.For == seq {
			starts++
		}
	}
	questions := 0
	for _, q := range call.Inquiries {
		if q.Request.Kind == conversation.KindToolQuestion {
			questions++
			newest = nil
			if q.Event.Seq < call.Started.Seq {
				newest = call.Started
			}
		}
	}
	switch {
	case call.Response != nil:
		c.problems = append(c.problems, fmt.Sprintf("call %d runs although its response is durable", seq))
	case yes == nil || yes.Response == nil || yes.Response.Choice() != "run":
		c.problems = append(c.problems, fmt.Sprintf("call %d runs without a yes", seq))
	case newest == nil || starts != questions+1:
		c.problems = append(c.problems, fmt.Sprintf("call %d runs with %d starts and %d questions", seq, starts, questions))
	}
}

// crashAt lets the n-th append from now on end the process.
func (c *crashRig) crashAt(n int, how crash) context.Context {
	ctx, cancel := context.WithCancelCause(c.t.Context())
	n += c.journal.count
	c.crashed = 0
	c.journal.fault = func(count int) error {
		if how == refuses && count == n || how != refuses && count > n {
			if c.crashed == 0 {
				c.crashed = c.trace.len()
			}
			return errDisk
		}
		return nil
	}
	c.journal.after = func(count int) {
		if count == n && how != refuses {
			c.crashed = c.trace.len()
			cancel(errDisk)
		}
	}
	c.journal.lies = func(count int) error {
		if count == n && how == silent {
			return errDisk
		}
		return nil
	}
	return ctx
}

// heal repairs the journal, and judges the events since the crash.
func (c *crashRig) heal() {
	c.journal.fault, c.journal.after, c.journal.lies = nil, nil, nil
	if c.crashed == 0 {
		return
	}
	beside := []string{"run read", "run update_state"} // they only read, and may have been begun together with another
	for _, line := range c.trace.lines[c.crashed:] {
		if strings.HasPrefix(line, "model") || strings.HasPrefix(line, "ask") || strings.HasPrefix(line, "hook tool") || strings.HasPrefix(line, "run") && !slices.Contains(beside, line) {
			c.problems = append(c.problems, line+" after the crash")
		}
	}
	c.crashed = 0
}

// unknown are the changing calls that are on record as started, and have no response.
func (c *crashRig) unknown() map[int]bool {
	calls := map[int]bool{}
	for _, e := range c.stored() {
		switch b := e.Body.(type) {
		case *conversation.ToolStarted:
			calls[b.For] = true
		case *conversation.ToolCallResponse:
			delete(calls, b.For)
		case *conversation.InquiryRequest:
			delete(calls, b.For)
		}
	}
	return calls
}

// finish resumes until the turn is at its end.
func (c *crashRig) finish() {
	unknown := c.unknown()
	c.reload()
	o, err := New(c.opts).Run(c.t.Context())
	if c.opts.Conversation.Stream.Len() == 0 {
		o, err = New(c.opts).Start(c.t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
	}
	for noCall(err) { // the model may say the same at every resume
		c.reload()
		o, err = New(c.opts).Run(c.t.Context())
	}
	require.NoError(c.t, err)
	if o.Failing == nil {
		require.Contains(c.t, []Status{Complete, Length}, o.Status)
	}
	c.check()
	require.Empty(c.t, c.problems)
	reported := map[int]bool{}
	for _, e := range c.stored() {
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok && strings.Contains(b.Content, "unknown") {
			reported[b.For] = true
		}
	}
	for seq := range unknown {
		require.True(c.t, reported[seq], "the outcome of call %d is unknown, and the model is told so", seq)
	}
	require.Equal(c.t, conversation.TypeTurnDone, c.opts.Conversation.Stream.Last().Type())
}

func noCall(err error) bool {
	var failed *provider.Error
	return errors.As(err, &failed) && failed.Class == provider.ClassNoCall
}

// longTurn is a turn with everything in it.
func longTurn() []reply {
	return []reply{
		once(thinks("hm"), hasContent("I look"), calls("read", "_1", "{}"), calls("read", "_2", "{}"), calls("write", "_3", "{}"),
			calls("none", "_4", "{}"), calls("quest", "_5", "{}"), ends(conversation.FinishToolCalls)),
		once(calls("held", "_6", "{}"), calls("boss", "_7", "{}"), calls("free", "_8", "{}"), ends(conversation.FinishToolCalls)),
		once(ends(conversation.FinishStop)),
		answers("Done."),
	}
}

func TestACrashAtEveryAppend(t *testing.T) {
	whole := newCrashRig(t, longTurn()...)
	whole.done()
	require.Empty(t, whole.problems)
	require.Greater(t, whole.journal.count, 25)
	for _, how := range []crash{refuses, dies, silent} {
		for n := 1; n <= whole.journal.count; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				c := newCrashRig(t, longTurn()...)
				_, err := New(c.opts).Start(c.crashAt(n, how), Request{Chat: conversation.ChatRequest{Content: "do it"}})
				if how != dies || n < whole.journal.count {
					require.ErrorIs(t, err, errDisk)
				}
				if how != silent {
					require.Equal(t, typesOf(c.stored()), typesOf(c.opts.Conversation.Stream.Events()), "memory is what the journal has")
				}
				var failed *JournalError
				if how == refuses {
					require.ErrorAs(t, err, &failed)
				}
				c.heal()
				c.finish()
			})
		}
	}
}

func TestARefusedAppendNamesItsEvent(t *testing.T) {
	c := newCrashRig(t, longTurn()...)
	_, err := New(c.opts).Start(c.crashAt(2, refuses), Request{Chat: conversation.ChatRequest{Content: "do it"}})
	require.EqualError(t, err, "event 3 was not recorded: no space left")
	require.Equal(t, 2, c.journal.count, "nothing more is asked of a journal that failed")
}

func TestAResultIsKeptAlthoughOneBesideItIsLost(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read"), reads("other")}, asksFor("read", "other"), answers("ok"))
	refused := false
	r.journal.fault = func(int) error {
		if r.trace.count("run read")+r.trace.count("run other") > 0 && !refused {
			refused = true
			return errDisk
		}
		return nil
	}
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, 1, strings.Count(r.turn(), "tool_call_response"))
	r.journal.fault = nil
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
}

func TestAnyTurnSurvivesAnyCrashes(t *testing.T) {
	names := []string{"read", "read", "write", "free", "quest", "held", "boss", "none"}
	rapid.Check(t, func(rt *rapid.T) {
		var replies []reply
		for range rapid.IntRange(1, 3).Draw(rt, "replies") {
			replies = append(replies, randomReply(rt, names))
		}
		replies = append(replies, answers("Done."), answers("Done."), answers("Done."))
		c := newCrashRig(rt, replies...)
		for i := range rapid.IntRange(1, 3).Draw(rt, "crashes") {
			ctx := c.crashAt(rapid.IntRange(1, 15).Draw(rt, "at"), crash(rapid.IntRange(0, 2).Draw(rt, "how")))
			c.reload()
			if i == 0 || c.opts.Conversation.Stream.Len() == 0 {
				_, _ = New(c.opts).Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
			} else {
				_, _ = New(c.opts).Run(ctx)
			}
			c.heal()
		}
		c.finish()
	})
}

func randomReply(rt *rapid.T, names []string) reply {
	var parts []any
	if rapid.Bool().Draw(rt, "thinks") {
		parts = append(parts, thinks("hm"))
	}
	if rapid.Bool().Draw(rt, "says") {
		parts = append(parts, hasContent("words"))
	}
	for i, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(rt, "calls") {
		parts = append(parts, calls(name, fmt.Sprint("_", i), "{}"))
	}
	finishes := []conversation.Finish{
		conversation.FinishToolCalls, conversation.FinishToolCalls, conversation.FinishStop, conversation.FinishLength,
	}
	return once(slices.Concat(parts, []any{ends(rapid.SampledFrom(finishes).Draw(rt, "finish"))})...)
}
