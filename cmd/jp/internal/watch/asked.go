package watch

import (
	"context"
	"errors"
	"os"
	"time"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/prompt"
	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// errMoved ends a question that is not shown any more.
var errMoved = errors.New("not shown any more")

type asked struct {
	key  string // of the row
	of   conversation.ID
	seq  int
	pane *pane
	end  context.CancelCauseFunc
	err  error

	since time.Time // when it was shown whole; zero: it was not
	above int       // rows that are scrolled back from the end
	whole bool      // all of its rows were on the screen
	more  bool      // the user has asked for more than the question
}

// question begins the question of the selected row, or ends the one that is not shown any more.
func (s *screen) question(ctx context.Context, row *live.Row, width, rows int) {
	a := s.asked
	if row == nil || row.Question == nil {
		s.endQuestion()
		return
	}
	i := *row.Question
	if a != nil && a.key == row.Key() && a.seq == i.Seq && a.of == i.Conversation && a.pane.width == width && a.pane.rows == rows {
		return
	}
	s.endQuestion()
	r, client := s.board.Reach(row.Key())
	if client == nil {
		return
	}
	asking, end := context.WithCancelCause(ctx)
	a = &asked{key: row.Key(), of: i.Conversation, seq: i.Seq, pane: newPane(width, rows, s.news), end: end}
	s.asked = a
	go func() {
		a.err = s.ask(asking, a, r, client, i)
		select {
		case s.answered <- a:
		case <-asking.Done():
		}
	}()
}

// endQuestion ends the question that is shown. It stays open.
func (s *screen) endQuestion() {
	if s.asked != nil {
		s.asked.end(errMoved)
		s.asked = nil
	}
}

// ask puts a question in its pane, and gives the answer to the process.
func (s *screen) ask(ctx context.Context, a *asked, r *repo.Repo, client *attach.Client, i attach.Inquiry) error {
	question, err := agent.Question(ctx, r, i)
	if err != nil {
		return err
	}
	o := prompt.Options{
		Palette: s.palette, Dir: short(s.env, r.Place()), Limit: r.Config.Limits.ToolTimeout, Confinement: toolset.SandboxOf(r, s.env.Host).Words(),
		Standing: func(ctx context.Context, q turnloop.Question) (turnloop.Rule, bool) { return agent.Standing(ctx, r, q) },
		Allow: func(rule turnloop.Rule) (string, error) {
			file, err := agent.Allow(r, rule)
			return short(s.env, file), err
		},
	}
	if r.At.TopLevel != "" {
		if root, err := os.OpenRoot(r.At.TopLevel); err == nil { // without it a preview shows less
			defer root.Close()
			o.Root = root
		}
	}
	answer, err := prompt.New(a.pane, o).Ask(ctx, question)
	if err != nil {
		return err
	}
	return client.Send(&attach.Answer{
		Conversation: i.Conversation, Seq: i.Seq, Outcome: answer.Outcome, Value: answer.Value, Reason: answer.Reason,
		Arguments: answer.Arguments, Remember: answer.Remember,
	})
}

// tooSmall is the notice for a question with more rows than the pane.
const tooSmall = "The question does not fit. Enter opens it."

// takes reports whether a key is meant for the question.
func (a *asked) takes(k key) bool { return !k.is("enter", "esc") && a.pane.takes(k.char()) }

// press gives a key to the question, or returns the reason why it does not take it.
func (a *asked) press(k key) (note string) {
	switch {
	case !a.whole && !a.more && k.char() != 'd':
		return tooSmall
	case !k.alone, a.since.IsZero(), time.Since(a.since) < unread:
		return "press " + k.Text + " again"
	}
	a.more = a.more || k.char() == 'd' || k.char() == '?'
	a.above = 0
	select {
	case a.pane.typed <- k.char():
	case <-time.After(time.Second): // the question has just ended
	}
	return ""
}

// scroll shows earlier or later rows.
func (a *asked) scroll(back bool) {
	if back {
		a.above += a.pane.rows / 2
		return
	}
	a.above = max(0, a.above-a.pane.rows/2)
}

// shown are the rows of the question that are on the screen.
func (a *asked) shown() []string {
	rows, _, waits := a.pane.shown()
	if !waits && len(rows) == 1 && rows[0] == "" {
		return nil
	}
	hidden := len(rows) - a.pane.rows
	if waits && hidden <= 0 {
		a.whole = true
	}
	if waits && a.since.IsZero() {
		a.since = time.Now()
	}
	switch {
	case hidden <= 0:
		return rows
	case !a.whole && !a.more:
		return rows[:a.pane.rows]
	}
	a.above = min(a.above, hidden)
	return rows[hidden-a.above : len(rows)-a.above]
}
