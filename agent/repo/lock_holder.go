package repo

import (
	"context"
	"errors"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process"
	"jp/process/attach"
	"jp/tool"
)

// A holding is the holder of a conversation, with its public facts.
type holding struct {
	Locked    process.LockedError
	reachable bool            // others can connect to it
	inquiry   *attach.Inquiry // its waiting question, or nil
	Broken    bool            // the last turn is incomplete
	by        conversation.ID // the conversation of the process: for a delegate its parent
}

// Holding reads the registry entry and lock of a held conversation.
func (r Processes) Holding(ctx context.Context, locked *process.LockedError) holding {
	h := holding{Locked: *locked, by: r.repo.States().AskedIn(ctx, locked.ID)}
	info, err := r.repo.Store.Info(ctx, locked.ID)
	known := err == nil && info.Err == nil
	h.Broken = known && info.Summary.Status != conversation.StatusIdle
	h.reachable = r.repo.States().entryOf(h.by, locked.Holder).PID != 0
	if q := info.Summary.Inquiry; known && q != nil && h.reachable {
		h.inquiry = r.repo.States().inquiry(ctx, info, q).posted(locked.ID)
	}
	return h
}

// posted is the question in the form of the process that waits with it.
func (j *Inquiry) posted(id conversation.ID) *attach.Inquiry {
	i := &attach.Inquiry{Conversation: id, Seq: j.Seq, Kind: j.Kind, Tool: j.Tool, Text: j.Text, Exclusive: j.Exclusive}
	if j.AnswerType != nil {
		i.AnswerType = *j.AnswerType
	}
	return i
}

// Locked adds to the error of a change the process that prevented it, and the commands that help. Other errors
// stay as they are.
func (r Processes) Locked(ctx context.Context, e *Host, err error) error {
	var locked *process.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	h := r.Holding(ctx, locked)
	f := h.Failure(e.Now())
	return h.Killing(h.Reaching(f).Hint(action.Fork(string(h.Locked.ID)), "make a copy to go on with"))
}

// Failure names the holder.
func (h holding) Failure(now time.Time) *problem.Error {
	f := lockedBy(&h.Locked, holderWords(h.Locked.Holder, now))
	if h.by != h.Locked.ID {
		f.Details = append(f.Details, "It works for "+string(h.by)+".")
	}
	if h.inquiry != nil {
		f.Details = append(f.Details, "It waits for an answer: "+QuestionWords(*h.inquiry))
	}
	return f
}

// Reaching adds the commands that connect to the holder.
func (h holding) Reaching(f *problem.Error) *problem.Error {
	if !h.reachable {
		return f
	}
	f.Hint(action.Attach(string(h.Locked.ID)), "connect to it")
	if h.inquiry == nil {
		return f
	}
	return f.Hint(action.Answer(string(h.Locked.ID)), AnswerWords(*h.inquiry)+": answer its question")
}

func (h holding) Killing(f *problem.Error) *problem.Error {
	if h.by != h.Locked.ID {
		return f.Hint(action.Kill(string(h.by)), "end it, and the turn that it works for; both can be resumed")
	}
	return f.Hint(action.Kill(string(h.Locked.ID)), "end it; its turn can be resumed")
}

// holderWords describe a holder in parentheses, "" if unknown.
func holderWords(h process.Holder, now time.Time) string {
	var words []string
	if h.Detached {
		words = append(words, "detached")
	}
	if !h.Started.IsZero() {
		words = append(words, "running "+conversation.Ago(max(now.Sub(h.Started), time.Second)))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// QuestionWords are a question on one line, for people.
func QuestionWords(i attach.Inquiry) string { return AskedWords(i.Tool, i.Subject, i.Text) }

// AskedWords are QuestionWords of a question with this text, about a call of a tool.
func AskedWords(name, subject, text string) string {
	return safetext.Clean(problem.OneLine(tool.AskedBy(name, subject, text)))
}
