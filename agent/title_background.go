package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/agent/models"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/internal/version"
)

const (
	titleTurns = 3         // turns of its own after which a conversation keeps the title that it has
	titleWait  = time.Hour // how long a title waits for the conversation
	titlePoll  = 300 * time.Millisecond
)

// titleDue reports whether a model is to write the title: the newest turn is the first one of the
// conversation or of a fork's own, or an earlier try failed. A title of the user's stays, in forks as well. A
// delegate has none.
func titleDue(events []*conversation.Event, now time.Time) bool {
	turns, written, byUser := 0, false, false
	var first time.Time
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ForkOrigin:
			turns, written = 0, false
		case *conversation.TurnDone:
			if e.Was == nil {
				if turns++; turns == 1 {
					first = e.Time
				}
			}
		case *conversation.Metadata:
			if b.Parent != "" {
				return false
			}
			if b.Title != nil {
				byUser = b.TitleSource == "user"
				written = b.TitleSource == "model" && e.Was == nil
			}
		}
	}
	return !written && !byUser && (turns == 1 || turns > 1 && turns <= titleTurns && now.Sub(first) > titleTime)
}

// titleModel is the model that writes titles beside a conversation that asks another one, or "".
func titleModel(r *repo.Repo, conversations string) string {
	if name := r.Config.Titles.Model; name != config.TitlesAuto {
		return r.Config.ResolveModel(name)
	}
	return models.ProvidersOf(r).SmallModel(r.Env, r.Config.ResolveModel(conversations))
}

// giveTitle starts a process that lets a model write the title, if it is due. The process outlives this one.
func (l *history) giveTitle() {
	events, r := l.stream.Events(), l.run.repo
	if l.run.delegation != nil || r.Git == nil || !titleDue(events, l.run.env.Now()) || titleModel(r, conversation.ModelOf(events)) == "" {
		return
	}
	args := []string{"-C", r.Place(), "edit", "--title", "--background", string(l.target.id)}
	for _, pair := range l.run.env.Cfg {
		args = append(args, "--cfg", pair)
	}
	cmd := exec.Command(version.OwnProgram(), args...)
	cmd.Args[0], cmd.Env = os.Args[0], l.run.env.Environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil { // without a title the conversation has its first request's
		go cmd.Wait() // reap it, since this process may serve many turns
	}
}

// GiveTitle lets a model write the title of a conversation, if it is due, and records it as soon as the
// conversation is free.
func GiveTitle(ctx context.Context, r *repo.Repo, id conversation.ID) error {
	if r.Wrong != nil {
		return r.Wrong
	}
	ctx, cancel := context.WithTimeout(ctx, titleWait)
	defer cancel()
	info, err := r.Store.Info(ctx, id)
	if err == nil {
		err = r.Standings().Foreign(ctx, info)
	}
	if err != nil {
		return err
	}
	events, err := r.Store.Load(ctx, info.Head)
	if err != nil {
		return repo.AboutConversation(err, id)
	}
	model := titleModel(r, conversation.ModelOf(events))
	if model == "" || !titleDue(events, r.Env.Now()) {
		return nil
	}
	written, err := titleOf(ctx, r, events, id, model, func(string) {})
	if err != nil {
		return err
	}
	was := info.Summary
	for {
		var failed error
		free, err := r.Locks.IfFree(id, func() {
			now, err := r.Store.Info(ctx, id)
			if failed = err; err != nil {
				return
			}
			if now.Summary.Title != was.Title || now.Summary.TitleSource != was.TitleSource || now.Summary.ArchivedAt != nil {
				*written = conversation.Metadata{Model: written.Model, Usage: written.Usage} // its usage counts all the same
			}
			if written.Title != nil || written.Usage != nil {
				_, failed = r.Store.Append(ctx, id, now.Head, []*conversation.Event{repo.Record(now, written, r.Env.Now())})
			}
		})
		if free || err != nil {
			return errors.Join(err, failed)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(titlePoll):
		}
	}
}
