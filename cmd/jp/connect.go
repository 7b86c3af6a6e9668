package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"jp/conversation"
	"jp/process"
	"jp/process/attach"
)

// How long a process that holds a conversation is waited for until it can be
// reached: it is starting, or ending.
const (
	reachable = 2 * time.Second
	reachGap  = 20 * time.Millisecond
)

// errNotRunning says that no process runs a conversation.
var errNotRunning = errors.New("no process runs it")

// connect reaches the process that runs a conversation. It is errNotRunning where
// none does, and a *attach.VersionError for a process of another version.
func (r processes) connect(ctx context.Context, id conversation.ID) (*attach.Client, error) {
	client, err := r.reach(ctx, id)
	if err != nil && client != nil {
		client.Close()
		client = nil
	}
	return client, err
}

// reach is connect, with a client that can tell a process of another version to
// shut down.
func (r processes) reach(ctx context.Context, id conversation.ID) (*attach.Client, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	limit := time.NewTimer(reachable)
	defer limit.Stop()
	for {
		holder, held := r.locks.Held(id)
		if !held {
			return nil, errNotRunning
		}
		client, err := dial(ctx, registry, id)
		var away *attach.TurnedAwayError
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

// unreachable says that a process cannot be spoken with.
func unreachable(id conversation.ID, holder process.Holder, why error) *failure {
	f := fail(exitLocked, "locked", "pid %d holds %s, and cannot be connected to: %v.", holder.PID, id, why).about(id)
	switch {
	case errors.Is(why, fs.ErrNotExist):
		f.message = fmt.Sprintf("pid %d holds %s, and cannot be connected to: it has no socket here.", holder.PID, id)
	case errors.Is(why, os.ErrDeadlineExceeded):
		f.message = fmt.Sprintf("pid %d holds %s, and does not answer.", holder.PID, id)
		f.hint(fmt.Sprintf("kill -CONT %d", holder.PID), "lets it go on, if it was stopped")
	}
	return f.hint("jp kill "+id.Short(), "ends it; its turn can be resumed")
}

// notYet reports whether a process may be reached a little later.
func notYet(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, attach.ErrGone)
}

// dial connects to the process, and makes sure of whom it has reached.
func dial(ctx context.Context, registry process.Registry, id conversation.ID) (*attach.Client, error) {
	if e, err := registry.Get(id); err == nil && !registry.Owns(e) {
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

// notRunning says what can be done with a conversation that no process runs.
func (r processes) notRunning(ctx context.Context, id conversation.ID, verb string) error {
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return aboutConversation(err, id)
	}
	l := r.states().list(ctx, info)
	status := l.Status
	f := fail(exitFailed, "not_found", "%s is not running, so there is nothing to %s; its last turn is complete.", id, verb).about(id)
	if status.State == "idle" {
		return f.hint("jp print "+id.Short(), "what was said").hint("jp query --id="+string(id)+` "…"`, "ask on")
	}
	f.exit, f.code = exitDecision, "incomplete_turn"
	f.message = fmt.Sprintf("%s is not running: %s.", id, status.words())
	if status.Question != nil {
		f.details = append(f.details, fmt.Sprintf("%s — %q", *status.Tool, *status.Question))
	}
	if l.setBack {
		return f.hint("jp trust --head "+id.Short(), "its ref was set back: accept the older event as its newest")
	}
	if !l.Local {
		return f.hint("jp fork "+id.Short()+" --adopt -a", "it is someone else's: make a fork of it that is yours")
	}
	return f.hint("jp continue "+id.Short(), "goes on with the turn").hint("jp discard "+id.Short(), "takes it back")
}
