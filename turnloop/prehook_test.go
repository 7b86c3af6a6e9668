package turnloop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	. "jp/turnloop"
)

func hookedView(text string) View {
	v := viewOf(turnOf(text))
	v.Hooked = true
	return v
}

func TestNextWithAHookBeforeTools(t *testing.T) {
	const denied = "refuse 1: The tool was not run: a hook of the user denied it."
	cases := []struct{ name, history, want string }{
		{"a call that reads", "T Q 1read.", "hook 1"},
		{"a call that changes", "T Q 1write.", "hook 1"},
		{"approved in advance", "T* Q 1write.", "hook 1"},
		{"each call of a batch, before any runs", "T Q 1read 2read. K1 k1=pass", "hook 2"},
		{"before any permission", "T Q 1write 2write. K1 k1=pass", "hook 2"},
		{"then they run side by side", "T Q 1read 2read. K1 k1=pass K2 k2=pass", "run 1 2"},
		{"no objection is no yes", "T Q 1write. K1 k1=pass", "permit 1"},
		{"nor are other arguments", "T Q 1write. K1 k1=edit+", "permit 1"},
		{"a permission behind it", "T Q 1write. K1 k1=pass P1 p1=run", "run 1"},
		{"one behind other arguments", "T Q 1write. K1 k1=edit+ P1 p1=run", "run 1"},
		{"a no behind it", "T Q 1write. K1 k1=pass P1 p1=skip", "refuse 1: The tool was not run: the user declined."},
		{"a permission before it is void", "T Q 1write. P1 p1=run K1 k1=edit+", "permit 1"},
		{"one that waits", "T Q 1write. P1", "hook 1"},
		{"one that was given before there was a hook", "T Q 1write. P1 p1=run", "hook 1"},
		{"denied", "T* Q 1write. K1 k1=skip", denied},
		{"denied, although it only reads", "T Q 1read. K1 k1=skip", denied},
		{"edited to nothing", "T* Q 1write. K1 k1=edit", denied},
		{"an answer that a hook does not give", "T* Q 1write. K1 k1=run", denied},
		{"failed", "T* Q 1write. K1 k1=failed", denied},
		{"cancelled", "T Q 1write. K1 k1=cancelled", "hook 1"},
		{"broken off in the middle", "T Q 1write. K1", "hook 1"},
		{"what is malformed", "T Q 1write.?", "refuse 1"},
		{"a tool that is not there", "T Q 1none.", "refuse 1"},
		{"someone else's", "T Q 1write. F", "refuse 1: The tool was not run: someone else's"},
		{"what has started", "T Q 1write. P1 p1=run B1", "unknown 1"},
		{"what has started and asks", "T Q 1write. P1 p1=run B1 I1 A1", "run 1"},
		{"an exclusive one that is first", "T Q 1boss 2write.", "hook 1"},
		{"an exclusive one just before it runs", "T Q 1write 2boss. K1 k1=pass P1 p1=run", "run 1"},
		{"and then it is seen", "T Q 1write 2boss. K1 k1=pass P1 p1=run B1 D1", "hook 2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := inWords(Next(hookedView(c.history)))
			require.True(t, strings.HasPrefix(got, c.want), got)
		})
	}
}

func TestNextKeepsToAHookThatIsNoMore(t *testing.T) {
	for history, want := range map[string]string{
		"T* Q 1write. K1 k1=skip":       "refuse 1: The tool was not run: a hook",
		"T* Q 1write. K1 k1=edit+":      "run 1",
		"T Q 1write. P1 p1=run K1":      "hook 1", // its question is cancelled
		"T Q 1write. P1 K1 k1=pass":     "ask 1",
		"T* Q 1write. K1 k1=cancelled":  "run 1",
		"T Q 1write. P1 p1=run K1 k1=x": "refuse 1: The tool was not run: a hook",
	} {
		got := inWords(Next(viewOf(turnOf(history))))
		require.True(t, strings.HasPrefix(got, want), "%s: %s", history, got)
	}
}

