package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
	"jp/process/attach"
)

// A holding is who holds a conversation, and what they tell everybody of it.
type holding struct {
	process.LockedError
	reachable bool            // others can connect to it
	inquiry   *attach.Inquiry // that it waits with, nil where it does not
	broken    bool            // the last turn is not complete
	by        conversation.ID // whose process it is: of a delegate its parent's
}

// holding reads what is told of a conversation that somebody holds.
func (r processes) holding(ctx context.Context, locked *process.LockedError) holding {
	h := holding{LockedError: *locked, by: r.states().askedIn(ctx, locked.ID)}
	info, err := r.store.Info(ctx, locked.ID)
	known := err == nil && info.Err == nil
	h.broken = known && info.Summary.Status != conversation.StatusIdle
	h.reachable = r.states().told(h.by, locked.Holder).PID != 0
	if q := info.Summary.Inquiry; known && q != nil && h.reachable {
		h.inquiry = r.states().inquiry(ctx, info, q).posted(locked.ID)
	}
	return h
}

// posted is the question as the process that waits with it tells it.
func (j *inquiryJSON) posted(id conversation.ID) *attach.Inquiry {
	i := &attach.Inquiry{Conversation: id, Seq: j.Seq, Kind: j.Kind, Tool: j.Tool, Text: j.Text, Exclusive: j.Exclusive}
	if j.AnswerType != nil {
		i.AnswerType = *j.AnswerType
	}
	return i
}

// locked says of an error that it is because of another process, which one that
// is, and what can be done; of a change that it kept from being made.
func (r processes) locked(ctx context.Context, e *host, err error) error {
	var locked *process.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	h := r.holding(ctx, locked)
	f := h.failure(e.now())
	return h.killing(h.reaching(f).hint("jp fork "+string(h.ID), "make a copy to go on with"))
}

// locked says which process keeps this query from the conversation.
func (q *query) locked(ctx context.Context, locked *process.LockedError) *failure {
	h := q.repo.processes().holding(ctx, locked)
	f := h.reaching(h.failure(q.env.now()))
	switch {
	case q.settlesOnly():
	case h.broken:
		f.hint(fmt.Sprintf(`jp query --fork --discard-turn --id=%s "…"`, h.ID), "ask in a fork, without the turn that runs")
	default:
		f.hint(fmt.Sprintf(`jp query --fork --id=%s "…"`, h.ID), "ask in a fork")
	}
	if !q.settlesOnly() {
		f.hint(`jp query --new "…"`, "ask in a new conversation")
		f.hint(fmt.Sprintf(`jp query --no-persist --id=%s "…"`, h.ID), "ask beside it; nothing is recorded")
	}
	return h.killing(f)
}

// settlesOnly reports whether the query is about what this conversation has, and
// nothing else, so that it cannot be asked elsewhere.
func (q *query) settlesOnly() bool {
	return q.opts.bare || q.repeats() || q.opts.decision() != undecided && !q.asks()
}

// failure names the holder.
func (h holding) failure(now time.Time) *failure {
	f := lockedBy(&h.LockedError, holderWords(h.Holder, now))
	if h.by != h.ID {
		f.details = append(f.details, "It works for "+string(h.by)+".")
	}
	if h.inquiry != nil {
		f.details = append(f.details, "It waits for an answer: "+questionWords(*h.inquiry))
	}
	return f
}

// reaching adds how to take part in what the holder does.
func (h holding) reaching(f *failure) *failure {
	if !h.reachable {
		return f
	}
	f.hint("jp attach "+string(h.ID), "connect to it")
	if h.inquiry == nil {
		return f
	}
	return f.hint("jp answer "+string(h.ID), answerWords(*h.inquiry)+": answer its question")
}

func (h holding) killing(f *failure) *failure {
	if h.by != h.ID {
		return f.hint("jp kill "+string(h.by), "end it, and the turn that it works for; both can be resumed")
	}
	return f.hint("jp kill "+string(h.ID), "end it; its turn can be resumed")
}

// holderWords say in parentheses what a holder is, "" where nothing is known.
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

// questionWords are a question on one line.
func questionWords(i attach.Inquiry) string {
	what := strings.TrimSpace(i.Tool + " " + i.Subject)
	return fmt.Sprintf("%s — %q", safetext.Show(what), safetext.Clean(oneLine(i.Text)))
}
