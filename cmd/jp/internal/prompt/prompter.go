package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/turnloop"
)

// Options decide how a Prompter shows its questions.
type Options struct {
	Palette terminal.Palette
	// Width is the width in columns; zero: as wide as the terminal is when the
	// question is shown.
	Width int
	// Rows is the height in rows, zero as for Width.
	Rows int
	// Editor lets the person edit a text with an editor and returns the saved text; ext is the name's
	// extension, with its dot. If it is nil, they cannot edit.
	Editor func(ctx context.Context, initial []byte, ext string) ([]byte, error)
	// Others counts the texts that other parts of jp wrote to the terminal. Nil, or below 0: the text
	// of a question stays when it is answered.
	Others func() int
	// Standing is the rule that "always" at a question adds; ok is false if there is no such answer.
	// Nil: there is never one.
	Standing func(ctx context.Context, q turnloop.Question) (rule turnloop.Rule, ok bool)
	// Allow adds a rule, and returns the file that has it.
	Allow func(rule turnloop.Rule) (file string, err error)
	// Dir is the directory in which commands run, as it is shown: ~/login.
	Dir string
	// Root is the workspace, read to show the changes of a call. If it is nil, the changes come from
	// the arguments alone.
	Root *os.Root
	// Confinement describes the limits of a command; "" if it has none.
	Confinement string
	// Page shows a text on the whole terminal until the person leaves it, and reports whether it could. Nil: it cannot.
	Page func(text string) bool
	// Limit is how long a command may run that names no time itself; zero: ten
	// minutes.
	Limit time.Duration
}

// A Prompter asks a person at a terminal. It is not safe for concurrent use.
type Prompter struct {
	tty  terminal.Asker
	opts Options

	text questionText
}

// New returns a Prompter for a terminal.
func New(tty terminal.Asker, opts Options) *Prompter {
	if opts.Limit == 0 {
		opts.Limit = 10 * time.Minute
	}
	return &Prompter{tty: tty, opts: opts, text: questionText{tty: tty, others: opts.Others}}
}

// Ask puts a question, as [turnloop.Prompter] does. Its errors are [ErrInterrupted] if the person
// typed Ctrl+C, [turnloop.ErrNoAnswer] if the terminal is gone, and the cause of ctx.
func (p *Prompter) Ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	p.text.gone = false
	answer, err := p.ask(ctx, q)
	if errors.Is(err, turnloop.ErrElsewhere) && !p.text.gone {
		p.show("Answered elsewhere.\n")
	}
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return turnloop.Answer{}, fmt.Errorf("%w: %w", turnloop.ErrNoAnswer, err)
	case err != nil:
		return turnloop.Answer{}, err
	}
	return answer, nil
}

func (p *Prompter) ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	switch q.Inquiry.Request.Kind {
	case conversation.KindRunTool:
		p.text.begin()
		defer p.text.end()
		return p.run(ctx, q)
	case conversation.KindDeliverResult:
		return p.deliver(ctx, q)
	}
	switch q.Inquiry.Request.Question.AnswerType.Type {
	case "boolean":
		p.text.begin()
		defer p.text.end()
		return p.boolean(ctx, q)
	case "select":
		return p.pick(ctx, q)
	}
	return p.words(ctx, q)
}

func (p *Prompter) width() int {
	if p.opts.Width > 0 {
		return p.opts.Width
	}
	return p.tty.Width()
}

func (p *Prompter) rows() int {
	if p.opts.Rows > 0 {
		return p.opts.Rows
	}
	return p.tty.Rows()
}

// show prints text that is clean. If the terminal is gone, the next read of a key reports it.
func (p *Prompter) show(text string) { _, _ = io.WriteString(p.tty, text) }

// line asks for a line of text; "" if the person gives none.
func (p *Prompter) line(ctx context.Context, prompt string) (string, error) {
	text, err := p.tty.Line(ctx, prompt)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, terminal.ErrBack):
		p.show("\n")
		return "", nil
	case err != nil:
		p.show("\n")
		return "", err
	}
	return text, nil
}

// chosen is an answer of one word.
func chosen(word string) turnloop.Answer { return answered(asJSON(word)) }

func answered(value json.RawMessage) turnloop.Answer {
	return turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: value}
}
