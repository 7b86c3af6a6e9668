package turnloop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	. "jp/turnloop"
)

func failure(class provider.Class) error { return &provider.Error{Class: class, Message: "so it is"} }

// waits lets the loop wait in no time, and keeps the durations.
func (r *rig) waits() *[]time.Duration {
	var all []time.Duration
	r.opts.Clock.Wait = func(_ context.Context, d time.Duration) error {
		all = append(all, d)
		return nil
	}
	return &all
}

func TestRetries(t *testing.T) {
	gone := failure(provider.ClassDisconnect)
	stop := ends(conversation.FinishStop)
	cases := []struct {
		name    string
		tries   reply
		turn    string
		ordinal int // of the answer's model call
	}{
		{"nothing came", reply{steps(gone), steps(hasContent("ok"), stop)}, "chat_request chat_response", 2},
		{"nothing came, twice", reply{steps(gone), steps(gone), steps(hasContent("ok"), stop)}, "chat_request chat_response", 3},
		{"an open part", reply{steps(open(hasContent("Hal")), gone), steps(hasContent("ok"), stop)}, "chat_request chat_response", 2},
		{"a part that is not the last", reply{steps(thinks("hm"), hasContent("Half"), gone), steps(hasContent("ok"), stop)}, "chat_request chat_response chat_response", 2},
		{"an end without a finish", reply{steps(hasContent("Half")), steps(hasContent("ok"), stop)}, "chat_request chat_response", 2},
		{"a tool call that is not durable", reply{steps(calls("read", "_1", "{}"), gone), steps(hasContent("ok"), stop)}, "chat_request chat_response", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			read := reads("read")
			r := newRig(t, []*fakeTool{read}, c.tries)
			waits := r.waits()
			o := r.done()
			require.Equal(t, "ok", o.Message)
			require.Equal(t, c.turn, r.turn())
			require.Equal(t, c.ordinal, last[*conversation.ChatResponse](r).Call, "a try has a number of its own")
			require.Empty(t, read.runs)
			require.Len(t, *waits, len(c.tries)-1)
			require.Len(t, r.notices, len(c.tries)-1)
			for i, request := range r.model.requests {
				require.Equal(t, r.model.requests[0].Prefix(), request.Prefix(), "the same bytes are sent")
				require.Equal(t, i, request.Failed)
			}
		})
	}
}

// The calls of a cut-off batch that arrived run, and user and model learn that the answer was cut off.
func TestACallEndsAtADurableToolCall(t *testing.T) {
	gone := failure(provider.ClassDisconnect)
	for name, parts := range map[string][]any{
		"in a text behind the calls": {calls("read", "_1", "{}"), calls("read", "_2", "{}"), open(hasContent("And th")), gone},
		"in a third call":            {calls("read", "_1", "{}"), calls("read", "_2", "{}"), open(calls("read", "_3", `{"pa`)), gone},
		"an end without a finish":    {calls("read", "_1", "{}"), calls("read", "_2", "{}"), open(hasContent("And th"))},
	} {
		t.Run(name, func(t *testing.T) {
			read := reads("read")
			r := newRig(t, []*fakeTool{read}, once(parts...), answers("ok"))
			r.done()
			require.Len(t, r.model.requests, 2, "no retry")
			require.Len(t, read.runs, 2)
			require.Equal(t, "chat_request tool_call_request tool_call_request tool_call_response tool_call_response note chat_response", r.turn())
			require.Empty(t, last[*conversation.ToolCallRequest](r).Finish)
			require.Equal(t, conversation.TextCutOff, last[*conversation.Note](r).Content)
			require.Contains(t, r.model.sent(), conversation.TextCutOff)
			require.Len(t, r.notices, 1)
			require.Contains(t, r.notices[0], "the answer was cut off while it asked for tools")
		})
	}
}

// The model is told once of an answer that was cut off, however often it is asked.
func TestACutOffIsToldOnce(t *testing.T) {
	failed := steps(failure(provider.ClassOverloaded))
	read := reads("read")
	r := newRig(t, []*fakeTool{read}, once(calls("read", "_1", "{}"), open(hasContent("And")), failure(provider.ClassDisconnect)),
		reply{failed, steps(hasContent("ok"), ends(conversation.FinishStop))}, asksFor("read"), answers("fine"))
	r.opts.Model.Retry.Tries = 1
	_, err := r.start(t.Context())
	require.Error(t, err)
	_, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(r.turn(), "note"))
	require.Equal(t, r.model.requests[1].Prefix(), r.model.requests[2].Prefix(), "the same bytes are sent")
	r.done()
	require.NotContains(t, r.turn(), "note", "a whole answer is not cut off")
}

func TestTheProviderSaysHowLongToWait(t *testing.T) {
	later := &provider.Error{Class: provider.ClassRateLimit, RetryAfter: 7 * time.Second}
	r := newRig(t, nil, reply{steps(later), steps(hasContent("ok"), ends(conversation.FinishStop))})
	waits := r.waits()
	r.done()
	require.Equal(t, []time.Duration{7 * time.Second}, *waits)
}