// With any record of a hook, a tool runs only behind a hook without objection and, if it needs one, behind a
// newer yes.
func TestNextOfEveryHistoryWithHooks(t *testing.T) {
	words := []string{"K1", "k1=pass", "k1=skip", "k1=edit+", "k1=failed", "P1", "p1=run", "p1=skip", "B1", "D1"}
	var walk func(history []string, left int)
	seen := map[Act]int{}
	walk = func(history []string, left int) {
		for _, start := range []string{"T Q 1write.", "T* Q 1write.", "T Q 1read."} {
			text := start + " " + strings.Join(history, " ")
			a := Next(hookedView(text))
			seen[a.Act]++
			if a.Act == ActRun {
				require.Empty(t, notAllowed(history, start == "T Q 1write."), text)
			}
		}
		if left == 0 {
			return
		}
		for _, w := range words {
			asks := map[byte]string{'k': "K1", 'p': "P1"}[w[0]]
			if asks == "" || strings.Contains(strings.Join(history, " "), asks) {
				walk(append(history[:len(history):len(history)], w), left-1)
			}
		}
	}
	walk(nil, 4)
	require.Positive(t, seen[ActRun])
	require.Positive(t, seen[ActHook])
}

// notAllowed is the reason why a call must not run behind these words, or "". A question keeps its first
// answer.
func notAllowed(history []string, needsYes bool) string {
	hook, yes, started := "", "", false
	for _, w := range history {
		question, answer, answered := strings.Cut(w, "=")
		switch {
		case question == "K1":
			hook, yes = "open", "" // a permission before it is void
		case question == "k1" && answered && hook == "open":
			hook = answer
		case question == "P1":
			yes = "open"
		case question == "p1" && yes == "open":
			yes = answer
		case w == "B1":
			started = true
		}
	}
	switch {
	case hook == "skip" || hook == "failed" || hook == "open" || hook == "" && !started:
		return fmt.Sprintf("the hook: %q", hook)
	case needsYes && yes != "run":
		return fmt.Sprintf("the permission: %q", yes)
	}
	return ""
}

func TestAHookDenies(t *testing.T) {
	for name, c := range map[string]struct {
		ruling HookDecision
		err    error
		reason string
	}{
		"by a word":                {HookDecision{Denied: true, Reason: "not on a Friday"}, nil, " Reason: not on a Friday"},
		"without a word":           {HookDecision{Denied: true}, nil, ""},
		"by failing":               {HookDecision{}, errors.New("exit status 3"), " Reason: hook failed: exit status 3"},
		"by wrong arguments":       {HookDecision{Arguments: []byte(`{"path":5}`)}, nil, ` Reason: the hook's arguments are wrong: argument "path"`},
		"by arguments without end": {HookDecision{Arguments: []byte(`{"path":"` + strings.Repeat("x", conversation.MaxEdited) + `"}`)}, nil, " Reason: the hook's arguments take more than 49152 bytes"},
		"by arguments of no kind":  {HookDecision{Arguments: []byte(`[]`)}, nil, " Reason: the hook's arguments are not a JSON object"},
	} {
		for _, f := range []*fakeTool{reads("tool"), changes("tool"), changes("tool").asking(), changes("tool").exclusive()} {
			t.Run(name, func(t *testing.T) {
				r := newRig(t, []*fakeTool{f}, asksFor("tool"), answers("ok"))
				p := r.answering(quoted("run"))
				r.ruling(PointToolPre, c.ruling, c.err)
				_, err := r.request(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}, Approved: conversation.ApproveAll()})
				require.NoError(t, err)
				require.Empty(t, f.runs)
				require.Empty(t, p.asked)
				require.True(t, r.result().IsError)
				require.True(t, strings.HasPrefix(r.result().Content, "The tool was not run: a hook of the user denied it."+c.reason), r.result().Content)
				require.Len(t, r.notices, 1)
				require.Contains(t, r.notices[0], "tool-pre hook: tool denied")
				require.Equal(t, conversation.AnswerSkip, r.hookOf(0).Choice())
			})
		}
	}
}

