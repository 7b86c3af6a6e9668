package turnloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/tool"
	. "jp/turnloop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testID = conversation.ID("jp-c17528832001-k3f9")

// testingT is the common part of testing.T and rapid.T.
type testingT interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// A rig is a conversation with everything around it that a turn needs. It writes all that happens to one
// trace, in order.
type rig struct {
	t       testingT
	trace   *trace
	journal *journal
	model   *model
	opts    Options
	notices []string
	deltas  []Delta

	mu      sync.Mutex
	working []Activity
}

func newRig(t testingT, tools []*fakeTool, replies ...reply) *rig {
	tr := &trace{}
	r := &rig{t: t, trace: tr, journal: &journal{Memory: journaltest.NewMemory(), trace: tr}, model: &model{trace: tr, replies: replies}}
	var all []tool.Tool
	for _, f := range tools {
		f.trace = tr
		all = append(all, f)
	}
	registry, err := tool.NewRegistry(all...)
	require.NoError(t, err)
	r.opts = Options{
		Conversation: ConversationOptions{
			Journal: r.journal,
			ID:      testID,
			Stream:  conversation.NewStream(nil),
			JP:      "0.0",
		},
		Model: ModelOptions{
			Provider: r.model,
			API:      "test",
			Name:     "test/model",
			System:   "Be brief.",
		},
		Tools: ToolOptions{
			Registry: registry,
		},
		Observer: r,
		Clock: Clock{
			Now:    ticker(),
			Random: func() float64 { return 0.5 },
			Wait:   func(context.Context, time.Duration) error { return nil },
		},
	}
	return r
}

// ticker is a clock that goes on by a second with each look at it.
func ticker() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2025, 7, 19, 14, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func (r *rig) Recorded(events []*conversation.Event) { r.trace.add("recorded") }
func (r *rig) Streamed(d Delta)                      { r.deltas = append(r.deltas, d) }
func (r *rig) Noticed(text string)                   { r.notices = append(r.notices, text) }

// Working notes the activities of the loop. It comes from another goroutine.
func (r *rig) Working(a Activity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working = append(r.working, a)
}

