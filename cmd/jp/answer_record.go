package main

import (
	"context"
	"strings"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// record answers a question that no process waits with.
func (a *answering) record(ctx context.Context) error {
	q := newQuery(ctx, &terminalFront{env: a.env, repo: a.repo}, a.repo, queryOptions{continueTurn: true}, nil)
	q.id = a.id
	if err := q.lock(); err != nil {
		return a.repo.locked(ctx, a.env.host, err)
	}
	defer q.held.Release()
	if err := q.load(ctx); err != nil {
		return err
	}
	waiting := q.liveInquiry()
	if waiting == nil {
		if q.tail != nil && a.event < 0 {
			if below := q.repo.asksFor(ctx, q.id, delegationsIn(q.tail), maxLevels); below != nil {
				q.held.Release()
				a.id = below.in.ID
				return a.record(ctx)
			}
		}
		return fail(exitFailed, "not_found", "%s waits for no answer.", a.id).about(a.id).hint("jp status "+a.id.Short(), "what it does")
	}
	i := attach.InquiryOf(a.id, waiting)
	i.Subject = strings.TrimSpace(strings.TrimPrefix(callTitle(waiting.Call), i.Tool))
	answer, err := a.to(ctx, i, func(ctx context.Context) (turnloop.Answer, error) { return a.ask(ctx, i) })
	if err != nil {
		return err
	}
	if err := q.bookkeeper(nil).Answer(ctx, waiting, personAnswer(answer)); err != nil {
		return err
	}
	words := ""
	for _, e := range q.stream.Events() {
		if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.For == waiting.Event.Seq {
			words = e.Subject
		}
	}
	return a.report(ctx, words, 0)
}

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
