package agent

import (
	"context"
	"errors"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/process/attach"
)

// Await waits until the turn of a conversation ends or a question is waiting, and returns the conversation's
// summary. With until "idle" it waits through questions. With an error it returns the latest summary.
func Await(ctx context.Context, r *repo.Repo, id conversation.ID, until string) (l repo.Summary, waiting error) {
	for {
		info, err := r.Store.Info(context.WithoutCancel(ctx), id)
		if err != nil {
			return repo.Summary{}, repo.AboutConversation(err, id)
		}
		l = r.States().List(context.WithoutCancel(ctx), info)
		if waiting != nil || reached(l.Status, until) {
			return l, waiting
		}
		asker := id
		if asker, waiting = news(ctx, r, id, until); asker == id {
			continue
		}
		if info, err := r.Store.Info(context.WithoutCancel(ctx), asker); err == nil {
			if l := r.States().List(context.WithoutCancel(ctx), info); reached(l.Status, until) {
				return l, nil // its delegate's question
			}
		}
	}
}

func reached(s repo.Status, until string) bool {
	switch {
	case s.PID == nil: // without a process the state stays
		return true
	case s.State == "waiting_for_input":
		return until != "idle"
	}
	return false
}

// news waits until the process reports a change, or ends. asker is the conversation to look at.
func news(ctx context.Context, r *repo.Repo, id conversation.ID, until string) (asker conversation.ID, err error) {
	holder, _ := r.Locks.Held(id)
	client, err := r.Processes().Connect(ctx, id)
	switch {
	case errors.Is(err, repo.ErrNotRunning):
		return id, nil
	case err != nil && ctx.Err() != nil:
		return id, context.Cause(ctx)
	case err != nil: // it holds the conversation, and cannot be asked
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = r.Locks.AwaitFree(limited, id)
		return id, context.Cause(ctx)
	}
	defer client.Close()
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	for {
		m, err := client.Next()
		if ctx.Err() != nil {
			return id, context.Cause(ctx)
		}
		if err != nil {
			return id, nil
		}
		switch m := m.(type) {
		case *attach.Inquiry:
			if until != "idle" {
				return m.Conversation, nil
			}
		case *attach.Closing:
			return id, r.Locks.AwaitEnd(ctx, id, holder)
		}
	}
}
