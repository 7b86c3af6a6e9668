package agent

import (
	"context"
	"strings"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
)

// GoesOn is the conversation to resume once a question of this one is answered: the outermost of the parents
// that wait for it, or itself without one.
func GoesOn(ctx context.Context, r *repo.Repo, id conversation.ID) conversation.ID {
	info, err := r.Store.Info(ctx, id)
	for err == nil && info.Summary.Parent != "" && r.States().Awaits(ctx, info.Summary.Parent, id) {
		id = info.Summary.Parent
		info, err = r.Store.Info(ctx, id)
	}
	return id
}

// AnswerRecorded records the answer to the question that a conversation or a delegate of it is waiting with,
// if no process waits for it. event names the question, -1 any. to gives its answer. AnswerRecorded returns
// the answer in words.
func AnswerRecorded(
	ctx context.Context, front Frontend, r *repo.Repo, id conversation.ID, event int, to func(context.Context, attach.Inquiry) (attach.Answer, error),
) (words string, in conversation.ID, err error) {
	t := newTarget(newRun(front, r, Request{Resume: ResumeOptions{Continue: true}}, nil), id)
	defer func() { t.res.held.Release() }()
	l, waiting, err := t.waiting(ctx)
	if err != nil {
		return "", id, err
	}
	if waiting == nil {
		if l.tail != nil && event < 0 {
			if below := r.States().AsksFor(ctx, id, resume.DelegationsIn(l.tail), repo.MaxLevels); below != nil {
				t.res.held.Release()
				return AnswerRecorded(ctx, front, r, below.In.ID, event, to)
			}
		}
		return "", id, waitsForNone(id)
	}
	i := attach.InquiryOf(id, waiting)
	i.Subject = strings.TrimSpace(strings.TrimPrefix(resume.CallTitle(waiting.Call), i.Tool))
	t.res.held.Release() // others may use the conversation while the user is asked
	answer, err := to(ctx, i)
	if err != nil {
		return "", id, err
	}
	asked := waiting.Event.Seq
	if l, waiting, err = t.waiting(ctx); err != nil {
		return "", id, err
	}
	if waiting == nil || waiting.Event.Seq != asked {
		return "", id, waitsForNone(id)
	}
	if err := l.recorder(nil).Answer(ctx, waiting, live.AnswerOf(answer)); err != nil {
		return "", id, err
	}
	for _, e := range l.stream.Events() {
		if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.For == waiting.Event.Seq {
			words = e.Subject
		}
	}
	return words, id, nil
}

// waiting loads the conversation under its lock, and finds its waiting question, nil without one.
func (t *target) waiting(ctx context.Context) (*history, *conversation.Inquiry, error) {
	if err := t.lock(); err != nil {
		return nil, nil, t.run.repo.Processes().Locked(ctx, t.run.repo.Env, err)
	}
	l, err := t.load(ctx)
	if err != nil || l.tail == nil {
		return l, nil, err
	}
	if live := l.stream.Tail().Live(); len(live) > 0 {
		return l, live[0], nil
	}
	return l, nil, nil
}

func waitsForNone(id conversation.ID) *problem.Error {
	return problem.New(problem.ExitFailed, "not_found", "%s waits for no answer.", id).About(id).Hint(action.StatusOf(id.Short()), "what it does")
}
