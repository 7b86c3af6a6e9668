package console

import (
	"context"
	"io"
	"strings"
	"time"

	"jp/cmd/jp/internal/terminal"
)

// marker stands at the end of a question that can be answered.
const marker = "> "

// quiet is how long a question must have been there, and no key must have come, before a key
// answers it.
const quiet = 500 * time.Millisecond

// A question waits for one key.
type question struct {
	accept func(terminal.Key) bool // nil: any
	direct bool                    // the person asked for it
	marked bool                    // it ends with a mark
	since  time.Time               // when all of it was shown; zero: not yet
	chosen bool                    // the person typed Tab: the next key is for the question
	key    chan terminal.Key

	dropped   string // an answer that came too soon, "" for none
	droppedAt time.Time
}

// armed reports whether the next key is for the question that waits.
func (v *view) armed(now time.Time) bool {
	q := v.question
	if q == nil {
		return false
	}
	return q.direct || q.chosen || v.line.text == "" && !q.since.IsZero() && now.Sub(q.since) >= quiet && now.Sub(v.typedAt) >= quiet
}

// A reading is a line that jp asks for.
type reading struct {
	prompt  string
	offered string // that Tab puts into an empty line
	line    editor
	done    chan struct{}
	err     error
}

// Asker is the console for questions.
func (c *Console) Asker() terminal.Asker { return c.asker(false) }

// Direct is the console for a question that the person has asked for: the next key answers it.
func (c *Console) Direct() terminal.Asker { return c.asker(true) }

func (c *Console) asker(direct bool) terminal.Asker {
	return &asker{Console: c, direct: direct, out: terminal.NewWrapper(questionText{c}, c.Width)}
}

// A questionText writes the text of questions.
type questionText struct{ console *Console }

// Write implements [io.Writer].
func (q questionText) Write(p []byte) (int, error) {
	c := q.console
	c.mu.Lock()
	if !c.view.holds {
		c.mu.Unlock()
		return c.Write(p)
	}
	defer c.mu.Unlock()
	c.view.held += string(p)
	c.render("")
	return len(p), c.lost
}

// heldLines are the whole lines of the text of a question that goes away, and the rest behind them.
func (v *view) heldLines() (whole, last string) {
	end := strings.LastIndexByte(v.held, '\n') + 1
	return v.held[:end], v.held[end:]
}

type asker struct {
	*Console
	direct bool
	out    io.Writer
}

// Write implements [terminal.Asker].
func (a *asker) Write(p []byte) (int, error) { return a.out.Write(p) }

// Rows implements [terminal.Asker].
func (a *asker) Rows() int { return a.tty.Rows() }

// KeepUnsent implements [terminal.Asker].
func (a *asker) KeepUnsent(u terminal.Unsent) {
	_ = a.change(func(*view) { a.unsent = u })
}

// Mark implements [terminal.Asker].
func (a *asker) Mark() { _ = a.change(func(v *view) { v.holds = true }) }

// Erase implements [terminal.Asker].
func (a *asker) Erase(bool) bool {
	_ = a.change(func(v *view) { v.holds, v.held = false, "" })
	return true
}

// Repeat implements [terminal.Asker]. A question that is shown again waits as long as before.
func (a *asker) Repeat() {}

// Choose implements [terminal.Asker]. A key is an answer only if the line is empty and half a second
// has passed since the last key, or after Tab. jp drops a key that comes too soon, and says so. Other
// keys are text.
func (a *asker) Choose(ctx context.Context, prompt string, accept func(terminal.Key) bool) (terminal.Key, error) {
	head, marked := strings.CutSuffix(prompt, marker)
	q := &question{accept: accept, direct: a.direct, marked: marked, key: make(chan terminal.Key, 1)}
	a.mu.Lock()
	a.view.question = q // before it is shown: then it never stands there beside an empty line
	dropped := a.view.answerBefore(q, a.now())
	a.mu.Unlock()
	if dropped {
		a.handler.Changed("")
	}
	defer func() {
		_ = a.change(func(v *view) {
			v.question = nil
			switch {
			case marked && v.holds:
				v.held += marker
			case marked:
				v.partial += marker
			}
		})
	}()
	if _, err := a.Write([]byte(head)); err != nil {
		return 0, err
	}
	_ = a.change(func(*view) { q.since = a.now() })
	tick := time.NewTicker(quiet / 5) // the mark of a question depends on the time of the last key
	defer tick.Stop()
	for {
		select {
		case key := <-q.key:
			return key, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-a.gone:
			return 0, terminal.ErrHangup
		case <-tick.C:
			a.Redraw()
		}
	}
}

// Line implements [terminal.Asker].
func (a *asker) Line(ctx context.Context, prompt string) (string, error) {
	return a.LineOr(ctx, prompt, "")
}

// LineOr implements [terminal.Asker]. The person's own line comes back when this one is done.
func (a *asker) LineOr(ctx context.Context, prompt, offered string) (string, error) {
	above := strings.LastIndexByte(prompt, '\n') + 1
	if _, err := a.Write([]byte(prompt[:above])); err != nil {
		return "", err
	}
	r := &reading{offered: offered, done: make(chan struct{})}
	var unsent terminal.Unsent
	_ = a.change(func(*view) { unsent = a.unsent })
	if unsent != nil {
		if kept := typed(unsent.Text(prompt)); kept != "" {
			r.offered = kept
			if _, err := a.Write([]byte("You typed here before: " + kept + "\nTab takes it.\n")); err != nil {
				return "", err
			}
		}
	}
	_ = a.change(func(v *view) { // the text before it is its prompt
		r.prompt = v.partial + prompt[above:]
		v.partial, v.reading = "", r
	})
	var err error
	select {
	case <-r.done:
		err = r.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-a.gone:
		err = terminal.ErrHangup
	}
	_ = a.change(func(v *view) { v.reading = nil })
	switch cut := err != nil && r.err == nil; {
	case unsent == nil:
	case cut && r.line.text != "":
		unsent.Keep(prompt, r.line.text)
	case err == nil && r.line.text != "":
		unsent.Keep(prompt, "")
	}
	if err != nil {
		_, _ = questionText{a.Console}.Write([]byte(r.prompt)) // the next read of a key reports a terminal that is gone
		return "", err
	}
	_, err = questionText{a.Console}.Write([]byte(r.prompt + r.line.text + "\n"))
	return r.line.text, err
}
