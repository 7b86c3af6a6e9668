package main

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
	"jp/turnloop"
)

// A rewind goes back in place: a fork becomes the session's conversation, and the files
// come back to what they were after the event. The source is held meanwhile, so that
// nobody goes on with it.
type rewind struct {
	fork   *fork
	files  *putBack // the restore on which it stands, in the source
	result *putBackResult
	place  conversation.Git
	held   *process.Lock
}

// newRewind takes the source, and says what would be put back.
func newRewind(ctx context.Context, f *fork, word string, yes bool) (w *rewind, err error) {
	w = &rewind{fork: f}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	b, err := f.putBack(word, yes)
	if err != nil {
		return w, err
	}
	if w.held, err = f.repo.hold(ctx, f.repo.env, f.view.id); err != nil {
		return w, err
	}
	if b.files, err = f.repo.openFiles(ctx); err != nil {
		return w, err
	}
	if b.files.off {
		return w, withoutSnapshots()
	}
	sight, result, err := b.propose(ctx)
	w.files, w.result, w.place = b, result, sight.Git
	return w, err
}

// close lets go of the source.
func (w *rewind) close() { w.held.Release() }

// do makes the fork, puts the files back, and makes it the session's.
func (w *rewind) do(ctx context.Context) error {
	f := w.fork
	if err := f.create(ctx, &w.place); err != nil {
		return err
	}
	if len(w.result.puts) > 0 {
		if err := w.putFilesBack(ctx); err != nil {
			return err
		}
	}
	return f.repo.session(f.repo.env).use(f.id, f.repo.env.now())
}

// putBack is the restore on which the rewind stands, in the source.
func (f *fork) putBack(word string, yes bool) (*putBack, error) {
	if s := f.sourceStanding(); s != conversation.StandingOwn {
		words := f.repo.standings().standingWords(s, f.repo.standings().elsewhere(f.kept))
		return nil, fail(exitDecision, "untrusted", "%s %s; its files are not brought back over yours.", f.view.id, words).about(f.view.id).
			hint("jp fork "+f.view.id.Short()+" --worktree DIR", "look at them beside yours")
	}
	if f.tail != nil {
		lost, _ := f.tail.Ledger().Lost()
		for _, call := range lost {
			if f.repo.locks.ToolAlive(f.view.id, call.Event.Seq) {
				return nil, fail(exitLocked, "locked", "%s of %s still runs, and may write files.", safetext.Show(call.Request.Name), f.view.id).about(f.view.id).
					hint("jp discard "+f.view.id.Short(), "end it, and take its turn back")
			}
		}
	}
	b := &putBack{
		view: f.view, opts: putBackOptions{action: "restore", word: word, yes: yes},
	}
	b.after(f.at, nil)
	return b, nil
}

// putFilesBack records in the fork what the files are now, so that it can be
// undone, brings them back, and records that.
func (w *rewind) putFilesBack(ctx context.Context) error {
	f, b, result := w.fork, w.files, w.result
	asOf, paths := f.kept[len(f.kept)-1], result.paths()
	now, err := b.files.Look(ctx, turnloop.Glance{Tree: asOf.Tree, Named: paths})
	if err != nil {
		return err
	}
	if now.Tree != asOf.Tree {
		if err := f.record(ctx, &conversation.Event{Body: outside(now), Tree: now.Tree, Objects: now.Objects}); err != nil {
			return err
		}
	}
	return b.do(ctx, result, func(ctx context.Context, _, _ turnloop.Sight, r *putBackResult) error {
		after, err := b.files.Look(ctx, turnloop.Glance{Tree: now.Tree, Only: paths, Named: paths})
		if err == nil {
			err = f.record(ctx, &conversation.Event{
				Body: r.restored(asOf.Seq), Tree: after.Tree, Objects: after.Objects,
				Subject: fmt.Sprintf("restore: %s as after %d", conversation.Count(len(r.puts), "file"), asOf.Seq),
			})
		}
		if err != nil {
			return fmt.Errorf("the files were put back, but not recorded: %w", err)
		}
		return nil
	})
}
