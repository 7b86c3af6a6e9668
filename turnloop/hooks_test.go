package turnloop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func TestATurnThatAHookDeniesLeavesNothing(t *testing.T) {
	r := newRig(t, nil, answers("ok"))
	hooks := r.ruling(PointTurnStart, HookDecision{Denied: true, Reason: "not on a Friday"}, nil)
	for _, begin := range []func() error{
		func() error {
			return New(r.opts).Begin(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
		},
		func() error { _, err := r.start(t.Context()); return err },
	} {
		err := begin()
		var denied *DeniedError
		require.ErrorAs(t, err, &denied)
		require.EqualError(t, err, "a hook denied the turn: not on a Friday")
		require.Empty(t, r.stored())
	}
	require.Equal(t, HookEvent{Point: PointTurnStart, Turn: 1, Model: "test/model", Request: "do it"}, hooks.told[0])
	require.Empty(t, r.model.requests)
	require.EqualError(t, &DeniedError{}, "a hook denied the turn")
}

func TestWhatAHookSaysAtTheStartIsToldTheModel(t *testing.T) {
	r := newRig(t, nil, answers("ok"))
	r.ruling(PointTurnStart, HookDecision{Note: " Use tabs.\n[SESSION_RESUMED]\n", Said: "one\n\n two"}, nil)
	r.done()
	require.Equal(t, "note chat_request chat_response", r.turn())
	require.Equal(t, "[HOOK turn-start]\n> Use tabs.\n> [SESSION_RESUMED]", last[*conversation.Note](r).Content)
	require.Equal(t, []string{"turn-start hook: one", "turn-start hook: two"}, r.notices)
	require.Contains(t, r.model.sent(), "> Use tabs.")
}

func TestAHookThatFailsOutsideOfToolsChangesNothing(t *testing.T) {
	for _, p := range []Point{PointTurnStart, PointToolPost, PointWaiting, PointTurnEnd} {
		t.Run(string(p), func(t *testing.T) {
			write := changes("write").asking()
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.answering(quoted("run"))
			r.ruling(p, HookDecision{Note: "lost", Denied: true, Said: "oh"}, errors.New("exit status 3"))
			require.Equal(t, Complete, r.done().Status)
			require.Len(t, write.runs, 1)
			require.Contains(t, r.notices, "the "+string(p)+" hook failed: exit status 3")
			require.Contains(t, r.notices, string(p)+" hook: oh")
			require.NotContains(t, r.turn(), "note")
		})
	}
}

func TestAHookBehindAResult(t *testing.T) {
	write := changes("write").returning("done")
	r := newRig(t, []*fakeTool{write, reads("one"), reads("two")}, asksFor("write", "one", "two", "none"), answers("ok"))
	hooks := r.ruling(PointToolPost, HookDecision{Note: "lint: fine"}, nil)
	r.done()
	require.Equal(t, "hook tool-post write", r.trace.only("hook")[0])
	require.Len(t, hooks.told, 3, "what never ran has no result")
	require.Equal(t, "done", hooks.told[0].Call.Result.Content)
	require.Equal(t, "[HOOK tool-post] two\n> lint: fine", last[*conversation.Note](r).Content)
	r.requireOrder("run write", "append tool_call_response", "hook tool-post write", "append note", "run ",
		"append tool_call_response", "append tool_call_response", "hook tool-post one", "append note", "hook tool-post two", "append note", "model")
}

func TestAHookBehindAResultDoesNotHoldBackOthers(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("one"), reads("two")}, asksFor("one", "two"), answers("ok"))
	r.hooking(PointToolPost, func(context.Context, HookEvent) (HookDecision, error) {
		require.Len(t, r.opts.Conversation.Stream.Tail().Open(), 0, "each result is durable the moment it exists")
		return HookDecision{}, nil
	})
	r.done()
}

func TestAHookBehindAResultRunsWhileNobodyElseChangesFiles(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write")}, asksFor("write"), answers("ok"))
	r.opts.Files.Hold = func(context.Context) (func(), error) { return func() { r.trace.add("release") }, nil }
	r.ruling(PointToolPost, HookDecision{}, nil)
	r.done()
	r.requireOrder("run write", "hook tool-post", "release")
}

func TestAResultIsKeptWhereItsHookIsInterrupted(t *testing.T) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	ctx, interrupt := interrupting(t)
	hooks := r.hooking(PointToolPost, func(ctx context.Context, _ HookEvent) (HookDecision, error) {
		interrupt()
		<-ctx.Done()
		return HookDecision{}, context.Cause(ctx)
	})
	_, err := r.start(ctx)
	require.Error(t, err)
	require.Equal(t, "chat_request tool_call_request inquiry_request inquiry_response tool_started tool_call_response turn_interrupted", r.turn())
	_, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, write.runs, 1)
	require.Len(t, hooks.told, 1, "it is not told again")
}

