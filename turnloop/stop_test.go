package turnloop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/tool"
	. "jp/turnloop"
)

// interruptedRig has a turn of a killed process with one call that started, one that waits for its
// permission, one that never began, and one whose result waits for delivery.
func interruptedRig(t *testing.T) *rig {
	w := newWorkspace()
	write := changes("write")
	held := reads("held")
	held.def.Result = tool.Ask
	r := newRig(t, []*fakeTool{write, held, changes("boss").exclusive()}, asksFor("held", "write", "boss"), answers("ok"), answers("next"))
	write.doing(func(context.Context, tool.Call) (tool.Result, error) {
		w.files["half.go"] = "package"
		r.kill()
		return tool.Result{}, nil
	})
	r.opts.Files.Workspace = w
	r.opts.User.Policy = PolicyDefaults
	r.requireKilled()
	return r
}

func TestStop(t *testing.T) {
	r := interruptedRig(t)
	r.reload()
	o, err := New(r.opts).Stop(t.Context(), conversation.ByUser)
	require.NoError(t, err)
	require.Equal(t, Stopped, o.Status)
	require.Equal(t, conversation.ByUser, o.By)
	require.True(t, r.opts.Conversation.Stream.Tail().Complete())
	require.Equal(t, "append resumed tool_call_response tool_call_response turn_stopped", r.trace.lines[len(r.trace.lines)-4], "in one step")
	results := r.results()
	require.Equal(t, "Cancelled after it had started: check before repeating.", results[1].Content)
	require.Equal(t, "Not run: the user interrupted.", results[2].Content)
	require.True(t, results[1].Cancelled && results[2].Cancelled)

	events := len(r.stored())
	_, err = New(r.opts).Stop(t.Context(), conversation.ByUser)
	require.NoError(t, err)
	require.Len(t, r.stored(), events, "a complete turn stays as it is")
	r.reload()
	require.Equal(t, "ok", r.done().Message)
}

// Adoption closes everything open in someone else's turn, even if they allowed it.
func TestAdopt(t *testing.T) {
	r := interruptedRig(t)
	r.reload()
	require.NoError(t, r.opts.Conversation.Stream.Append(func(events []*conversation.Event) (err error) {
		r.opts.Conversation.Head, err = r.opts.Conversation.Journal.Append(t.Context(), r.opts.Conversation.ID, r.opts.Conversation.Head, events)
		return err
	}, &conversation.Event{Body: &conversation.ForkOrigin{Conversation: r.opts.Conversation.ID, Adopted: true}}))
	r.opts.Files.Workspace = nil
	loop := New(r.opts)
	require.NoError(t, loop.Adopt(t.Context()))
	r.reload()
	require.Empty(t, r.opts.Conversation.Stream.Tail().Open())
	require.Empty(t, r.opts.Conversation.Stream.Tail().Live())
	results := r.results()
	require.Equal(t, "The tool was not run: someone else's model asked for it. Ask again, if it is still wanted.", results[1].Content)
	require.Equal(t, results[1].Content, results[2].Content)
	require.Equal(t, "ok", r.done().Message)
}

func TestReply(t *testing.T) {
	r := interruptedRig(t)
	r.reload()
	loop := New(r.opts)
	o, err := loop.Reply(t.Context(), conversation.ChatRequest{Content: "Only read, please."})
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Equal(t, 1, o.Turn)
	require.Contains(t, r.model.sent(), "Only read, please.")
	require.True(t, last[*conversation.ChatRequest](r).Interrupt)
	require.NoError(t, validRequest(r.model.requests[1]))
	r.check()
}

func TestStopWithQuestions(t *testing.T) {
	held := reads("held")
	held.def.Result = tool.Ask
	for _, c := range []struct {
		tools []*fakeTool
		calls string
	}{{[]*fakeTool{changes("write").asking()}, "write"}, {[]*fakeTool{held}, "held"}} {
		r := newRig(t, c.tools, asksFor(c.calls), answers("ok"))
		require.Equal(t, Waiting, r.done().Status)
		_, err := New(r.opts).Stop(t.Context(), conversation.ByUser)
		require.NoError(t, err)
		require.Equal(t, conversation.OutcomeCancelled, last[*conversation.InquiryResponse](r).Outcome)
		require.True(t, r.opts.Conversation.Stream.Tail().Complete())
	}
}

