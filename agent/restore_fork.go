package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process"
	"jp/turnloop"
	"jp/undo"
)

// A restoreFork goes back in place: a fork becomes the session's conversation, and the files come back to
// their state after the event. It holds the source meanwhile, so that other processes leave its turns alone.
type restoreFork struct {
	fork   *fork.Fork
	Files  *undo.Undo // the restore on which it stands, in the source
	Result *undo.Result
	place  conversation.Git
	held   *process.Lock
}

// NewRewind takes the source, and plans the restore.
func NewRewind(ctx context.Context, f *fork.Fork, word string, yes bool) (w *restoreFork, err error) {
	w = &restoreFork{fork: f}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	b, err := planRestore(f, word, yes)
	if err != nil {
		return w, err
	}
	if w.held, err = f.View.Repo.Hold(ctx, f.View.Repo.Env, f.View.ID); err != nil {
		return w, err
	}
	if b.Files, err = snapshot.OpenFiles(ctx, f.View.Repo); err != nil {
		return w, err
	}
	if b.Files.Off {
		return w, repo.WithoutSnapshots()
	}
	sight, result, err := b.Propose(ctx)
	w.Files, w.Result, w.place = b, result, sight.Git
	return w, err
}

// Close releases the source. [restoreFork.Again] takes it back.
func (w *restoreFork) Close() { w.held.Release() }

// Again takes the source after the user was asked. same reports whether it is as it was.
func (w *restoreFork) Again(ctx context.Context) (same bool, err error) {
	v := w.fork.View
	if w.held, err = v.Repo.Hold(ctx, v.Repo.Env, v.ID); err != nil {
		return false, err
	}
	head, err := v.Repo.Store.Head(ctx, v.ID)
	return head == v.Head, err
}

// Do makes the fork, puts the files back, and makes it the session's.
func (w *restoreFork) Do(ctx context.Context) error {
	f := w.fork
	if err := f.Create(ctx, &w.place); err != nil {
		return err
	}
	if len(w.Result.Puts) > 0 {
		if err := w.putFilesBack(ctx); err != nil {
			return err
		}
	}
	return GoOnIn(f)
}

// GoOnIn makes a fork the session's conversation. In a chat, the unsent text of its source goes along: it is
// in both until the fork is the session's.
func GoOnIn(f *fork.Fork) error {
	r, text := f.View.Repo, ""
	own := r.StateDir()
	if action.IsInChat() {
		text, _ = live.RequestDraft(own, f.View.ID) // an unreadable one stays
	}
	if text != "" {
		if err := errors.Join(live.KeepDraftPictures(own, live.RequestFile(f.ID), live.DraftPictures(own, live.RequestFile(f.View.ID))), live.KeepRequest(own, f.ID, text)); err != nil {
			return err
		}
	}
	if err := r.Session(r.Env).Use(f.ID, r.Env.Now()); err != nil || text == "" {
		return err
	}
	return errors.Join(live.KeepRequest(own, f.View.ID, ""), live.KeepDraftPictures(own, live.RequestFile(f.View.ID), nil))
}

// planRestore is the restore behind the rewind, in the source.
func planRestore(f *fork.Fork, word string, yes bool) (*undo.Undo, error) {
	if s := f.SourceStanding(); s != conversation.StandingOwn {
		words := f.View.Repo.Standings().StandingWords(s, f.View.Repo.Standings().Elsewhere(f.Kept))
		return nil, problem.New(problem.ExitDecision, "untrusted", "%s %s; its files are not brought back over yours.", f.View.ID, words).About(f.View.ID).
			Hint(action.ForkWorktree(f.View.ID.Short()), "look at them beside yours")
	}
	if f.View.Tail != nil {
		lost, _ := f.View.Tail.Ledger().Lost()
		for _, call := range lost {
			if f.View.Repo.Locks.ToolAlive(f.View.ID, call.Event.Seq) {
				return nil, problem.New(problem.ExitLocked, "locked", "%s of %s still runs, and may write files.", safetext.Show(call.Request.Name), f.View.ID).About(f.View.ID).
					Hint(action.Discard(f.View.ID.Short()), "end it, and take its turn back")
			}
		}
	}
	b := &undo.Undo{
		View: f.View, Opts: undo.Options{Action: "restore", Word: word, Yes: yes},
	}
	b.After(f.At, nil)
	return b, nil
}

// putFilesBack records in the fork the present state of the files, so that it can be undone, brings the files
// back, and records the restore.
func (w *restoreFork) putFilesBack(ctx context.Context) error {
	f, b, result := w.fork, w.Files, w.Result
	asOf, paths := f.Kept[len(f.Kept)-1], result.Paths()
	now, err := b.Files.Look(ctx, turnloop.SnapshotRequest{Tree: asOf.Tree, Named: paths})
	if err != nil {
		return err
	}
	if now.Tree != asOf.Tree {
		words := conversation.OutsideWords(now.Stat, func(path string, _ conversation.PathStat) bool { return slices.Contains(paths, path) })
		if err := f.Record(ctx, &conversation.Event{Body: repo.Outside(now), Tree: now.Tree, Objects: now.Objects, Subject: words}); err != nil {
			return err
		}
	}
	return b.Do(ctx, result, func(ctx context.Context, _, _ turnloop.SnapshotResult, r *undo.Result) error {
		after, err := b.Files.Look(ctx, turnloop.SnapshotRequest{Tree: now.Tree, Only: paths, Named: paths})
		if err == nil {
			err = f.Record(ctx, &conversation.Event{
				Body: r.Restored(asOf.Seq), Tree: after.Tree, Objects: after.Objects,
				Subject: fmt.Sprintf("restore: %s as after %d", conversation.Count(len(r.Puts), "file"), asOf.Seq),
			})
		}
		if err != nil {
			return fmt.Errorf("the files were put back, but not recorded: %w", err)
		}
		return nil
	})
}
