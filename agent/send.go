package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
)

// A QueuedJSON says that a running conversation keeps a message for its next boundary.
type QueuedJSON struct {
	Type         string          `json:"type"` // queued
	Conversation conversation.ID `json:"conversation"`
	PID          int             `json:"pid"`
	Waiting      int             `json:"waiting"` // messages, this one included
}

// Send gives a message to the process that runs a conversation. Without one it fails with
// [repo.ErrNotRunning].
func Send(ctx context.Context, r *repo.Repo, id conversation.ID, text string) (QueuedJSON, error) {
	if toolset.FromProgram(r) {
		return QueuedJSON{}, problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	if parent := r.States().AskedIn(ctx, id); parent != id {
		return QueuedJSON{}, problem.New(problem.ExitFailed, "not_found", "%s works for %s, and only that one takes messages.", id, parent).About(id).
			Hint(action.Attach(parent.Short()), "looks at it")
	}
	awaitEnd := r.Processes().AwaitEnd(id)
	client, err := r.Processes().Connect(ctx, id)
	if err != nil {
		return QueuedJSON{}, err
	}
	defer client.Close()
	waiting, err := say(client, text)
	switch {
	case errors.Is(err, attach.ErrGone):
		if err := awaitEnd(ctx); err != nil {
			return QueuedJSON{}, err
		}
		return QueuedJSON{}, repo.ErrNotRunning
	case err != nil:
		return QueuedJSON{}, problem.New(problem.ExitFailed, "not_found", "%s did not take the message: %v.", id, err).About(id).
			Hint(action.Attach(id.Short()), "looks at it")
	}
	return QueuedJSON{"queued", id, client.Hello().PID, waiting}, nil
}

// errOlder is the error of a process that leaves a message unanswered.
var errOlder = errors.New("its jp is older and takes no messages")

// say queues a message at a process, and waits until it is kept. An older process ignores it, and answers
// only the question for its status behind it.
func say(client *attach.Client, text string) (waiting int, err error) {
	for _, m := range []attach.Message{&attach.Say{Text: text}, &attach.Interrupt{}} {
		if err := client.Send(m); err != nil {
			return 0, err
		}
	}
	for {
		m, err := client.Next()
		if err != nil {
			return 0, err
		}
		switch m := m.(type) {
		case *attach.Queued:
			return m.Waiting, nil
		case *attach.Refused:
			return 0, errors.New(m.Reason)
		case *attach.Status:
			return 0, errOlder
		case *attach.Closing:
			return 0, attach.ErrGone
		}
	}
}
