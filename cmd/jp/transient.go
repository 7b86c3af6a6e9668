package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
)

// checkTransient refuses what would have to be recorded.
func (o queryOptions) checkTransient() error {
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"--fork", o.fork != ""}, {"--title", o.title != ""}, {"--detach", o.detach}, {"--continue-turn", o.continueTurn},
		{"--discard-turn", o.discardTurn}, {"--pending", o.pending != ""}, {"--anyway", o.anyway},
	} {
		if other.given {
			return usage("--no-persist records nothing, and %s does.", other.flag)
		}
	}
	switch p := turnloop.Policy(o.policy); p {
	case turnloop.PolicyQueue, turnloop.PolicyDefer:
		return usage("--no-persist records nothing, and with --policy %s a question waits.", p)
	}
	return nil
}

// runTransient runs a turn of which nothing is recorded, behind what is. It holds
// nothing, so that it can be asked while another process works in the conversation,
// and leaves out a turn that is incomplete.
func (q *query) runTransient(ctx context.Context) (err error) {
	defer func() { err = q.out.ended(q.outcome, err) }()
	if err := q.target(ctx); err != nil {
		return err
	}
	defer func() {
		q.unlisten()
		q.client.close()
		q.servers.close()
	}()
	if q.repo.values != nil {
		q.repo.values.still = true
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	q.leaveIncomplete()
	loop, err := q.loop(ctx)
	if err != nil {
		return err
	}
	request, err := q.request(ctx)
	if err != nil {
		return err
	}
	q.outcome, err = loop.Start(ctx, request)
	return q.transientVerdict(err)
}

// leaveIncomplete goes back to behind the last complete turn.
func (q *query) leaveIncomplete() {
	if q.tail == nil {
		return
	}
	q.env.note("Turn %d of %s is incomplete (%s); it is left out.", q.tail.Number, q.id, q.repo.tailWords(q.id, q.tail))
	q.events = q.events[:len(q.events)-len(q.tail.Events)]
	q.stream, _ = conversation.Split(q.events)
	q.stream.SetClock(q.env.now)
	if q.tail, q.head = nil, ""; len(q.events) > 0 {
		q.head = conversation.Head(q.events[len(q.events)-1].Commit)
	}
}

// readers are those of the tools that change nothing. One that was asked for by its
// name must be one of them.
func (q *query) readers(registry *tool.Registry, names []string) ([]string, error) {
	changes := func(name string) bool {
		t, found := registry.Lookup(name)
		return found && t.Definition().Effect != tool.Reads
	}
	for _, name := range q.opts.tools {
		if changes(name) {
			return nil, usage("%s may change things; with --no-persist the model only reads.", terminal.Show(name))
		}
	}
	return slices.DeleteFunc(names, changes), nil
}

// known is the conversation's id, "" where that is none that anybody could use.
func (q *query) known() conversation.ID {
	if q.opts.noPersist && q.fresh {
		return ""
	}
	return q.id
}

// editAside lets the user write the text in a file of its own, which nothing keeps.
func (q *query) editAside(ctx context.Context, text string) (string, error) {
	f, err := os.CreateTemp("", "jp-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text + "\n\n" + q.besideDraft())
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := q.env.editor(ctx, q.repo, f.Name()); err != nil {
		return "", err
	}
	written, err := os.ReadFile(f.Name())
	return asksOf(string(written)), err
}

// transientVerdict is verdict for a turn that nobody can go on with.
func (q *query) transientVerdict(err error) error {
	if err = q.verdict(err); err == nil {
		return nil
	}
	f := failureOf(err)
	if f.conversation == q.id {
		f.conversation = q.known()
	}
	f.hints = slices.DeleteFunc(f.hints, func(h hint) bool { return strings.Contains(h.Command, q.id.Short()) })
	return f
}
