package turnloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func TestPermissions(t *testing.T) {
	no := quoted("skip")
	no.Reason = "use a deadline"
	edit := quoted("edit")
	edit.Arguments = []byte(`{"path":"b.go"}`)
	wrong := quoted("edit")
	wrong.Arguments = []byte(`{"path":5}`)
	cases := []struct {
		name   string
		answer Answer
		runs   int // of the two calls
		asked  int
		result string // of the first
	}{
		{"yes", quoted("run"), 2, 2, "write was here"},
		{"yes for the turn", quoted("run_turn"), 2, 1, "write was here"},
		{"no", quoted("skip"), 0, 2, "The tool was not run: the user declined."},
		{"no, with a reason", no, 0, 2, "The tool was not run: the user declined. Reason: use a deadline"},
		{"declined", Answer{Outcome: conversation.OutcomeDeclined}, 0, 2, "The tool was not run: the user declined."},
		{"a word that is no yes", quoted("true"), 0, 2, "The tool was not run: the user declined."},
		{"nothing at all", Answer{}, 0, 2, "The tool was not run: the user declined."},
		{"other arguments", edit, 2, 2, "write was here"},
		{"other arguments, which are wrong", wrong, 0, 2, `The tool was not run: argument "path"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			write := changes("write").asking()
			r := newRig(t, []*fakeTool{write}, asksFor("write", "write"), answers("ok"))
			p := r.answering(c.answer)
			r.done()
			require.Len(t, write.runs, c.runs)
			require.Len(t, p.asked, c.asked)
			require.Contains(t, r.results()[0].Content, c.result)
			require.Equal(t, c.runs == 0, r.results()[0].IsError)
			for i, q := range p.asked {
				require.Equal(t, []int{i + 1, 2}, []int{q.Position, q.Batch})
				require.Equal(t, "write", q.Tool.Name)
			}
		})
	}
}

// With one command a person may allow further ones of the same answer that are listed with it.
func TestOneYesToListedCommands(t *testing.T) {
	shell := func(tag, arguments string) []provider.Chunk { return calls("shell", tag, arguments) }
	for _, c := range []struct {
		name   string
		second string // arguments of the second of three calls
		answer string // to the first question; to later ones it is skip
		also   bool
		listed int // with the first question
		asked  int
		runs   int
	}{
		{"all", `{"argv":["b"]}`, "run", true, 2, 1, 3},
		{"one", `{"argv":["b"]}`, "run", false, 2, 3, 1},
		{"no", `{"argv":["b"]}`, "skip", true, 2, 3, 0},
		{"one that says more than its words", `{"argv":["b"],"path":"x"}`, "run", true, 1, 2, 2},
		{"one that a rule allows", `{"argv":["free"]}`, "run", true, 1, 1, 3},
		{"one whose arguments are wrong", `{"argv":"b"}`, "run", true, 1, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := changes("shell").asking()
			tool.def.Argv = true
			r := newRig(t, []*fakeTool{tool}, once(shell("_1", `{"argv":["a"]}`), shell("_2", c.second), shell("_3", `{"argv":["c"]}`), ends(conversation.FinishToolCalls)), answers("ok"))
			r.opts.User.Grant = func() Grant { return Grant{{"free"}} }
			var listed []int
			r.prompting(func(_ context.Context, q Question) (Answer, error) {
				listed = append(listed, len(q.Also))
				if len(listed) > 1 {
					return quoted("skip"), nil
				}
				answer := quoted(c.answer)
				if c.also {
					answer.Also = q.Also
				}
				return answer, nil
			})
			r.done()
			require.Len(t, listed, c.asked)
			require.Equal(t, c.listed, listed[0])
			require.Len(t, tool.runs, c.runs)
			if c.asked == 1 && c.listed == 2 {
				last := last[*conversation.InquiryResponse](r)
				require.Equal(t, conversation.ByUser, last.By)
				require.Equal(t, "together with an earlier call", last.Reason)
			}
		})
	}
}

// A person is not asked about a call that fails with any answer. jp does not foresee the changes of a call
// before it. A call that needs no answer fails when it runs.
func TestACallThatWouldFailIsNotAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		before string // a call in the same answer, before it
		policy Policy
		nobody bool
		asked  int
		runs   int
		result string
	}{
		{name: "alone", result: "The tool was not run: a is not there"},
		{name: "behind one that reads", before: "look", result: "The tool was not run: a is not there"},
		{name: "behind one that changes", before: "change", asked: 1, runs: 1, result: "write was here"},
		{name: "a policy allows it", nobody: true, policy: PolicyAuto, runs: 1, result: "write was here"},
		{name: "a policy refuses it", nobody: true, policy: PolicyDeny, result: "The tool was not run: it needs a permission, and no user is there to give it. Reason: policy deny"},
		{name: "a question would wait", nobody: true, policy: PolicyDefer, result: "The tool was not run: a is not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write := changes("write").asking()
			write.def.Fault = func(arguments json.RawMessage) error { return errors.New("a is not there") }
			names := []string{"write"}
			if c.before != "" {
				names = []string{c.before, "write"}
			}
			r := newRig(t, []*fakeTool{write, reads("look"), changes("change")}, asksFor(names...), answers("ok"))
			r.opts.User.Policy = c.policy
			asked := 0
			if !c.nobody {
				r.prompting(func(context.Context, Question) (Answer, error) { asked++; return quoted("run"), nil })
			}
			r.done()
			require.Equal(t, c.asked, asked)
			require.Len(t, write.runs, c.runs)
			results := r.results()
			require.Equal(t, c.result, results[len(results)-1].Content)
			require.Equal(t, c.runs == 0, results[len(results)-1].IsError)
		})
	}
}

func TestEditedArgumentsAreRecordedRunAndTold(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, once(calls("write", "_1", `{"path":"a.go"}`), ends(conversation.FinishToolCalls)), answers("ok"))
	edit := quoted("edit")
	edit.Arguments = []byte(`{"path":"b.go"}`)
	r.answering(edit)
	r.done()
	require.JSONEq(t, `{"path":"b.go"}`, string(write.runs[0].Arguments))
	require.JSONEq(t, `{"path":"b.go"}`, string(last[*conversation.ToolStarted](r).Arguments))
	require.JSONEq(t, `{"path":"a.go"}`, string(last[*conversation.ToolCallRequest](r).Arguments), "what the model asked for stays")
	require.Contains(t, r.model.sent(), `The user changed the arguments to {"path":"b.go"}.`)
}

func TestPermissionsWithoutAnybody(t *testing.T) {
	const failed = "The tool was not run: it needs a permission, and no user is there to give it. Reason: policy "
	cases := []struct {
		policy    Policy
		exclusive bool
		status    Status
		runs      int
		result    string
	}{
		{PolicyAuto, false, Complete, 1, "write was here"},
		{PolicyAuto, true, Complete, 0, failed + "auto"},
		{PolicyDefaults, false, Complete, 0, failed + "defaults"},
		{PolicyDeny, false, Complete, 0, failed + "deny"},
		{PolicyQueue, false, Waiting, 0, ""},
		{PolicyDefer, false, Waiting, 0, ""},
		{"", true, Waiting, 0, ""},
	}
	for _, hangsUp := range []bool{false, true} {
		for _, c := range cases {
			t.Run(string(c.policy), func(t *testing.T) {
				write := changes("write").asking()
				write.def.Exclusive = c.exclusive
				r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
				r.opts.User.Policy = c.policy
				if hangsUp {
					r.prompting(func(context.Context, Question) (Answer, error) { return Answer{}, ErrNoAnswer })
				}
				o, err := r.start(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.status, o.Status)
				require.Len(t, write.runs, c.runs)
				if c.status == Waiting {
					require.Equal(t, "chat_request tool_call_request inquiry_request", r.turn(), "neither a yes nor a no")
					require.Equal(t, conversation.KindRunTool, o.Waiting.Request.Kind)
					require.Equal(t, conversation.StatusInput, r.opts.Conversation.Stream.Tail().Status())
					return
				}
				require.Equal(t, c.result, r.result().Content)
			})
		}
	}
}

func TestAQuestionWaitsForSomebody(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		gone   bool // there is somebody at first, who goes
		comes  bool // and somebody comes later
		trace  string
		status Status
	}{
		"in vain":              {PolicyQueue, false, false, "await run_tool", Waiting},
		"with success":         {PolicyQueue, false, true, "await run_tool", Complete},
		"after somebody went":  {PolicyQueue, true, true, "ask run_tool await run_tool", Complete},
		"not under defer":      {PolicyDefer, true, true, "ask run_tool", Waiting},
		"not under deny":       {PolicyDeny, false, true, "", Complete},
		"not where auto does":  {PolicyAuto, false, true, "", Complete},
		"gone, and auto is on": {PolicyAuto, true, true, "ask run_tool", Complete},
	} {
		t.Run(name, func(t *testing.T) {
			write := changes("write").asking()
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.User.Policy = c.policy
			p := r.prompting(func(context.Context, Question) (Answer, error) { return Answer{}, ErrNoAnswer })
			p.absent = !c.gone
			if c.comes {
				p.later = func(context.Context, Question) (Answer, error) { return quoted("run"), nil }
			}
			require.Equal(t, c.status, r.done().Status)
			require.Equal(t, c.trace, strings.Join(r.trace.only("ask ", "await "), " "))
			if c.status == Complete && c.policy != PolicyDeny {
				require.Len(t, write.runs, 1)
			} else {
				require.Empty(t, write.runs)
			}
		})
	}
}

// TestAnswerWithoutGoingOn records an answer for a process that comes later.
func TestAnswerWithoutGoingOn(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	require.Equal(t, Waiting, r.done().Status)
	r.reload()
	loop := New(r.opts)
	require.NoError(t, loop.Answer(t.Context(), r.opts.Conversation.Stream.Tail().Live()[0], quoted("run")))
	require.Equal(t, "chat_request tool_call_request inquiry_request inquiry_response", r.turn())
	require.Empty(t, write.runs)
	r.opts.Conversation.Head = loop.Head()
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, write.runs, 1)
}

func TestAQuestionThatWaitedIsAskedAgain(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	o := r.done()
	require.Equal(t, Waiting, o.Status)
	p := r.answering(quoted("run"))
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Len(t, p.asked, 1)
	require.Len(t, write.runs, 1)
	require.Equal(t, 1, strings.Count(r.turn(), "inquiry_request"), "it is on record once")
}

func TestAQuestionOfAToolThatIsGoneIsCancelled(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"), answers("ok"))
	require.Equal(t, Waiting, r.done().Status)
	none, err := tool.NewRegistry()
	require.NoError(t, err)
	r.opts.Tools.Registry = none
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Equal(t, conversation.OutcomeCancelled, last[*conversation.InquiryResponse](r).Outcome)
	require.Contains(t, r.result().Content, "There is no tool named")
}

// An answer that comes with the interrupt does not count.
func TestInterruptWhileAsking(t *testing.T) {
	for _, answered := range []bool{false, true} {
		write := changes("write").asking()
		r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
		ctx, interrupt := interrupting(t)
		r.prompting(func(ctx context.Context, _ Question) (Answer, error) {
			interrupt()
			<-ctx.Done()
			if answered {
				return quoted("run"), nil
			}
			return Answer{}, ctx.Err()
		})
		r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
		require.Equal(t, "chat_request tool_call_request inquiry_request turn_interrupted", r.turn())
		require.Empty(t, write.runs)
		r.answering(quoted("run"))
		_, err := r.resume(t.Context())
		require.NoError(t, err)
		require.Len(t, write.runs, 1)
	}
}

func TestAPrompterThatBreaksStopsTheTurn(t *testing.T) {
	write := changes("write").asking()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	broken := errors.New("the terminal is gone")
	r.prompting(func(context.Context, Question) (Answer, error) { return Answer{}, broken })
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, broken)
	require.Empty(t, write.runs)
}

func TestApprovedInAdvance(t *testing.T) {
	write, boss := changes("write").asking(), changes("boss").exclusive()
	r := newRig(t, []*fakeTool{write, boss}, asksFor("write", "write", "boss"), answers("ok"))
	p := r.answering(quoted("run"))
	_, err := r.request(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}, Approved: conversation.ApproveAll()})
	require.NoError(t, err)
	require.Len(t, write.runs, 2)
	require.Len(t, boss.runs, 1)
	require.Len(t, p.asked, 1, "only the exclusive one is asked for")
	require.Equal(t, "boss", p.asked[0].Tool.Name)
	require.True(t, p.asked[0].Inquiry.Request.Exclusive)
	require.Equal(t, 1, strings.Count(r.turn(), "inquiry_request"))
	r.requireOrder("run write", "run write", "append inquiry_request", "ask run_tool", "append tool_started", "run boss")
}

func TestAllowedByTheConfiguration(t *testing.T) {
	shell, off := changes("shell").asking(), changes("off")
	off.def.Run, shell.def.Argv = tool.Skip, true
	r := newRig(t, []*fakeTool{shell, off}, once(
		calls("shell", "_1", `{"argv":["go","test","./..."]}`), calls("shell", "_2", `{"argv":["go","testx"]}`), calls("off", "_3", `{}`),
		ends(conversation.FinishToolCalls)), answers("ok"))
	r.opts.User.Grant = func() Grant { return Grant{{"go", "test"}} }
	p := r.answering(quoted("skip"))
	r.done()
	require.Len(t, shell.runs, 1)
	require.Empty(t, off.runs)
	require.Len(t, p.asked, 1)
	require.Equal(t, "The tool was not run: it is not allowed. Reason: the tool is switched off", r.results()[2].Content)
	allowed := r.opts.Conversation.Stream.Tail().ToolCalls[0].Inquiry(conversation.KindRunTool).Response
	require.Equal(t, conversation.ByConfig, allowed.By)
	require.Equal(t, "allow rule: go test", allowed.Reason)
}

func TestTheSubjectIsShown(t *testing.T) {
	write := changes("write").asking()
	write.def.Subject = func(json.RawMessage) string { return " main.go " }
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	p := r.answering(quoted("run"))
	r.done()
	require.Equal(t, "main.go", p.asked[0].Subject)
	require.Equal(t, "Run write main.go?", p.asked[0].Inquiry.Request.Question.Text)
	require.Equal(t, "ask: run write main.go?", p.asked[0].Inquiry.Event.Subject)
}
