package main

import (
	"context"
	"fmt"
	"io"

	"jp/cmd/jp/internal/takeback"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// rewind goes back in place: the fork becomes the session's conversation, and
// the files come back to what they were after the event. The source is held
// meanwhile, so that nobody goes on with it.
func (f *fork) rewind(ctx context.Context, o forkOptions) error {
	b, err := f.putBack(o)
	if err != nil {
		return err
	}
	held, err := f.repo.hold(ctx, f.env.host, f.view.id)
	if err != nil {
		return err
	}
	defer held.Release()
	if b.files, err = f.repo.openFiles(ctx); err != nil {
		return err
	}
	if b.files.off {
		return withoutSnapshots()
	}
	sight, result, err := b.propose(ctx)
	if err != nil {
		return err
	}
	if len(result.puts) > 0 && !o.yes {
		if err := b.confirmRewind(ctx, result); err != nil {
			return err
		}
	}
	return f.goBack(context.WithoutCancel(ctx), b, result, sight.Git)
}

// putBack is the restore on which the rewind stands, in the source.
func (f *fork) putBack(o forkOptions) (*putBack, error) {
	if s := f.sourceStanding(); s != conversation.StandingOwn {
		words := f.repo.standingWords(s, f.repo.elsewhere(f.kept))
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
		view: f.view, opts: putBackOptions{action: "restore", word: o.word, yes: o.yes},
		asOf: f.at.Seq, since: f.at.Seq + 1, when: fmt.Sprintf("after @%d", f.at.Seq),
	}
	b.decide = func(h takeback.History) []takeback.File { return h.After(f.at.Seq, nil) }
	return b, nil
}

func (b *putBack) confirmRewind(ctx context.Context, r *putBackResult) error {
	files := conversation.Count(len(r.puts), "file")
	at := fmt.Sprintf("%s@%d", b.id.Short(), b.asOf)
	return b.env.confirm(ctx, confirmation{
		id: b.id, question: "Go back, and put " + files + " back?",
		list: func(w io.Writer, p terminal.Palette) { b.list(w, p, r, "Would put back") },
		unasked: fail(exitDecision, "usage", "going back changes %s, and there is no terminal to ask.", files).about(b.id).
			hint("jp fork --restore -y "+at, "do it").hint("jp restore --dry-run "+at, "list the files"),
	})
}

// goBack makes the fork, puts the files back, and makes it the session's.
func (f *fork) goBack(ctx context.Context, b *putBack, result *putBackResult, place conversation.Git) error {
	if err := f.create(ctx, &place); err != nil {
		return err
	}
	if len(result.puts) > 0 {
		if err := f.putFilesBack(ctx, b, result); err != nil {
			return err
		}
	}
	if err := f.repo.session(f.env.host).use(f.id, f.env.now()); err != nil {
		return err
	}
	if !f.env.format.structured() && !f.env.quiet {
		if len(result.puts) > 0 || len(result.left()) > 0 {
			b.list(f.env.stderr, b.palette, result, "Put back")
		} else if err := b.printNothing(f.env.stderr); err != nil {
			return err
		}
	}
	if err := f.report(forkOptions{}, forkResult{files: result.Files}); err != nil || !result.failed {
		return err
	}
	return &failure{exit: exitFailed, silent: true}
}

// putFilesBack records in the fork what the files are now, so that it can be
// undone, brings them back, and records that.
func (f *fork) putFilesBack(ctx context.Context, b *putBack, result *putBackResult) error {
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
