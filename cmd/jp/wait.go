package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

const exitTimeout = 124

type waitOptions struct {
	asked   bool
	words   []string
	until   string
	timeout time.Duration
}

func runWait(ctx context.Context, e *ui.Env, o waitOptions) error {
	switch {
	case o.until != "" && o.until != "idle" && o.until != "input":
		return problem.Usage("invalid --for %q (want idle or input).", o.until)
	case o.timeout < 0:
		return problem.Usage("--timeout %s is in the past.", o.timeout)
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.States().Sweep(ctx, e.Host)
	if o.timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeIsUp)
		defer cancel()
		ctx = limited
	}
	if len(o.words) == 0 {
		o.words = []string{""}
	}
	var ids []conversation.ID
	for _, word := range o.words {
		id, err := r.Find().ResolveRunning(ctx, e.Host, word, action.Wait, repo.Runs, false)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return waitAll(ctx, e, r, ids, o.until)
}

var errTimeIsUp = errors.New("the time is up")

// A waited is the result of waiting for a conversation, or the error.
type waited struct {
	at  int // among those that were named
	l   repo.Summary
	err error
}

// waitAll waits for all conversations, and reports each as soon as it ends. The exit
// code is the worst one.
func waitAll(ctx context.Context, e *ui.Env, r *repo.Repo, ids []conversation.ID, until string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make(chan waited)
	for at, id := range ids {
		go func() {
			l, err := agent.Await(ctx, r, id, until)
			all <- waited{at, l, err}
		}()
	}
	exit, found := 0, make([]repo.Summary, len(ids))
	var failed error
	for range ids {
		w := <-all
		found[w.at] = w.l
		switch {
		case errors.Is(w.err, errTimeIsUp) && failed == nil:
			failed = problem.New(exitTimeout, "interrupted", "the time is up; %s is %s.", ids[w.at], w.l.Status.Words()).About(ids[w.at])
		case w.err != nil && failed == nil:
			failed = w.err
			cancel()
		case w.err == nil:
			exit = max(exit, waitExit(w.l.Status))
			if !e.Format.Structured() {
				sayWaited(e, w.l)
			}
		}
	}
	if failed != nil {
		return failed
	}
	if e.Format.Structured() {
		if err := ui.WriteJSON(e.Results(), found); err != nil {
			return err
		}
	}
	if exit != 0 {
		return &problem.Error{Exit: exit, Code: "incomplete_turn", Silent: true}
	}
	return nil
}

func waitExit(s repo.Status) int {
	switch s.State {
	case "idle":
		return 0
	case "waiting_for_input":
		return problem.ExitDecision
	}
	return problem.ExitFailed
}

// sayWaited prints the outcome of the wait: the question on stdout, all else on stderr.
func sayWaited(e *ui.Env, l repo.Summary) {
	if q := l.Status.Question; q != nil {
		fmt.Fprintf(e.Results(), "%s  %s\n", l.ID, repo.AskedWords(*l.Status.Tool, "", *q))
		return
	}
	e.Note("%s: %s", l.ID, strings.TrimSpace(l.Status.Words()))
	if why := l.Status.Reason; why != nil {
		e.Note("  %s", safetext.Clean(problem.OneLine(*why)))
	}
}
