package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/process/attach"
)

type attachOptions struct {
	tail    int // -1: the current turn
	after   int // number of an event; -1: as tail says
	partial bool
}

const attachHelp = `Look at a turn that runs, from this terminal: what it has done, then what it does.
While you are attached its questions are asked here, and Ctrl+C opens the menu.
Ctrl+Z or Ctrl+\ leaves; the turn goes on. Piped, or with --json, it is only
followed, and nothing is asked here; with --after whoever was cut off goes on where
it was, and sees each event once.

JSON: docs/json.md

Exit codes: 0 left, or the turn is complete · 1 nothing runs, or the process is
gone · 2 usage · 3 nothing runs and the turn is incomplete · 4 somebody is attached
already · 5 no such conversation; else as jp query`

func newAttachCommand(e *env) *cobra.Command {
	o := attachOptions{tail: -1, after: -1}
	cmd := &cobra.Command{
		Use: "attach [ID]", Short: "Look at a turn that runs, and answer it", GroupID: "run", Args: cobra.MaximumNArgs(1),
		Long:    attachHelp,
		Example: "  jp attach\n  jp attach 4400 --tail 5\n  jp attach 4400 --json | jq -c 'select(.type==\"tool_call_response\")'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := atLeast(cmd.Flags(), 0, "tail", "after"); err != nil {
				return err
			}
			return runAttach(cmd.Context(), e, o, strings.Join(args, ""))
		},
	}
	cmd.Flags().IntVar(&o.tail, "tail", -1, "begin with the last `N` events and the current turn; 0: only the question that waits")
	cmd.Flags().IntVar(&o.after, "after", -1, "begin behind the event with this `NUMBER`")
	cmd.MarkFlagsMutuallyExclusive("tail", "after")
	cmd.Flags().BoolVar(&o.partial, "partial", false, "with jsonl: also text that is not durable yet")
	return cmd
}

func runAttach(ctx context.Context, e *env, o attachOptions, word string) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.states().sweep(ctx, e.host)
	id, err := r.find().resolveRunning(ctx, e.host, word, "jp attach ", runs)
	if err != nil {
		return err
	}
	id = r.states().askedIn(ctx, id)
	peer, err := r.processes().connect(ctx, id)
	var version *attach.VersionError
	switch {
	case errors.Is(err, errNotRunning):
		return r.processes().notRunning(ctx, id, "attach to")
	case errors.As(err, &version):
		return fail(exitFailed, "internal", "%s: %v.", id, version).about(id).hint("jp kill "+id.Short(), "ends it; its turn can be resumed")
	case err != nil:
		return err
	}
	a := &attachment{env: e, repo: r, id: id, peer: peer, inbox: newInbox()}
	a.ends = r.processes().awaitEnd(id)
	defer a.close()
	if !e.format.structured() && isTerminal(e.stdout) {
		if a.person = openClient(&terminalFront{env: e, repo: r}); a.person != nil {
			a.person.tty.MayLeave()
		}
	}
	if a.person != nil && peer.Hello().Attached {
		return a.refused("somebody is attached already")
	}
	a.show = a.newShow(o)
	leave, menu := a.keys() // before anything is shown: then the keys work
	defer a.noKeys()
	if err := a.begin(ctx, o); err != nil {
		return err
	}
	return a.run(ctx, leave, menu)
}

// begin shows what there was, and becomes the one who is asked.
func (a *attachment) begin(ctx context.Context, o attachOptions) error {
	if a.person != nil {
		if err := a.peer.Send(&attach.Attach{V: attach.Version}); err != nil {
			return err
		}
	}
	events, from, err := a.window(ctx, o)
	if err != nil {
		return aboutConversation(err, a.id)
	}
	a.turn = events
	a.show.replay(events, from)
	a.reader.Go(func() { a.inbox.fill(ctx, a.peer.Follow(a.peer.Hello().Seq, a.repo.store.Back)) })
	return nil
}

// window are the events of the current turn, and those before it that are to be
// shown; from is the number of the first one that is.
func (a *attachment) window(ctx context.Context, o attachOptions) (events []*conversation.Event, from int, err error) {
	hello := a.peer.Hello()
	if o.after > hello.Seq {
		return nil, 0, fail(exitNotFound, "not_found", "%s has no event %d; its last is %d.", a.id, o.after, hello.Seq)
	}
	if hello.Head == "" {
		return nil, 0, nil
	}
	w := attachWindow{attachOptions: o, from: hello.Seq + 1}
	for e, err := range a.repo.store.Back(ctx, hello.Head) {
		if err != nil {
			return nil, 0, err
		}
		if events = append(events, e); w.reached(e) {
			break
		}
	}
	slices.Reverse(events)
	return events, w.from, nil
}

// An attachWindow finds out, event by event from the newest one, how far back is
// shown, and how far has to be read.
type attachWindow struct {
	attachOptions
	from    int  // the first event that is shown
	content int  // events so far that have something to read
	begun   bool // the current turn's start was among them
}

// reached reports whether an event is the last one that has to be read.
func (w *attachWindow) reached(e *conversation.Event) bool {
	if !e.Type().Internal() && e.Type() != conversation.TypeTurnStart {
		w.content++
	}
	switch {
	case w.after >= 0:
		w.from = w.after + 1
	case w.tail != 0 && (!w.begun || w.content <= w.tail):
		w.from = e.Seq
	}
	w.begun = w.begun || e.Type() == conversation.TypeTurnStart
	if w.after >= 0 {
		return w.begun && e.Seq <= w.after
	}
	return w.begun && w.content >= w.tail
}
