package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/process"
	"jp/process/attach"
)

// The time limit for reaching a process that holds a conversation: it is starting, or ending.
const (
	reachable = 2 * time.Second
	reachGap  = 20 * time.Millisecond
)

// ErrNotRunning means that a conversation has no process.
var ErrNotRunning = errors.New("no process runs it")

// Connect reaches the process that runs a conversation. It fails with ErrNotRunning without one, and with a
// *attach.VersionError for a process of another version.
func (r Processes) Connect(ctx context.Context, id conversation.ID) (*attach.Client, error) {
	client, err := r.Reach(ctx, id)
	if err != nil && client != nil {
		client.Close()
		client = nil
	}
	return client, err
}

// Reach is Connect, with a client that can tell a process of another version to shut down.
func (r Processes) Reach(ctx context.Context, id conversation.ID) (*attach.Client, error) {
	registry, err := r.Registry()
	if err != nil {
		return nil, err
	}
	limit := time.NewTimer(reachable)
	defer limit.Stop()
	for {
		holder, held := r.repo.Locks.Held(id)
		if !held {
			return nil, ErrNotRunning
		}
		client, err := Dial(ctx, registry, id)
		var away *attach.RefusedError
		switch {
		case errors.As(err, &away) && !away.Ended:
			return nil, unreachable(id, holder, away)
		case !notYet(err):
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-limit.C:
			return nil, unreachable(id, holder, err)
		case <-time.After(reachGap):
		}
	}
}

// unreachable is the error of a process that cannot be connected to.
func unreachable(id conversation.ID, holder process.Holder, why error) *problem.Error {
	f := problem.New(problem.ExitLocked, "locked", "pid %d holds %s, and cannot be connected to: %v.", holder.PID, id, why).About(id)
	switch {
	case errors.Is(why, fs.ErrNotExist):
		f.Message = fmt.Sprintf("pid %d holds %s, and cannot be connected to: it has no socket here.", holder.PID, id)
	case errors.Is(why, os.ErrDeadlineExceeded):
		f.Message = fmt.Sprintf("pid %d holds %s, and does not answer.", holder.PID, id)
		f.Hint(action.Unfreeze(problem.Itoa(holder.PID)), "lets it go on, if it was stopped")
	}
	return f.Hint(action.Kill(id.Short()), "ends it; its turn can be resumed")
}

// notYet reports whether a process may be reached a little later.
func notYet(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, attach.ErrGone)
}

// Dial connects to the process, and checks that it is the right one.
func Dial(ctx context.Context, registry process.Registry, id conversation.ID) (*attach.Client, error) {
	if e, err := registry.Get(id); err == nil && !registry.SameRepository(e) {
		return nil, fs.ErrNotExist // a process of a copy of this repository
	}
	conn, err := registry.Dial(ctx, id)
	if err != nil {
		return nil, err
	}
	client, err := attach.Connect(ctx, conn)
	if err == nil && client.Hello().Conversation != id {
		client.Close()
		return nil, fmt.Errorf("connect to %s: the process runs %s", id, client.Hello().Conversation)
	}
	return client, err
}

// NotRunning is the error of a conversation without a process, with the commands that help.
func (r Processes) NotRunning(ctx context.Context, id conversation.ID, verb string) error {
	info, err := r.repo.Store.Info(ctx, id)
	if err != nil {
		return AboutConversation(err, id)
	}
	l := r.repo.States().List(ctx, info)
	status := l.Status
	f := problem.New(problem.ExitFailed, "not_found", "%s is not running, so there is nothing to %s; its last turn is complete.", id, verb).About(id)
	if status.State == "idle" {
		return f.Hint(action.Print(id.Short()), "what was said").Hint(action.AskIn(string(id)), "ask on")
	}
	f.Exit, f.Code = problem.ExitDecision, "incomplete_turn"
	f.Message = fmt.Sprintf("%s is not running: %s.", id, status.Words())
	if status.Question != nil {
		f.Details = append(f.Details, AskedWords(*status.Tool, "", *status.Question))
	}
	if l.Standing == conversation.StandingRolledBack {
		return f.Hint(action.AcceptHead(id.Short()), "its ref was set back: accept the older event as its newest")
	}
	if !l.Local {
		return f.Hint(action.Adopt(id.Short()), "it is "+cmp.Or(r.repo.Standings().Owner(l), "someone else's")+": make a fork of it that is yours")
	}
	return f.Hint(action.Continue(id.Short()), "goes on with the turn").Hint(action.Discard(id.Short()), "takes it back")
}
