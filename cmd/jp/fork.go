package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
)

type forkOptions struct {
	word     string // [ID][@E]
	until    string
	title    string
	activate bool
	adopt    bool
}

const forkHelp = `Make a new conversation that shares the events of another one up to E; without
E all of them. It costs one ref and one commit, however long the conversation
is. The source never changes. A cut inside a turn leaves an incomplete turn,
which jp continue goes on with.

A conversation that someone else wrote can be read and forked, and nothing of it
runs. --adopt makes the fork yours: calls that are open get an error in place of
a result, and what was allowed, remembered or reasoned there counts no more.

JSON: {"id","ref","head","forked_from":{"id","seq","commit"},"incomplete","worktree"}

Exit codes: 0 done · 2 usage · 3 written by a newer jp · 5 no such conversation
or event · 6 damaged before E`

func newForkCommand(e *env) *cobra.Command {
	var o forkOptions
	cmd := &cobra.Command{
		Use: "fork [ID][@E]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Make a new conversation out of another one, up to any event", Long: forkHelp,
		Example: "  jp fork @15                 # another way from here, also in the middle of a turn\n" +
			"  jp fork 4400 --until 15 -a  # and go on there\n  jp fork 4400 --adopt        # someone else's, made yours",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.word = strings.Join(args, "")
			return runFork(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.until, "until", "", "keep the events up to `E`, with it")
	f.StringVar(&o.title, "title", "", "give the fork a title")
	f.BoolVarP(&o.activate, "activate", "a", false, "make it this session's conversation")
	f.BoolVar(&o.adopt, "adopt", false, "make someone else's conversation yours")
	return cmd
}

// A fork is one that is being made.
type fork struct {
	*view
	opts   forkOptions
	at     *conversation.Event // the last event that is shared
	stream *conversation.Stream
	id     conversation.ID // the new one
	head   conversation.Head
	adopts bool
}

func runFork(ctx context.Context, e *env, o forkOptions) error {
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := newFork(ctx, e, r, o)
	if err != nil {
		return err
	}
	if err := f.create(ctx); err != nil {
		return err
	}
	if o.activate {
		if err := r.session(e).use(f.id, e.now()); err != nil {
			return err
		}
	}
	return f.report()
}

// newFork finds the event to fork at, and refuses what must not be added to.
func newFork(ctx context.Context, e *env, r *repo, o forkOptions) (*fork, error) {
	target, event := splitTarget(o.word)
	if o.until != "" {
		if event != "" {
			return nil, usage("jp fork takes one event: @%s or --until %s.", event, o.until)
		}
		event = o.until
	}
	v, err := r.view(ctx, e, target)
	if err != nil {
		return nil, err
	}
	f := &fork{view: v, opts: o, at: v.events[len(v.events)-1]}
	if event != "" {
		if f.at, err = selectEvent(v.events, event, v.id, e.now()); err != nil {
			return nil, err
		}
	} else if err := v.damage(nil); err != nil {
		return nil, err
	}
	kept := conversation.Slice(v.events, conversation.Cut{Until: &f.at.Seq})
	for _, ev := range kept {
		if ev.Opaque() {
			return nil, fail(exitDecision, "untrusted", "Event %d of %s was written by a newer jp; what comes after it cannot be added to.", ev.Seq, v.id).about(v.id).
				hint(fmt.Sprintf("jp fork %s@%d", v.id.Short(), max(0, ev.Seq-1)), "fork before it")
		}
	}
	f.adopts = o.adopt && !conversation.Local(kept)
	f.stream = conversation.Join(conversation.Split(kept))
	f.stream.SetClock(e.now)
	return f, nil
}

// take makes the ref under an id that is free.
func (f *fork) take(ctx context.Context, origin *conversation.Event) (err error) {
	const tries = 5
	for range tries {
		if f.id, err = conversation.NewID(f.env.now(), f.env.random); err != nil {
			return err
		}
		f.head, err = f.repo.store.Fork(ctx, f.view.id, conversation.Head(f.at.Commit), f.id, origin)
		if !errors.Is(err, conversation.ErrExists) {
			return err
		}
	}
	return err
}

// create makes the ref. The fork stands where the working tree is now: that is
// where it goes on.
func (f *fork) create(ctx context.Context) error {
	files, err := f.repo.openFiles(ctx)
	if err != nil {
		return err
	}
	place, err := files.place(ctx)
	if err != nil {
		return err
	}
	origin := &conversation.Event{
		Body: &conversation.ForkOrigin{Conversation: f.view.id, Seq: f.at.Seq, Commit: f.at.Commit, Adopted: f.adopts},
		Git:  place,
	}
	if place != nil {
		if now := moved(f.stream.Events(), *place); now != nil {
			origin.Git = now
		}
	}
	err = f.stream.Append(func(events []*conversation.Event) error { return f.take(ctx, events[0]) }, origin)
	if err != nil {
		return err
	}
	loop := turnloop.New(turnloop.Options{
		Journal: f.repo.store, ID: f.id, Head: f.head, Stream: f.stream, Tools: new(tool.Registry), Now: f.env.now,
	})
	if f.adopts {
		if err := loop.Adopt(ctx); err != nil {
			return err
		}
		f.head = loop.Head()
	}
	if f.opts.title == "" {
		return nil
	}
	return f.stream.Append(func(events []*conversation.Event) (err error) {
		f.head, err = f.repo.store.Append(ctx, f.id, f.head, events)
		return err
	}, &conversation.Event{Body: &conversation.Metadata{Title: &f.opts.title, TitleSource: "user"}})
}

func (f *fork) report() error {
	_, tail := conversation.Split(f.stream.Events())
	incomplete := tail != nil && !tail.Empty()
	if f.env.format.structured() {
		return writeJSON(f.env.results(), map[string]any{
			"id": f.id, "ref": refOf(f.id), "head": f.head, "incomplete": incomplete, "worktree": nil,
			"forked_from": map[string]any{"id": f.view.id, "seq": f.at.Seq, "commit": f.at.Commit},
		})
	}
	if !f.env.quiet {
		f.explain(tail, incomplete)
	}
	_, err := fmt.Fprintln(f.env.results(), f.id)
	return err
}

// explain says on stderr what the fork is, and what can be done with it.
func (f *fork) explain(tail *conversation.IncompleteTurn, incomplete bool) {
	out := f.env.stderr
	fmt.Fprintf(out, "Forked %s at @%d (turn %d, %s).\n", f.view.id, f.at.Seq, f.at.Turn, terminal.Show(conversation.Shorten(f.at.Subject, 40)))
	switch {
	case !conversation.Local(f.stream.Events()):
		fmt.Fprintf(out, "Someone else wrote it: it can be read. jp fork %s --adopt makes a fork that is yours.\n", f.id.Short())
	case f.opts.adopt && !f.adopts:
		fmt.Fprintln(out, "It was yours already; there was nothing to adopt.")
	}
	if !incomplete || !conversation.Local(f.stream.Events()) {
		return
	}
	line := fmt.Sprintf("Turn %d is incomplete there", tail.Number)
	if n := len(tail.Ledger().Open()); n > 0 {
		line += ": " + conversation.Count(n, "call") + " open"
	}
	fmt.Fprintf(out, "%s.   jp continue %s   goes on with it\n", line, f.id.Short())
}
