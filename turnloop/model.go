package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/conversation"
	"jp/provider"
)

// textContinue asks the model again after an empty answer to the results of its tools.
const textContinue = "Please continue."

// textEmpty asks the model again after an empty answer to a request.
const textEmpty = "Your answer was empty. Please answer."

const textNoCall = "You ended to call a tool, but no call arrived. Make the call again, or answer without it."

// A ProviderError reports that the model could not be asked. The turn can be resumed.
type ProviderError struct {
	Tries int
	Wait  time.Duration // the provider's wish, if it is longer than jp waits
	Err   error
}

// Error gives the cause, the number of tries and the time to wait.
func (e *ProviderError) Error() string {
	text := e.Err.Error()
	if e.Wait > 0 {
		text += "; it asks to wait " + conversation.Ago(e.Wait)
	}
	if e.Tries > 1 {
		text += fmt.Sprintf("; gave up after %d tries", e.Tries)
	}
	return text
}

// Unwrap gives the provider's error.
func (e *ProviderError) Unwrap() error { return e.Err }

// callModel asks the model, again after a temporary failure, and makes its output durable.
func (l *Loop) callModel(ctx context.Context) error {
	if endedCalls(l.stream.Tail()) >= l.opts.Limits.ModelCalls {
		return l.stop(ctx, conversation.ByLimit, ReasonModelCalls)
	}
	if failing := failing(l.stream.Tail()); failing != nil {
		return l.stop(ctx, conversation.ByLimit, failing.Error())
	}
	if l.opts.Limits.spent(l.stream) {
		return l.stop(ctx, conversation.ByBudget, ReasonTokens)
	}
	if again, call := repeating(l.stream.Tail(), l.opts.Limits.SameCalls); again != nil {
		again.Subject = subjectOf(l.opts.Tools.Registry, again.Tool, call.Arguments())
		if l.opts.User.GoOn == nil {
			return l.stop(ctx, conversation.ByLimit, again.Error())
		}
		l.hooks.flush()
		switch goOn, err := l.opts.User.GoOn(ctx, again); {
		case err != nil:
			return err
		case !goOn:
			return l.stop(ctx, conversation.ByUser, again.Error())
		}
		if err := l.build(ctx, l.stream.CurrentTurn().AddRecord(&conversation.Note{Content: conversation.TextRepeating})); err != nil {
			return err
		}
	}
	if err := l.tellCutOff(ctx); err != nil {
		return err
	}
	turn := ctx
	makeRoom := func(refused error) (bool, error) {
		return l.model.makeRoom(turn, refused, func(ctx context.Context) (context.Context, func()) {
			return l.interrupt.begin(ctx, Activity{Seq: l.stream.NextSeq(), Started: l.opts.Clock.Now(), Writing: writesSummary})
		}, func(bodies []conversation.Body) error {
			t := l.stream.CurrentTurn()
			for _, b := range bodies {
				t.AddRecord(b, l.substitute.author(l.opts.Model.Name)...)
			}
			return l.build(turn, t)
		})
	}
	if _, err := makeRoom(nil); err != nil {
		return err
	}
	if l.opts.Limits.spent(l.stream) { // by the summary
		return l.stop(ctx, conversation.ByBudget, ReasonTokens)
	}
	ctx, done := l.interrupt.begin(turn, Activity{Seq: l.stream.NextSeq(), Started: l.opts.Clock.Now()})
	defer func() { done() }()
	madeRoom := false
	for tries := 1; ; tries++ {
		err := l.tryCall(ctx)
		if err == nil {
			l.failed, l.substitute.failed = 0, 0
			return l.retryModel(ctx)
		}
		var journal *JournalError
		if ctx.Err() != nil || errors.As(err, &journal) {
			return err
		}
		if reason := overBudget(err); reason != "" {
			return l.stop(turn, conversation.ByBudget, reason)
		}
		if l.model.withoutState(err) {
			continue
		}
		if refusesLength(err) && !madeRoom {
			madeRoom = true
			done()
			made, roomErr := makeRoom(err)
			ctx, done = l.interrupt.begin(turn, Activity{Seq: l.stream.NextSeq(), Started: l.opts.Clock.Now()})
			if roomErr != nil {
				return roomErr
			}
			if made {
				continue
			}
		}
		if without, withholdErr := l.withoutImages(ctx, err); without || withholdErr != nil {
			if withholdErr != nil {
				return withholdErr
			}
			continue
		}
		delay, again := l.opts.Model.Retry.Delay(tries, err, l.opts.Clock.Random)
		if !again {
			done()
			instead, insteadErr := l.substitute.take(turn, l, err)
			if instead {
				tries, madeRoom = 0, false
				_, insteadErr = makeRoom(nil)
			}
			ctx, done = l.interrupt.begin(turn, Activity{Seq: l.stream.NextSeq(), Started: l.opts.Clock.Now()})
			if insteadErr != nil {
				return insteadErr
			}
			if instead {
				continue
			}
			return &ProviderError{Tries: tries, Wait: l.opts.Model.Retry.TooLong(err), Err: err}
		}
		l.opts.Observer.Noticed(fmt.Sprintf("%v; trying again in %s", err, conversation.Ago(delay)))
		if err := l.opts.Clock.Wait(ctx, delay); err != nil {
			return err
		}
	}
}

