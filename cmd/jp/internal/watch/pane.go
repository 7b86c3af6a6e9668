package watch

import (
	"context"
	"strings"
	"sync"

	"jp/cmd/jp/internal/terminal"
)

// A pane is a part of the screen as a terminal at which one question is put. It implements [terminal.Asker].
type pane struct {
	width, rows int
	news        chan<- struct{}

	mu     sync.Mutex
	text   strings.Builder
	accept func(terminal.Key) bool // of the key that is waited for; nil: none is
	typed  chan terminal.Key
	line   *line // that is asked for; nil: none is
}

func newPane(width, rows int, news chan<- struct{}) *pane {
	return &pane{width: width, rows: rows, news: news, typed: make(chan terminal.Key)}
}

func (p *pane) change(do func()) {
	p.mu.Lock()
	do()
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Write implements [terminal.Asker].
func (p *pane) Write(text []byte) (int, error) {
	p.change(func() { p.text.Write(text) })
	return len(text), nil
}

// belowQuestions is how many rows a question leaves free below itself for a chat. A pane does not need
// them.
const belowQuestions = 3

func (p *pane) Width() int                 { return p.width }
func (p *pane) Rows() int                  { return p.rows + belowQuestions }
func (p *pane) Repeat()                    {}
func (p *pane) Mark()                      {}
func (p *pane) Erase(bool) bool            { return true }
func (p *pane) KeepUnsent(terminal.Unsent) {}

// Choose implements [terminal.Asker].
func (p *pane) Choose(ctx context.Context, prompt string, accept func(terminal.Key) bool) (terminal.Key, error) {
	if accept == nil {
		accept = func(terminal.Key) bool { return true }
	}
	p.change(func() {
		p.text.WriteString(prompt)
		p.accept = accept
	})
	defer p.change(func() { p.accept = nil })
	select {
	case key := <-p.typed:
		return key, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Line implements [terminal.Asker].
func (p *pane) Line(ctx context.Context, prompt string) (string, error) {
	return p.LineOr(ctx, prompt, "")
}

// LineOr implements [terminal.Asker].
func (p *pane) LineOr(ctx context.Context, prompt, offered string) (string, error) {
	type result struct {
		text string
		err  error
	}
	ended := make(chan result, 1)
	p.change(func() {
		p.line = &line{prompt: prompt, offered: offered, done: func(text string, err error) { ended <- result{text, err} }}
	})
	defer p.change(func() { p.line = nil })
	select {
	case r := <-ended:
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// shown is the text as rows of the screen, the line that is asked for, and whether a key is waited for.
func (p *pane) shown() (rows []string, reading *line, waits bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.TrimRight(terminal.Wrap(p.text.String(), p.width), "\n")
	return strings.Split(text, "\n"), p.line, p.accept != nil
}

// takes reports whether the question waits for a key.
func (p *pane) takes(k terminal.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accept != nil && k > 0 && p.accept(k)
}