func TestErrorsThatDoNotPass(t *testing.T) {
	for _, class := range []provider.Class{provider.ClassContext, provider.ClassAuth, provider.ClassQuota, provider.ClassInvalid} {
		r := newRig(t, nil, once(failure(class)))
		waits := r.waits()
		o, err := r.start(t.Context())
		var failed *ProviderError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 1, failed.Tries)
		var cause *provider.Error
		require.ErrorAs(t, err, &cause)
		require.Equal(t, class, cause.Class)
		require.Equal(t, Incomplete, o.Status)
		require.Empty(t, *waits)
		require.Len(t, r.model.requests, 1)
	}
}

func TestTheBudgetOfTriesEndsAndTheTurnIsResumed(t *testing.T) {
	gone := steps(open(hasContent("Hal")), failure(provider.ClassOverloaded))
	r := newRig(t, nil, reply{gone, gone, gone, gone, steps(hasContent("ok"), ends(conversation.FinishStop))})
	r.opts.Model.Retry.Tries = 3
	o, err := r.start(t.Context())
	var failed *ProviderError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 3, failed.Tries)
	require.Contains(t, err.Error(), "gave up after 3 tries")
	require.Equal(t, Incomplete, o.Status)
	require.Equal(t, "chat_request turn_interrupted", r.turn())
	require.Equal(t, conversation.TurnInterrupted{By: conversation.ByError, Phase: conversation.PhaseStreaming, Tries: 3, Reason: "overloaded: so it is; gave up after 3 tries"}, *last[*conversation.TurnInterrupted](r))

	o, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Equal(t, Complete, o.Status)
	require.Equal(t, "chat_request turn_interrupted chat_response", r.turn())
	for _, request := range r.model.requests {
		require.Equal(t, r.model.requests[0].Prefix(), request.Prefix())
	}
}

func TestInterruptWhileWaitingForARetry(t *testing.T) {
	r := newRig(t, nil, reply{steps(failure(provider.ClassOverloaded)), steps(hasContent("ok"), ends(conversation.FinishStop))})
	ctx, interrupt := context.WithCancelCause(t.Context())
	r.opts.Clock.Wait = func(ctx context.Context, _ time.Duration) error {
		interrupt(&Interrupt{Signal: "SIGTERM"})
		return ctx.Err()
	}
	r.requireInterrupted(ctx, "SIGTERM", conversation.BySignal, conversation.PhaseStreaming)
	require.Equal(t, "chat_request turn_interrupted", r.turn())
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
}

// requireInterrupted starts a turn that a signal ends.
func (r *rig) requireInterrupted(ctx context.Context, signal string, by conversation.Cause, phase conversation.Phase) {
	r.t.Helper()
	o, err := r.start(ctx)
	require.Error(r.t, err)
	require.Equal(r.t, Incomplete, o.Status)
	record := last[*conversation.TurnInterrupted](r)
	require.NotNil(r.t, record)
	require.Equal(r.t, signal, record.Signal)
	require.Equal(r.t, by, record.By)
	require.Equal(r.t, phase, record.Phase)
}

// interrupting is a context, and a function that ends it like Ctrl+C.
func interrupting(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, func() { cancel(&Interrupt{Signal: "SIGINT"}) }
}

func TestInterruptWhileStreaming(t *testing.T) {
	cases := []struct {
		name  string
		parts []any
		turn  string
		sent  int // tools that run on the resume
	}{
		{"before the first word", nil, "chat_request turn_interrupted", 0},
		{"in the text", []any{thinks("hm"), open(hasContent("Half a"))}, "chat_request chat_response chat_response turn_interrupted", 0},
		{"in the reasoning", []any{open(thinks("h"))}, "chat_request chat_response turn_interrupted", 0},
		{"behind a part", []any{hasContent("All of it")}, "chat_request chat_response turn_interrupted", 0},
		{"in a tool call", []any{hasContent("I look"), open(calls("read", "_1", `{"pa`))}, "chat_request chat_response turn_interrupted", 0},
		{"behind a tool call", []any{calls("read", "_1", `{}`)}, "chat_request tool_call_request turn_interrupted", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, interrupt := interrupting(t)
			read := reads("read")
			r := newRig(t, []*fakeTool{read}, reply{
				steps(append(c.parts, func(context.Context) { interrupt() })...), steps(hasContent("ok"), ends(conversation.FinishStop)),
			}, answers("ok"))
			phase := conversation.PhaseStreaming
			if c.sent > 0 {
				phase = conversation.PhaseExecuting
			}
			r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, phase)
			require.Equal(t, c.turn, r.turn())
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.ChatResponse); ok {
					require.Empty(t, b.Finish)
					require.Equal(t, b.Text == "Half a" || b.Text == "h", b.Partial)
				}
			}
			require.Empty(t, read.runs)

			o, err := r.resume(t.Context())
			require.NoError(t, err)
			require.Equal(t, "ok", o.Message)
			require.Len(t, read.runs, c.sent)
			require.NotContains(t, r.model.sent(), "Half", "what was broken off is not sent")
		})
	}
}

func TestTheObserverHearsOfRetries(t *testing.T) {
	r := newRig(t, nil, reply{steps(failure(provider.ClassOverloaded)), steps(hasContent("ok"), ends(conversation.FinishStop))})
	r.opts.Model.Retry.Base = 4 * time.Second
	r.done()
	require.Equal(t, []string{"overloaded: so it is; trying again in 2 s"}, r.notices)
}

func TestAnUnknownErrorIsNotTriedAgain(t *testing.T) {
	r := newRig(t, nil, once(errors.New("odd")))
	_, err := r.start(t.Context())
	require.EqualError(t, err, "odd")
}
