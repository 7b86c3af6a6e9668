package turnloop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

func TestADelegateIsNamedBeforeItBegins(t *testing.T) {
	f := newFamily(t)
	o := f.done()
	require.Equal(t, Complete, o.Status)
	require.Equal(t, f.Child, last[*conversation.ToolStarted](f.rig).Child)
	require.NotEqual(t, testID, f.Child)
	f.requireOrder("append inquiry_request", "ask run_tool", "append tool_started", "run delegate",
		"append turn_start prompt chat_request", "append state tool_call_response", "run write", "append turn_done", "append tool_call_response")
	require.Equal(t, "The child is done.", f.results()[1].Content)
	require.Equal(t, conversation.Usage{Input: 5 * 10, Output: 5 * 2, CostUSD: "2.5"}, o.Usage, "the child's three calls are counted")
}

func TestANameThatCannotBeMadeLeavesTheTurn(t *testing.T) {
	mine := errors.New("no random")
	f := newFamily(t)
	f.opts.Conversation.NewID = func() (conversation.ID, error) { return "", mine }
	o, err := f.start(t.Context())
	require.ErrorIs(t, err, mine)
	require.Equal(t, Incomplete, o.Status)
	require.Zero(t, f.trace.count("run delegate"))
}

func TestADelegateHoldsNoFiles(t *testing.T) {
	f := newFamily(t)
	held := 0
	f.opts.Files.Hold = func(context.Context) (func(), error) {
		require.Zero(t, held)
		held++
		f.trace.add("held")
		return func() { held-- }, nil
	}
	f.done()
	require.Equal(t, 2, f.trace.count("held"), "by the child's two tools alone")
}

func TestADelegateIsAskedForAndCanBeDenied(t *testing.T) {
	f := newFamily(t)
	f.answering(quoted("skip"))
	require.Equal(t, Complete, f.done().Status)
	require.Zero(t, f.trace.count("run delegate"))
	require.True(t, f.results()[1].IsError)
	require.Nil(t, f.child(f.Child))
}

func TestADelegateThatWaitsLetsTheTurnWait(t *testing.T) {
	f := newFamily(t)
	f.opts.User.Prompter = nil
	f.delegate.def.Run = tool.Unattended
	o, err := f.start(t.Context())
	require.NoError(t, err)
	require.Equal(t, Waiting, o.Status)
	require.Equal(t, "ask", o.Waiting.Call.Request.Name)
	require.NotContains(t, f.turn(), "turn_interrupted")

	f.answering(quoted("run"))
	o, err = f.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Equal(t, "The child is done.", f.results()[1].Content)
	require.Equal(t, 2, last[*conversation.ToolStarted](f.rig).Attempt)
}

func TestAnErrorOfADelegateLeavesItsCallOpen(t *testing.T) {
	mine := errors.New("it is locked")
	f := newFamily(t)
	work := f.delegate.do
	f.delegate.doing(func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, mine })
	o, err := f.start(t.Context())
	require.ErrorIs(t, err, mine)
	require.Equal(t, Incomplete, o.Status)
	require.Equal(t, conversation.PhaseDelegating, last[*conversation.TurnInterrupted](f.rig).Phase)
	first := last[*conversation.ToolStarted](f.rig).Child

	f.delegate.doing(work)
	o, err = f.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Equal(t, first, f.Child, "the one on record")
}

func TestSteeringADelegate(t *testing.T) {
	gone := func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{Content: []byte("what it came to"), IsError: true}, nil
	}
	left := func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	tests := map[string]struct {
		do      func(context.Context, tool.Call) (tool.Result, error)
		command CommandKind
		content string
		status  Status
	}{
		"cancelled, with words":    {gone, CommandCancelTool, "what it came to", Complete},
		"cancelled, without":       {left, CommandCancelTool, "The tool could not be run to its end: the user cancelled it; what it did until then is not known", Complete},
		"the turn stopped":         {gone, CommandStop, "what it came to", Stopped},
		"the turn stopped at once": {left, CommandStop, "Cancelled after it had started: check before repeating.", Stopped},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{changes("delegate").resumes()}, asksFor("delegate"), answers("ok"))
			loop := New(r.opts)
			f, _ := r.opts.Tools.Registry.Lookup("delegate")
			f.(*fakeTool).doing(func(ctx context.Context, call tool.Call) (tool.Result, error) {
				require.True(t, loop.Interrupt(UserCommand{Kind: tt.command}))
				return tt.do(ctx, call)
			})
			o, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
			require.NoError(t, err)
			require.Equal(t, tt.status, o.Status)
			require.Equal(t, tt.content, r.result().Content)
			require.Equal(t, tt.command == CommandCancelTool || tt.content[0] == 'C', r.result().Cancelled)
		})
	}
}

func TestNoTimeEndsADelegate(t *testing.T) {
	timed := false
	f := changes("delegate").resumes().doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		_, timed = ctx.Deadline()
		return tool.Result{}, nil
	})
	r := newRig(t, []*fakeTool{f}, asksFor("delegate"), answers("ok"))
	r.opts.Limits.ToolTimeout = time.Nanosecond
	r.done()
	require.False(t, timed)
}

func TestADelegateIsChargedWithTheFilesThatItNames(t *testing.T) {
	for name, wrote := range map[string][]string{"its own, not the user's": {"a.go"}, "none": {}, "not known": nil} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			f := changes("delegate").resumes().doing(func(context.Context, tool.Call) (tool.Result, error) {
				w.files["a.go"], w.files["b.go"] = "the child's", "the user's"
				return tool.Result{WrittenFiles: wrote}, nil
			})
			r := newRig(t, []*fakeTool{f}, asksFor("delegate"), answers("ok"))
			r.opts.Files.Workspace = w
			r.done()
			after := w.looks[len(w.looks)-2]
			require.Equal(t, wrote, after.Only, "only what it names is looked at")
			require.NotNil(t, after.Since, "when it began tells which files are its own")
		})
	}
}
