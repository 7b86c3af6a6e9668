package agent

import (
	"context"
	"errors"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/process/attach"
)

// Await waits until a conversation has come to something, and says what: its turn has ended, or a question waits. Until "idle" it
// waits through questions. On an error it says what the conversation is by then.
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

// reached reports whether a state is one that is waited for.
func reached(s repo.Status, until string) bool {
	switch {
	case s.PID == nil: // nothing changes by itself any more
		return true
	case s.State == "waiting_for_input":
		return until != "idle"
	}
	return false
}

// news waits until something may have changed: the process says so, or it ends.
// asker is the conversation that is to be looked at.
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