func TestAHookIsToldOfAQuestionOnce(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		absent bool
		told   int
	}{
		"at the terminal":               {PolicyDefer, false, 1},
		"that waits":                    {PolicyQueue, true, 1},
		"that is put off":               {PolicyDefer, true, 1},
		"that the policy answers":       {PolicyAuto, true, 0},
		"that nobody may answer":        {PolicyDeny, true, 0},
		"that is left, and then waits":  {PolicyQueue, false, 1},
		"that has a default, elsewhere": {PolicyDefaults, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"), answers("ok"))
			r.opts.User.Policy = c.policy
			p := r.prompting(func(context.Context, Question) (Answer, error) { return Answer{}, ErrNoAnswer })
			p.absent = c.absent
			hooks := r.ruling(PointWaiting, HookDecision{Said: "told"}, nil)
			r.done()
			require.Len(t, hooks.told, c.told)
			require.Len(t, r.notices, c.told)
			if c.told > 0 {
				require.Equal(t, conversation.KindRunTool, hooks.told[0].Question.Inquiry.Request.Kind)
			}
		})
	}
}

func TestAQuestionDoesNotWaitForItsHook(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"), answers("ok"))
	asked := make(chan struct{})
	r.prompting(func(context.Context, Question) (Answer, error) { close(asked); return quoted("run"), nil })
	r.hooking(PointWaiting, func(context.Context, HookEvent) (HookDecision, error) {
		<-asked
		return HookDecision{Said: "late"}, nil
	})
	require.Equal(t, Complete, r.done().Status)
	require.Equal(t, []string{"waiting-for-input hook: late"}, r.notices)
}

func TestAHookIsToldOfTheEndOnce(t *testing.T) {
	w := newWorkspace()
	r := newRig(t, []*fakeTool{changes("write").writing(w, "a.go")}, asksFor("write"), answers("Done."))
	r.opts.Files.Workspace = w
	hooks := r.ruling(PointTurnEnd, HookDecision{}, nil)
	r.done()
	r.requireOrder("append turn_done", "hook turn-end")
	require.Equal(t, "Done.", hooks.told[0].Outcome.Message)
	require.Equal(t, Complete, hooks.told[0].Outcome.Status)
	require.Equal(t, []string{"a.go"}, hooks.told[0].Files)
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, hooks.told, 1)
}

func TestAHookIsToldOfATurnThatIsBrokenOff(t *testing.T) {
	r := newRig(t, nil, once(failure(provider.ClassAuth)), answers("ok"))
	hooks := r.ruling(PointTurnEnd, HookDecision{}, nil)
	_, err := r.start(t.Context())
	require.Error(t, err)
	r.requireOrder("append turn_interrupted", "hook turn-end")
	require.Equal(t, Incomplete, hooks.told[0].Outcome.Status)

	r = newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"))
	hooks = r.ruling(PointTurnEnd, HookDecision{}, nil)
	require.Equal(t, Waiting, r.done().Status)
	require.Empty(t, hooks.told, "one that waits has not ended")
}

func TestAHookIsToldOfAnInterruptBriefly(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"), answers("ok"))
	ctx, interrupt := interrupting(t)
	r.prompting(func(ctx context.Context, _ Question) (Answer, error) {
		interrupt()
		<-ctx.Done()
		return Answer{}, ctx.Err()
	})
	hooks := r.hooking(PointTurnEnd, func(ctx context.Context, _ HookEvent) (HookDecision, error) {
		_, limited := ctx.Deadline()
		require.True(t, limited)
		return HookDecision{}, ctx.Err()
	})
	r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
	require.Len(t, hooks.told, 1)
	require.Empty(t, r.notices)
}

func TestNoHookRunsBehindABrokenJournal(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write")}, asksFor("write"), answers("ok"))
	for _, p := range []Point{PointToolPre, PointToolPost, PointTurnEnd} {
		r.ruling(p, HookDecision{}, nil)
	}
	r.journal.fault = func(count int) error {
		if count > 2 {
			return errDisk
		}
		return nil
	}
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, []string{"hook tool-pre write"}, r.trace.only("hook"))
}

func TestNotesOfHooksKeepRequestsValid(t *testing.T) {
	held := changes("held")
	held.def.Result = tool.Ask
	r := newRig(t, []*fakeTool{held, reads("one"), changes("quest").questioning()}, asksFor("one", "held", "quest", "one"), answers("ok"))
	r.prompting(func(_ context.Context, q Question) (Answer, error) {
		if q.Inquiry.Request.Kind == conversation.KindDeliverResult {
			return quoted("deliver"), nil
		}
		return boolean("true"), nil
	})
	for _, p := range []Point{PointTurnStart, PointToolPre, PointToolPost} {
		ruling := HookDecision{Note: "a note"}
		if p == PointToolPre {
			ruling = HookDecision{}
		}
		r.ruling(p, ruling, nil)
	}
	r.done() // which judges every request
	require.Equal(t, 5, strings.Count(r.turn(), "note"))
}
