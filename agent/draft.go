package agent

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/turnloop"
)

// draft is the file that keeps the draft of a text until it is asked.
func (t *target) draft() string {
	switch {
	case t.forked != nil:
		return live.RequestFile(t.forked.View.ID) // the fork may be taken back
	case t.fresh:
		return t.newDraft()
	}
	return live.RequestFile(t.id)
}

// newDraft is the draft of a new conversation, which belongs to this process alone.
func (t *target) newDraft() string {
	if t.res.slot == nil {
		slot, _ := live.TakeSlot(t.run.repo.StateDir())
		t.res.slot = &slot
	}
	return cmp.Or(t.res.slot.File(), live.RequestFile(""))
}

// keptDraft is the kept text of a draft, "" without one.
func (t *target) keptDraft() (string, error) {
	kept, err := live.KeptDraft(t.run.repo.StateDir(), t.draft())
	var refused *safefile.SealError
	if errors.As(err, &refused) { // the user knows it already
		return "", nil
	}
	return kept, err
}

// keepText keeps the question that was given on the command line for later.
func (t *target) keepText(f *problem.Error) error {
	text := strings.TrimSpace(strings.Join(t.run.opts.Input.Text, " "))
	if text == "" {
		return f
	}
	if t.fresh && t.run.opts.Turn.Queue != nil { // the chat's queue keeps it
		f.Message += " Your question is kept."
		return f
	}
	err := t.run.repo.StateDir().ReplaceSealed(repo.DraftsFolder, t.draft(), []byte(text+"\n"), safefile.Options{Volatile: true})
	if err != nil {
		return fmt.Errorf("keep your question: %w", err)
	}
	f.Message += " Your question is kept."
	if t.run.front.CanEdit() && t.run.opts.Turn.Queue == nil { // the chat's queue has it
		opens := action.EditIn(t.id.Short())
		switch {
		case t.forked != nil:
			opens = action.EditInFork(t.run.opts.Target.Fork, t.forked.View.ID.Short())
		case t.fresh:
			opens = action.AskInEditor
		}
		f.Hint(opens, "opens it again")
	}
	return f
}

// forgetDraft removes a draft that is recorded. A draft still waiting to be asked stays.
func (t *target) forgetDraft(drafted, asked string) {
	if t.fresh && t.forked == nil && t.res.slot == nil { // it was not edited
		if kept, err := live.RequestDraft(t.run.repo.StateDir(), ""); err != nil || kept == "" || t.run.opts.Turn.Queue != nil {
			return
		}
	}
	if kept, err := t.keptDraft(); err == nil && (kept == drafted || kept == strings.TrimSpace(asked)) {
		_ = t.run.repo.StateDir().Remove(repo.DraftsFolder, t.draft()) // if it stays, the editor shows it again
	}
}

// choiceError is the error of a question that the user left unanswered. It keeps the question of the command
// line.
func (t *target) choiceError(err error) error {
	var signal *turnloop.Interrupt
	switch {
	case errors.Is(err, ErrUserGone):
		return t.keepText(problem.New(problem.ExitDecision, "incomplete_turn", "the terminal is gone; nothing was changed."))
	case errors.As(err, &signal): // a terminal that goes away sends one, which may be seen first
		return t.keepText(repo.Interrupted(signal))
	}
	return err
}

// leftAlone is the error of a question about an incomplete turn that ended by Ctrl+C.
func (t *target) leftAlone() *problem.Error {
	return problem.Unchanged(problem.ExitInterrupted, "interrupted").About(t.id)
}