func TestWhatAHookChangedIsAskedRunAndTold(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, once(calls("write", "_1", `{"path":"a.go"}`), ends(conversation.FinishToolCalls)), answers("ok"))
	p := r.answering(quoted("run"))
	hooks := r.ruling(PointToolPre, changing("b.go"), nil)
	r.done()
	require.Len(t, hooks.told, 1)
	require.JSONEq(t, `{"path":"a.go"}`, string(hooks.told[0].Call.Arguments()), "it is told what the model asked for")
	require.JSONEq(t, `{"path":"b.go"}`, string(p.asked[0].Arguments))
	require.True(t, p.asked[0].Hooked)
	require.Equal(t, "Run write? A hook changed its arguments.", p.asked[0].Inquiry.Request.Question.Text)
	require.JSONEq(t, `{"path":"b.go"}`, string(write.runs[0].Arguments))
	require.JSONEq(t, `{"path":"b.go"}`, string(last[*conversation.ToolStarted](r).Arguments))
	require.JSONEq(t, `{"path":"a.go"}`, string(last[*conversation.ToolCallRequest](r).Arguments), "what the model asked for stays")
	require.Contains(t, r.model.sent(), `A hook of the user changed the arguments to {"path":"b.go"}.`)
	r.requireOrder("hook tool-pre write", "append inquiry_request inquiry_response", "append inquiry_request", "ask run_tool", "append tool_started", "run write")
}

func TestWhatAPersonMakesOfItCountsMore(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	edit := quoted("edit")
	edit.Arguments = []byte(`{"path":"c.go"}`)
	r.answering(edit)
	r.ruling(PointToolPre, changing("b.go"), nil)
	r.done()
	require.JSONEq(t, `{"path":"c.go"}`, string(write.runs[0].Arguments))
	require.Contains(t, r.model.sent(), `The user changed the arguments to {"path":"c.go"}.`)
}

func TestAllowRulesSeeWhatAHookChanged(t *testing.T) {
	for argv, asked := range map[string]int{`["go","test"]`: 0, `["rm","-rf"]`: 1} {
		shell := changes("shell").asking()
		shell.def.Argv = true
		r := newRig(t, []*fakeTool{shell}, once(calls("shell", "_1", `{"argv":["go","vet"]}`), ends(conversation.FinishToolCalls)), answers("ok"))
		r.opts.User.Grant = func() Grant { return Grant{{"go"}} }
		p := r.answering(quoted("skip"))
		r.ruling(PointToolPre, HookDecision{Arguments: []byte(`{"argv":` + argv + `}`)}, nil)
		r.done()
		require.Len(t, p.asked, asked, argv)
		require.Len(t, shell.runs, 1-asked)
	}
}

func TestHooksOfABatchComeOneAtATimeBeforeItRuns(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("one"), reads("two")}, asksFor("one", "two"), answers("ok"))
	r.ruling(PointToolPre, HookDecision{}, nil)
	r.done()
	require.Equal(t, []string{"hook tool-pre one", "hook tool-pre two"}, r.trace.only("hook"))
	r.requireOrder("hook tool-pre one", "append inquiry_request", "hook tool-pre two", "append inquiry_request", "run ")
}

func TestAResumeDoesNotAskAHookAgain(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	hooks := r.ruling(PointToolPre, changing("b.go"), nil)
	require.Equal(t, Waiting, r.done().Status)
	hooks.say[PointToolPre] = func(context.Context, HookEvent) (HookDecision, error) { return changing("other.go"), nil }
	r.answering(quoted("run"))
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Len(t, hooks.told, 1)
	require.JSONEq(t, `{"path":"b.go"}`, string(write.runs[0].Arguments))
}

