package agent

import (
	"context"

	"jp/agent/contextfiles"
	"jp/conversation"
	"jp/turnloop"
)

// A question is a new turn of a conversation whose earlier turns are settled.
type question struct {
	run     *run
	res     *resources
	target  *target
	history *history
	turn    *turn

	discarded *conversation.Event // the question of the turn that was just discarded, or nil
	drafted   string              // the text that the user wrote in an editor
}

func newQuestion(t *turn) *question {
	return &question{run: t.run, res: t.res, target: t.target, history: t.history, turn: t}
}

func (s *question) ask(ctx context.Context) error {
	loop, err := s.turn.prepare(ctx, nil, nil)
	if err != nil {
		return err
	}
	request, err := s.request(ctx)
	if err != nil {
		return err
	}
	if s.target.fresh { // other processes do not know the id yet, and an earlier error leaves no lock
		if err := s.target.lock(); err != nil {
			return err
		}
	}
	keptMessages{s.run, s.res.messages, s.target.id}.tell(ctx)
	if s.run.opts.Detach {
		return s.target.detach(ctx, func() error {
			if err := loop.Begin(ctx, request); err != nil {
				return err
			}
			s.history.head = loop.Head()
			s.target.forgetDraft(s.drafted, request.Chat.Content)
			return nil
		})
	}
	if err := s.turn.register(); err != nil {
		return err
	}
	s.turn.outcome, err = loop.Start(ctx, request)
	if s.history.head = loop.Head(); s.turn.outcome.Turn > 0 {
		s.target.forgetDraft(s.drafted, request.Chat.Content)
	}
	return s.turn.verdict(context.WithoutCancel(ctx), err)
}

func (s *question) request(ctx context.Context) (turnloop.Request, error) {
	files, err := (contextfiles.AttachmentSource{Repo: s.run.repo, Env: s.run.env, ID: s.target.id, Fresh: s.target.fresh, Input: s.run.front.Input(), Resource: s.turn.resource}).Read(ctx, s.run.opts.Input.Attachments)
	if err != nil {
		return turnloop.Request{}, err
	}
	schema, err := s.run.opts.parseSchema(s.run.env)
	if err != nil {
		return turnloop.Request{}, err
	}
	text, again, err := s.text(ctx)
	if err != nil {
		return turnloop.Request{}, err
	}
	if s.run.opts.Input.Prompt != nil {
		said, given, err := s.turn.prompt(ctx, *s.run.opts.Input.Prompt)
		if err != nil {
			return turnloop.Request{}, err
		}
		text += "\n\n" + said
		files = append(files, given...)
	}
	r := turnloop.Request{Chat: conversation.ChatRequest{Content: text, Schema: schema}}
	if again != nil {
		contextfiles.RepeatAttachments(&r, again)
	}
	contextfiles.AddAttachments(&r, append(files, s.run.opts.Input.Given...))
	if s.run.opts.Turn.Yes {
		r.Approved = conversation.ApproveAll()
	}
	if s.run.opts.Target.Title != "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &s.run.opts.Target.Title, TitleSource: "user"}})
	}
	var decide decider
	if s.res.user != nil {
		decide = s.turn.decide
	}
	given, err := instructionsForTurn(ctx, s.turn.instructions, s.history.stream.Events(), decide, s.run.out)
	if err != nil {
		return r, err
	}
	r.Records = append(r.Records, given...)
	if note := s.history.note(ctx); note != nil {
		r.Records = append(r.Records, note)
	}
	if s.run.opts.Turn.Beside {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Note{Content: besideNote}})
	}
	if delta, err := s.turn.delta(); err != nil || delta != nil {
		if err != nil {
			return r, err
		}
		r.Records = append(r.Records, delta)
	}
	if title := forkTitle(s.history.stream.Events(), text); title != "" && s.run.opts.Target.Title == "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &title, TitleSource: "request"}})
	}
	return r, s.target.remember()
}