// tellCutOff tells the model that its answer broke off while it asked for tools,
// unless a report of a resume does: calls that it meant to make may be missing.
func (l *Loop) tellCutOff(ctx context.Context) error {
	ledger := l.stream.Tail()
	call := ledger.CutOff()
	if call == nil {
		return nil
	}
	if e := ledger.Resumed; e != nil && e.Seq > call.Events[len(call.Events)-1].Seq &&
		strings.Contains(e.Body.(*conversation.Resumed).Message, conversation.TextCutOff) {
		return nil
	}
	return l.build(ctx, l.stream.CurrentTurn().AddRecord(&conversation.Note{Content: conversation.TextCutOff}))
}

// endedCalls counts the finished model calls of the turn.
func endedCalls(ledger *conversation.Ledger) int {
	n := 0
	for _, c := range ledger.Calls {
		if c.Ended() {
			n++
		}
	}
	return n
}

// tryCall sends the request once.
func (l *Loop) tryCall(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	request, err := l.model.request(ctx)
	if err != nil {
		return fmt.Errorf("build the request: %w", err)
	}
	request.Failed += l.failed - l.substitute.failed
	prefix := sync.OnceValue(request.Prefix)
	go prefix() // it is long, and needed only when the answer ends
	answer := &answer{
		loop: l, ordinal: l.stream.Tail().NextCall() + l.failed, prefix: prefix, began: l.opts.Clock.Now(),
		names: provider.NewNames(toolNames(l.opts.Tools.Registry)...), open: map[int]int{}, waiting: map[int]string{},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer.shown = l.interrupt.shown.Of(Activity{}.Key())
	answer.shown.Ask(answer.ordinal)
	if l.substitute.in {
		answer.shown.By(l.opts.Model.Name)
	}
	if l.opts.Model.Window != nil {
		answer.shown.Fills(request.Tokens(), l.opts.Model.Window())
	}
	for chunk, err := range l.opts.Model.Provider.Stream(ctx, request) {
		if err != nil {
			return answer.broken(ctx, err)
		}
		done, err := answer.handle(ctx, chunk)
		if done || err != nil {
			return err
		}
	}
	return answer.broken(ctx, &provider.Error{Class: provider.ClassDisconnect, Message: "the answer has no end"})
}

// retryModel asks the model once more if it had nothing to say to results, if a call that it announced is
// missing, or if its answer does not satisfy the schema. A call that is missing again is a failure: the text
// before it is no answer.
func (l *Loop) retryModel(ctx context.Context) error {
	text := retryPrompt(l.stream)
	if text == "" && callMissing(l.stream.Tail().LastCall()) {
		name, _, _ := strings.Cut(l.opts.Model.Name, "/")
		return &ProviderError{Tries: 1, Err: &provider.Error{
			Class: provider.ClassNoCall, Provider: name, Message: "the model ended to call a tool, and wrote no call",
		}}
	}
	if text == "" {
		return nil
	}
	if err := l.build(ctx, l.stream.CurrentTurn().AddRecord(&conversation.Note{Content: text})); err != nil {
		return err
	}
	return l.callModel(ctx)
}

// retryPrompt asks the model for an answer as it should be. It is "" if the model has
// answered, or was asked already.
func retryPrompt(stream *conversation.Stream) string {
	ledger := stream.Tail()
	call := ledger.LastCall()
	silent := call.Finish == conversation.FinishStop && !call.HasTools && !hasContent(call)
	empty := textEmpty
	if len(ledger.ToolCalls) > 0 {
		empty = textContinue
	}
	switch {
	case callMissing(call) && !prompted(stream, textNoCall):
		return textNoCall
	case silent && (len(ledger.ToolCalls) > 0 || len(schemaOf(stream)) == 0) && !prompted(stream, empty):
		return empty
	case silent && len(schemaOf(stream)) == 0:
		return ""
	}
	if err := unfit(stream, call); err != nil && !schemaNotified(stream) {
		return textSchema + err.Error() + ". Answer with a JSON value that does, and with nothing else. The schema: " + string(schemaOf(stream))
	}
	return ""
}

// prompted reports whether a note gave the model the text since it last said something.
func prompted(stream *conversation.Stream, text string) bool {
	for _, e := range slices.Backward(newestTurn(stream)) {
		switch b := e.Body.(type) {
		case *conversation.Note:
			if b.Content == text {
				return true
			}
		case *conversation.ChatRequest, *conversation.ToolCallRequest:
			return false
		case *conversation.ChatResponse:
			if call := stream.Tail().ModelCall(e); hasContent(call) && !callMissing(call) && !b.Partial {
				return false
			}
		}
	}
	return false
}

// callMissing reports whether a model call ended for tool calls that are absent.
func callMissing(call *conversation.ModelCall) bool {
	return call.Finish == conversation.FinishToolCalls && !call.HasTools
}

// hasContent reports whether a call has a text or data.
func hasContent(call *conversation.ModelCall) bool {
	for _, e := range call.Events {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part != conversation.PartReasoning && strings.TrimSpace(b.Text) != "" {
			return true
		}
	}
	return false
}

// take changes to another model after one failed for good: to the next fallback or, without one and if the
// model does not exist, to one that a person chooses. It is false if there is none.
func (s *substitute) take(ctx context.Context, l *Loop, cause error) (bool, error) {
	if !fallsBack(cause) {
		return false, nil
	}
	first := l.opts.Model.Name
	if s.why != nil {
		first = s.why.Model
	}
	for l.opts.Model.Fallback != nil {
		c, err := l.opts.Model.Fallback(ctx, s.next)
		if c == nil && err == nil {
			break
		}
		s.next++
		if err != nil {
			l.opts.Observer.Noticed(fmt.Sprintf("model_fallback: %v", err))
			continue
		}
		l.opts.Observer.Noticed(fmt.Sprintf("%v; asking %s for the rest of the turn", cause, c.Model))
		reason := conversation.Shorten(l.opts.Secrets.Redact(cause.Error()), maxCause)
		s.in, s.why = true, &conversation.Fallback{Model: first, Reason: reason}
		s.change(l, c)
		return true, nil
	}
	var refused *provider.Error
	if l.opts.Model.Replace == nil || s.in || !errors.As(cause, &refused) || refused.Class != provider.ClassModel {
		return false, nil
	}
	c, err := l.opts.Model.Replace(ctx, cause)
	if c == nil || err != nil {
		return false, err
	}
	delta, err := json.Marshal(map[string]string{"model": c.Model})
	if err != nil {
		return false, err
	}
	if err := l.build(ctx, l.stream.CurrentTurn().AddRecord(&conversation.ConfigDelta{Delta: delta})); err != nil {
		return false, err
	}
	s.change(l, c)
	return true, nil
}

// change asks another model from now on.
func (s *substitute) change(l *Loop, c *Candidate) {
	l.opts.Model.Provider, l.opts.Model.API, l.opts.Model.Endpoint, l.opts.Model.Account, l.opts.Model.Name = c.Provider, c.API, c.Endpoint, c.Account, c.Model
	l.opts.Model.Window, l.opts.Model.MakeRoom = func() int { return c.Window }, c.MakeRoom
	l.model.stateRejected = false
	s.failed = l.failed
}