// start runs a new turn in a loop of its own.
func (r *rig) start(ctx context.Context) (Outcome, error) {
	return r.request(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
}

func (r *rig) request(ctx context.Context, q Request) (Outcome, error) {
	loop := New(r.opts)
	o, err := loop.Start(ctx, q)
	r.opts.Conversation.Head = loop.Head()
	r.check()
	return o, err
}

// done runs a new turn that has to come to its end.
func (r *rig) done() Outcome {
	o, err := r.start(r.t.Context())
	require.NoError(r.t, err)
	return o
}

// resume goes on as a process does that has just loaded the conversation.
func (r *rig) resume(ctx context.Context) (Outcome, error) {
	r.reload()
	loop := New(r.opts)
	o, err := loop.Run(ctx)
	r.opts.Conversation.Head = loop.Head()
	r.check()
	return o, err
}

// kill refuses all later appends, like the end of the process.
func (r *rig) kill() { r.journal.fault = func(int) error { return errKilled } }

var errKilled = errors.New("killed")

// requireKilled starts a turn whose process is killed on the way.
func (r *rig) requireKilled() {
	r.t.Helper()
	_, err := r.start(r.t.Context())
	require.ErrorIs(r.t, err, errKilled)
	r.journal.fault = nil
}

func (r *rig) reload() {
	r.opts.Conversation.Head, r.opts.Conversation.Stream = "", conversation.NewStream(nil)
	if head, err := r.journal.Head(r.t.Context(), testID); err == nil {
		r.opts.Conversation.Head, r.opts.Conversation.Stream = head, conversation.JoinTail(conversation.SplitTail(r.stored()))
	}
}

// stored are the events as the journal has them.
func (r *rig) stored() []*conversation.Event {
	head, err := r.journal.Head(r.t.Context(), testID)
	if err != nil {
		return nil
	}
	events, err := r.journal.Load(r.t.Context(), head)
	require.NoError(r.t, err)
	return events
}

// check compares memory with the journal, and judges everything written and sent.
func (r *rig) check() {
	stored, memory := r.stored(), r.opts.Conversation.Stream.Events()
	require.Equal(r.t, typesOf(stored), typesOf(memory), "memory is not what the journal has")
	for i := range stored {
		require.Equal(r.t, stored[i].Commit, memory[i].Commit)
	}
	require.Empty(r.t, conversation.Audit(stored))
	require.NoError(r.t, r.opts.Conversation.Stream.CheckBuilt())
	for _, request := range r.model.requests {
		require.NoError(r.t, validRequest(request))
	}
}

func typesOf(events []*conversation.Event) []conversation.Type {
	types := make([]conversation.Type, len(events))
	for i, e := range events {
		types[i] = e.Type()
	}
	return types
}

// turn are the newest turn's types, in one line, without those of every turn's start and end.
func (r *rig) turn() string {
	var words []string
	for _, e := range r.opts.Conversation.Stream.Events() {
		switch e.Type() {
		case conversation.TypeTurnStart:
			words = nil
		case conversation.TypePrompt, conversation.TypeTurnDone:
		default:
			words = append(words, string(e.Type()))
		}
	}
	return strings.Join(words, " ")
}

// results are the responses of the newest turn, in the order of their calls.
func (r *rig) results() []*conversation.ToolCallResponse {
	var results []*conversation.ToolCallResponse
	for _, call := range r.opts.Conversation.Stream.Tail().ToolCalls {
		results = append(results, call.Result)
	}
	return results
}

func (r *rig) result() *conversation.ToolCallResponse {
	require.Len(r.t, r.results(), 1)
	require.NotNil(r.t, r.results()[0])
	return r.results()[0]
}

// last is the newest body of a type, or nil.
func last[B conversation.Body](r *rig) B {
	for _, e := range slices.Backward(r.opts.Conversation.Stream.Events()) {
		if b, ok := e.Body.(B); ok {
			return b
		}
	}
	var none B
	return none
}

// A trace is a list of occurrences, in order.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

// only are the lines that begin with one of the words.
func (t *trace) only(begins ...string) (lines []string) {
	for _, line := range t.lines {
		if slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(line, b) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// requireOrder checks that the lines stand in the trace in this order, perhaps
// with others between.
func (r *rig) requireOrder(lines ...string) {
	r.t.Helper()
	at := 0
	for _, line := range r.trace.lines {
		if at < len(lines) && strings.HasPrefix(line, lines[at]) {
			at++
		}
	}
	require.Equal(r.t, len(lines), at, "not in this order: %q\n%s", lines, strings.Join(r.trace.lines, "\n"))
}

func (t *trace) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.lines)
}

func (t *trace) count(line string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, l := range t.lines {
		if l == line {
			n++
		}
	}
	return n
}

// A journal writes its input to the trace, and fails on demand.
type journal struct {
	*journaltest.Memory
	trace   *trace
	fault   func(append int) error // by the number of the append, from 1
	after   func(append int)       // called once an append is durable
	rewrite conversation.Rewriter  // changes the stored events
	lies    func(append int) error // the claimed result of a durable append
	count   int
}

func (j *journal) Create(ctx context.Context, id conversation.ID, base string, events []*conversation.Event) (conversation.Head, error) {
	return j.write(events, func() (conversation.Head, error) { return j.Memory.Create(ctx, id, base, events) })
}

func (j *journal) Append(ctx context.Context, id conversation.ID, expect conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	return j.write(events, func() (conversation.Head, error) { return j.Memory.Append(ctx, id, expect, events) })
}

func (j *journal) write(events []*conversation.Event, store func() (conversation.Head, error)) (conversation.Head, error) {
	for _, e := range events {
		if j.rewrite != nil {
			e.Rewrite(j.rewrite)
		}
	}
	j.count++
	if j.fault != nil {
		if err := j.fault(j.count); err != nil {
			return "", err
		}
	}
	head, err := store()
	if err != nil {
		return "", err
	}
	var types []string
	for _, e := range events {
		types = append(types, string(e.Type()))
	}
	j.trace.add("append " + strings.Join(types, " "))
	if j.after != nil {
		j.after(j.count)
	}
	if j.lies != nil {
		if err := j.lies(j.count); err != nil {
			return "", err
		}
	}
	return head, nil
}

// A prompter answers with a function, and keeps the questions. The user stays away unless the test says who
// comes.
type prompter struct {
	trace  *trace
	asked  []Question
	answer func(context.Context, Question) (Answer, error)
	absent bool
	later  func(context.Context, Question) (Answer, error)
}

func (p *prompter) Present() bool { return !p.absent }

func (p *prompter) Await(ctx context.Context, q Question) (Answer, error) {
	p.trace.add("await " + string(q.Inquiry.Request.Kind))
	if p.later == nil {
		return Answer{}, ErrNoAnswer
	}
	return p.later(ctx, q)
}

func (p *prompter) Ask(ctx context.Context, q Question) (Answer, error) {
	p.trace.add("ask " + string(q.Inquiry.Request.Kind))
	p.asked = append(p.asked, q)
	return p.answer(ctx, q)
}

// answering lets the same answer be given to every question.
func (r *rig) answering(a Answer) *prompter {
	return r.prompting(func(context.Context, Question) (Answer, error) { return a, nil })
}

func (r *rig) prompting(answer func(context.Context, Question) (Answer, error)) *prompter {
	p := &prompter{trace: r.trace, answer: answer}
	r.opts.User.Prompter = p
	return p
}

// quoted is an answer of one word.
func quoted(word string) Answer {
	value, _ := json.Marshal(word)
	return Answer{Outcome: conversation.OutcomeAnswered, Value: value}
}
