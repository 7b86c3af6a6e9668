// Package front runs jp's application in the process of a test: a front end that records its calls and
// answers from a table, in a repository of its own.
package front

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"jp/agent"
	"jp/conversation"
	"jp/tool/mcp"
	"jp/turnloop"
)

// A Front is a front end of a test. Its zero value has no user.
type Front struct {
	agent.Headless
	Person *Person                  // the user; nil: the front end has none
	Editor func(text string) string // rewrites a text; nil: there is no editor
	Piped  string                   // is on standard input

	mu      sync.Mutex
	resumed []string
	begun   []agent.RunInfo
	events  []*conversation.Event
	notices []string
	ended   []agent.Ending
}

// Output implements [agent.Frontend].
func (f *Front) Output(agent.OutputOptions) agent.Output { return &output{front: f} }

// User implements [agent.Frontend].
func (f *Front) User() agent.User {
	if f.Person == nil {
		return nil
	}
	return f.Person
}

// CanEdit implements [agent.Frontend].
func (f *Front) CanEdit() bool { return f.Editor != nil }

// Edit implements [agent.Frontend].
func (f *Front) Edit(_ context.Context, _, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(f.Editor(string(text))), 0o600)
}

// Reads implements [agent.Frontend].
func (f *Front) Reads() bool { return f.Piped != "" }

// Read implements [agent.Frontend].
func (f *Front) Read(context.Context) (string, error) { return f.Piped, nil }

// Resumed are the words with which turns were gone on with.
func (f *Front) Resumed() []string { return read(f, &f.resumed) }

// Events are the recorded events, in order.
func (f *Front) Events() []*conversation.Event { return read(f, &f.events) }

// Notices are the lines that the run showed beside its events.
func (f *Front) Notices() []string { return read(f, &f.notices) }

// Begun are the runs that began.
func (f *Front) Begun() []agent.RunInfo { return read(f, &f.begun) }

// Ended are the results of the runs, in order.
func (f *Front) Ended() []agent.Ending { return read(f, &f.ended) }

// Last is the result of the last run.
func (f *Front) Last() agent.Ending {
	ended := f.Ended()
	return ended[len(ended)-1]
}

func read[T any](f *Front, from *[]T) []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]T(nil), *from...)
}

func add[T any](f *Front, to *[]T, values ...T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*to = append(*to, values...)
}

type output struct {
	agent.NoOutput
	front *Front
}

// Begin implements [agent.Output].
func (o *output) Begin(r agent.RunInfo) { add(o.front, &o.front.begun, r) }

// Resumed implements [agent.Output].
func (o *output) Resumed(words string, _ *conversation.IncompleteTurn) {
	add(o.front, &o.front.resumed, words)
}

// Recorded implements [turnloop.Observer].
func (o *output) Recorded(events []*conversation.Event) {
	add(o.front, &o.front.events, events...)
}

// Noticed implements [turnloop.Observer].
func (o *output) Noticed(line string) { add(o.front, &o.front.notices, line) }

// Ended implements [agent.Output].
func (o *output) Ended(e agent.Ending) { add(o.front, &o.front.ended, e) }

// A Person answers the questions of a run by their text. A question without an answer is an
// error that names it.
type Person struct {
	Answers   map[string]string        // to questions of turns: a word, or true and false for a yes or no
	Any       func(text string) string // the same for those that Answers lacks; optional
	Decisions map[string]rune          // to questions of jp itself
	// Decider answers the questions of jp itself that Decisions lacks. Optional.
	Decider func(d agent.UserDecision) (rune, error)
	Lines   []string // the answers in words, one after another
	Waits   func()   // is called while jp waits for another process; then the answer '-' waits on

	mu    sync.Mutex
	asked []string
}

// Asked are the texts of the questions, in order.
func (p *Person) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

func (p *Person) hear(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, text)
}

// Ask implements [agent.User].
func (p *Person) Ask(_ context.Context, q turnloop.Question) (turnloop.Answer, error) {
	question := q.Inquiry.Request.Question
	p.hear(question.Text)
	word, known := p.Answers[question.Text]
	if !known && p.Any != nil {
		word, known = p.Any(question.Text), true
	}
	if !known {
		return turnloop.Answer{}, fmt.Errorf("the test has no answer to %q", question.Text)
	}
	var value any = word
	if question.AnswerType.Type == "boolean" {
		value = word == "true"
	}
	encoded, err := json.Marshal(value)
	return turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: encoded}, err
}

// Decide implements [agent.User].
func (p *Person) Decide(ctx context.Context, d agent.UserDecision) (rune, error) {
	p.hear(d.Text)
	if p.Waits != nil {
		p.Waits()
	}
	key, known := p.Decisions[d.Text]
	if !known && p.Decider != nil {
		if key, err := p.Decider(d); key != '-' {
			return key, err
		}
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	if !known {
		return 0, fmt.Errorf("the test has no decision about %q", d.Text)
	}
	return key, nil
}

// Line implements [agent.User].
func (p *Person) Line(_ context.Context, _ conversation.ID, prompt string) (string, error) {
	p.hear(prompt)
	if len(p.Lines) == 0 {
		return "", agent.ErrUserSilent
	}
	line := p.Lines[0]
	p.Lines = p.Lines[1:]
	return line, nil
}

// Tell implements [agent.User].
func (p *Person) Tell(string) {}

// Approve implements [agent.User].
func (p *Person) Approve(context.Context, *mcp.Server) error { return nil }

// Close implements [agent.User].
func (p *Person) Close() {}
