package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

// recalled is how much of the last answer the editor shows, in lines.
const recalled = 60

// edit lets the user write the text. The draft stays in place until the question is recorded, so that it
// survives every kind of end. An earlier draft comes into the editor again, above the text of the command
// line.
func (s *question) edit(ctx context.Context, text string) (string, error) {
	if s.run.opts.unrecorded() { // in a temporary file
		written, err := EditApart(ctx, s.run.front, s.run.repo, []byte(text+"\n\n"+s.besideDraft()), ".md")
		s.drafted = live.Asked(string(written))
		return s.drafted, err
	}
	if s.target.written != nil {
		s.drafted = *s.target.written
		return s.drafted, nil
	}
	kept, err := s.target.keptDraft()
	if err != nil {
		return "", err
	}
	if kept != "" && kept != text {
		text = strings.TrimSpace(kept + "\n\n" + text)
	}
	shown := []byte(text + "\n\n" + s.besideDraft())
	var written string
	moved := s.turn.unlocked(ctx, func() (err error) {
		written, err = live.EditDraft(s.run.repo.StateDir(), s.target.draft(), shown, func(path string) error { return s.run.front.Edit(ctx, s.run.repo.Place(), path) })
		return err
	})
	if moved != nil && !errors.Is(moved, errMoved) {
		return "", moved
	}
	if s.drafted = written; moved != nil {
		s.target.written = &written
	}
	return written, moved
}

// besideDraft is the text that the editor shows below the question: its context.
func (s *question) besideDraft() string {
	var b strings.Builder
	fmt.Fprintln(&b, live.Scissors)
	fmt.Fprintln(&b, "# Lines with # from here on are not asked. An empty text asks nothing.")
	title := "a new conversation"
	if !s.target.fresh {
		title = string(s.target.id)
	}
	fmt.Fprintf(&b, "# %s, %s\n", title, problem.OneLine(s.turn.model))
	if s.discarded != nil {
		for _, a := range s.discarded.Body.(*conversation.ChatRequest).Attachments {
			fmt.Fprintf(&b, "# %s goes along, as with the discarded question.\n", problem.OneLine(a.Name))
		}
	}
	lines := strings.Split(safetext.Clean(s.history.lastAnswer()), "\n")
	if len(lines) > recalled {
		lines = append(lines[:recalled], "…")
	}
	if lines[0] != "" {
		fmt.Fprintf(&b, "#\n# The last answer:\n#\n# %s\n", strings.Join(lines, "\n# "))
	}
	return b.String()
}

func (l *history) lastAnswer() string {
	text := ""
	for turn := range conversation.Turns(l.stream.Events()) {
		ledger := turn.Ledger()
		if call := ledger.LastCall(); call != nil && !ledger.Discarded {
			text = AnsweredTitle(call)
		}
	}
	return strings.TrimSpace(text)
}
