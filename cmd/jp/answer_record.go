package main

import (
	"context"
	"strings"

	"jp/conversation"
	"jp/process/attach"
)

// goesOn is the conversation to go on with once a question of this one is answered:
// the one that waits for it, and for that one, and so on.
func (r *repo) goesOn(ctx context.Context, id conversation.ID) conversation.ID {
	info, err := r.store.Info(ctx, id)
	for err == nil && info.Summary.Parent != "" && r.awaits(ctx, info.Summary.Parent, id) {
		id = info.Summary.Parent
		info, err = r.store.Info(ctx, id)
	}
	return id
}

// liveInquiry is the question that the incomplete turn waits with, nil where it
// does not.
func (q *query) liveInquiry() *conversation.Inquiry {
	if q.tail == nil {
		return nil
	}
	if live := q.stream.Tail().Live(); len(live) > 0 {
		return live[0]
	}
	return nil
}

// answerRecorded records the answer to the question that a conversation waits with, or a
// delegate of it, where no process waits. event is the question that is meant, -1 for
// whichever waits; to gives its answer. It returns the answer in words.
func answerRecorded(
	ctx context.Context, front frontend, r *repo, id conversation.ID, event int, to func(context.Context, attach.Inquiry) (attach.Answer, error),
) (words string, in conversation.ID, err error) {
	q := newQuery(ctx, front, r, queryOptions{continueTurn: true}, nil)
	q.id = id
	if err := q.lock(); err != nil {
		return "", id, r.processes().locked(ctx, r.env, err)
	}
	defer q.held.Release()
	if err := q.load(ctx); err != nil {
		return "", id, err
	}
	waiting := q.liveInquiry()
	if waiting == nil {
		if q.tail != nil && event < 0 {
			if below := r.states().asksFor(ctx, id, delegationsIn(q.tail), maxLevels); below != nil {
				q.held.Release()
				return answerRecorded(ctx, front, r, below.in.ID, event, to)
			}
		}
		return "", id, fail(exitFailed, "not_found", "%s waits for no answer.", id).about(id).hint("jp status "+id.Short(), "what it does")
	}
	i := attach.InquiryOf(id, waiting)
	i.Subject = strings.TrimSpace(strings.TrimPrefix(callTitle(waiting.Call), i.Tool))
	answer, err := to(ctx, i)
	if err != nil {
		return "", id, err
	}
	if err := q.bookkeeper(nil).Answer(ctx, waiting, personAnswer(answer)); err != nil {
		return "", id, err
	}
	for _, e := range q.stream.Events() {
		if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.For == waiting.Event.Seq {
			words = e.Subject
		}
	}
	return words, id, nil
}