func TestStopKeepsWhatTheModelHadSaid(t *testing.T) {
	ctx, interrupt := interrupting(t)
	r := newRig(t, nil, reply{steps(open(hasContent("Half an answer")), func(context.Context) { interrupt() }), answers("ok")[0]})
	_, err := r.start(ctx)
	require.Error(t, err)
	o, err := New(r.opts).Stop(t.Context(), conversation.ByUser)
	require.NoError(t, err)
	require.Equal(t, "Half an answer", o.Message)
	r.reload()
	r.done()
	require.Equal(t, "Half an answer", r.model.requests[1].Messages[1].Blocks[0].Text)
}

// importedRig has a conversation from another source than a loop.
func importedRig(t *testing.T, words string, tools []*fakeTool, replies ...reply) *rig {
	r := newRig(t, tools, replies...)
	_, err := r.journal.Create(t.Context(), testID, "", turnOf(words))
	require.NoError(t, err)
	r.reload()
	return r
}

func TestAHeldResultWhoseQuestionIsNotOnRecord(t *testing.T) {
	held := reads("read")
	held.def.Result = tool.Ask
	t.Run("is asked for", func(t *testing.T) {
		r := importedRig(t, "T Q 1read. H1", []*fakeTool{held}, answers("no"), answers("ok"))
		p := r.answering(quoted("deliver"))
		o, err := r.resume(t.Context())
		require.NoError(t, err)
		require.Equal(t, "ok", o.Message)
		require.Len(t, p.asked, 1)
		require.Empty(t, held.runs)
	})
	t.Run("is withheld by a stop", func(t *testing.T) {
		r := importedRig(t, "T Q 1read 2read. H1 H2", []*fakeTool{held})
		o, err := New(r.opts).Stop(t.Context(), conversation.ByUser)
		require.NoError(t, err)
		require.Equal(t, Stopped, o.Status)
		r.check()
	})
}

func TestADiscardedTurnGetsNoSum(t *testing.T) {
	r := importedRig(t, "T Q 1read. X", []*fakeTool{reads("read")})
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, conversation.TypeTurnDiscarded, r.opts.Conversation.Stream.Last().Type())
}

func TestDefaults(t *testing.T) {
	none, err := tool.NewRegistry()
	require.NoError(t, err)
	m := &model{trace: &trace{}, replies: []reply{{steps(open(hasContent("x")), failure("disconnect")), answers("ok")[0]}}}
	loop := New(Options{
		Conversation: ConversationOptions{
			Journal: journaltest.NewMemory(),
			ID:      testID,
			Stream:  conversation.NewStream(nil),
		},
		Model: ModelOptions{
			Provider: m,
			API:      "test",
			Name:     "test/model",
		},
		Tools: ToolOptions{
			Registry: none,
		},
		Clock: Clock{
			Random: func() float64 { return 1e-9 },
		},
	})
	o, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message, "with the default clock, after the default pause")
	require.NotEmpty(t, loop.Head())
}

func TestADefaultPauseEndsWithItsContext(t *testing.T) {
	none, err := tool.NewRegistry()
	require.NoError(t, err)
	ctx, interrupt := interrupting(t)
	m := &model{trace: &trace{}, replies: []reply{once(failure("disconnect"))}}
	o := &noticing{interrupt: interrupt}
	loop := New(Options{
		Conversation: ConversationOptions{
			Journal: journaltest.NewMemory(),
			ID:      testID,
			Stream:  conversation.NewStream(nil),
		},
		Model: ModelOptions{
			Provider: m,
			API:      "test",
			Name:     "test/model",
		},
		Tools: ToolOptions{
			Registry: none,
		},
		Clock: Clock{
			Random: func() float64 { return 1 },
		},
		Observer: o,
	})
	_, err = loop.Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
	require.EqualError(t, err, "interrupted by SIGINT")
}

// noticing interrupts the loop when it says that it waits.
type noticing struct{ interrupt func() }

func (*noticing) Recorded([]*conversation.Event) {}
func (*noticing) Streamed(Delta)                 {}
func (n *noticing) Noticed(string)               { n.interrupt() }
func (*noticing) Working(Activity)               {}
