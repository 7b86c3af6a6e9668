package agent

import (
	"context"

	"jp/agent/attachments"
	"jp/conversation"
	"jp/turnloop"
)

// A ready conversation has no incomplete turn that keeps the user from asking.
type ready struct {
	*equipped
	discarded *conversation.Event // the question of the turn that was just taken back, nil if none was
	drafted   string              // what the user wrote in an editor
}

// ask runs a new turn.
func (s *ready) ask(ctx context.Context) error {
	loop, err := s.prepare(ctx, nil, nil)
	if err != nil {
		return err
	}
	request, err := s.request(ctx)
	if err != nil {
		return err
	}
	if s.fresh { // no other process knows the id: an error before this leaves no lock
		if err := s.lock(); err != nil {
			return err
		}
	}
	if s.opts.Detach {
		return s.detach(ctx, func() error {
			if err := loop.Begin(ctx, request); err != nil {
				return err
			}
			s.head = loop.Head()
			s.forgetDraft(s.drafted, request.Chat.Content)
			return nil
		})
	}
	if err := s.register(); err != nil {
		return err
	}
	s.outcome, err = loop.Start(ctx, request)
	if s.head = loop.Head(); s.outcome.Turn > 0 {
		s.forgetDraft(s.drafted, request.Chat.Content)
	}
	return s.verdict(err)
}

// request is what the turn begins with.
func (s *ready) request(ctx context.Context) (turnloop.Request, error) {
	files, err := (attachments.Source{Repo: s.repo, Env: s.env, ID: s.id, Fresh: s.fresh, Input: s.front.Input(), Resource: s.resource}).Read(ctx, s.opts.Attachments)
	if err != nil {
		return turnloop.Request{}, err
	}
	schema, err := s.opts.parseSchema(s.env)
	if err != nil {
		return turnloop.Request{}, err
	}
	text, again, err := s.text(ctx)
	if err != nil {
		return turnloop.Request{}, err
	}
	if s.opts.Prompt != nil {
		said, given, err := s.prompt(ctx, *s.opts.Prompt)
		if err != nil {
			return turnloop.Request{}, err
		}
		text += "\n\n" + said
		files = append(files, given...)
	}
	r := turnloop.Request{Chat: conversation.ChatRequest{Content: text, Schema: schema}}
	if again != nil {
		attachments.Repeat(&r, again)
	}
	attachments.AddTo(&r, append(files, s.opts.Given...))
	if s.opts.Yes {
		r.Approved = conversation.ApproveAll()
	}
	if s.opts.Title != "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &s.opts.Title, TitleSource: "user"}})
	}
	var decide decider
	if s.user != nil {
		decide = s.decide
	}
	given, err := instructionsForTurn(ctx, s.instructions, s.stream.Events(), decide, s.out)
	if err != nil {
		return r, err
	}
	r.Records = append(r.Records, given...)
	if note := s.note(ctx); note != nil {
		r.Records = append(r.Records, note)
	}
	if delta, err := s.delta(); err != nil || delta != nil {
		if err != nil {
			return r, err
		}
		r.Records = append(r.Records, delta)
	}
	return r, s.remember()
}