func TestAHookThatComesWhileAPermissionWaits(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	require.Equal(t, Waiting, r.done().Status)
	p := r.answering(quoted("run"))
	r.ruling(PointToolPre, changing("b.go"), nil)
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, p.asked, 1)
	require.True(t, p.asked[0].Hooked, "the question that stood before is put anew")
	require.JSONEq(t, `{"path":"b.go"}`, string(write.runs[0].Arguments))
	require.Equal(t, conversation.OutcomeCancelled, r.opts.Conversation.Stream.Tail().ToolCalls[0].Inquiries[0].Response.Outcome)
}

// cutInAHook is a turn whose record ends between a hook's question and its answer, as a fork can leave it.
func cutInAHook(t *testing.T) (*rig, *fakeTool) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	r.journal.fault = func(count int) error {
		if count > 2 {
			return errDisk
		}
		return nil
	}
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, errDisk)
	r.journal.fault = nil
	r.reload()
	turn := r.opts.Conversation.Stream.CurrentTurn().AddInquiryRequest(conversation.InquiryRequest{
		For: r.opts.Conversation.Stream.Tail().ToolCalls[0].Event.Seq, Kind: conversation.KindHook, QuestionID: "tool-pre", Attempt: 1,
		Question: conversation.Question{Text: "?", AnswerType: conversation.AnswerType{Type: "select"}},
	})
	require.NoError(t, turn.Build(func(events []*conversation.Event) (err error) {
		r.opts.Conversation.Head, err = r.journal.Append(t.Context(), testID, r.opts.Conversation.Head, events)
		return err
	}))
	require.Equal(t, "chat_request tool_call_request inquiry_request", r.turn())
	return r, write
}

func TestAHookIsAskedAgainWhereTheRecordEndsInIt(t *testing.T) {
	r, write := cutInAHook(t)
	r.ruling(PointToolPre, changing("b.go"), nil)
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.JSONEq(t, `{"path":"b.go"}`, string(write.runs[0].Arguments))
	require.Equal(t, 2, strings.Count(r.turn(), "inquiry_request inquiry_response"), "the hook once, and the permission")
}

func TestAHookQuestionThatNobodyCanAnswerIsCancelled(t *testing.T) {
	r, write := cutInAHook(t)
	p := r.answering(quoted("run"))
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Len(t, write.runs, 1)
	require.Empty(t, p.asked, "it is not put to people")
	require.Nil(t, r.opts.Conversation.Stream.Tail().ToolCalls[0].Hook())
}

func TestAnInterruptedHookIsAskedAgain(t *testing.T) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	ctx, interrupt := interrupting(t)
	r.hooking(PointToolPre, func(ctx context.Context, _ HookEvent) (HookDecision, error) {
		interrupt()
		<-ctx.Done()
		return HookDecision{}, context.Cause(ctx)
	})
	r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
	require.Equal(t, "chat_request tool_call_request turn_interrupted", r.turn())
	r.ruling(PointToolPre, HookDecision{}, nil)
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, write.runs, 1)
}

func TestTheUserCanStopDuringAHook(t *testing.T) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"))
	var loop *Loop
	r.hooking(PointToolPre, func(ctx context.Context, _ HookEvent) (HookDecision, error) {
		doing, ok := loop.Doing()
		require.True(t, ok)
		require.Equal(t, string(PointToolPre), doing.Hook)
		require.True(t, loop.Interrupt(UserCommand{Kind: CommandStop}))
		<-ctx.Done()
		return HookDecision{}, context.Cause(ctx)
	})
	loop = New(r.opts)
	o, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
	require.NoError(t, err)
	require.Equal(t, Stopped, o.Status)
	require.Empty(t, write.runs)
}

func TestAHookSeesTheCallsOfADelegateItself(t *testing.T) {
	child := changes("delegate")
	child.def.Resumes = true
	r := newRig(t, []*fakeTool{child}, asksFor("delegate"), answers("ok"))
	r.ruling(PointToolPre, HookDecision{Denied: true}, nil)
	r.done()
	require.Empty(t, child.runs)
	require.Empty(t, r.opts.Conversation.Stream.Tail().ToolCalls[0].Child(), "no conversation was begun")
}
