package fork

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/internal/action"
	"jp/internal/leftover"
)

// A linkedTree is a linked working tree in a folder.
type linkedTree struct {
	repo *repo.Repo
	dir  string
}

// keepApart makes git take the new folder for the working tree. With extensions.worktreeConfig,
// core.worktree in the configuration of the whole repository holds for linked working trees too,
// and then git would write the fork's files into the user's.
func (l linkedTree) keepApart(ctx context.Context) error {
	at, err := gitcmd.Locate(ctx, l.dir, gitcmd.Options{Environ: l.repo.Env.Environ})
	if err != nil || sameFolder(at.TopLevel, l.dir) {
		return err
	}
	own := filepath.Join(at.GitDir, "config.worktree")
	if at.GitDir != at.CommonDir {
		if _, err := l.repo.Git.Run(ctx, "config", "--file", own, "core.worktree", l.dir); err != nil {
			return err
		}
		if at, err = gitcmd.Locate(ctx, l.dir, gitcmd.Options{Environ: l.repo.Env.Environ}); err == nil && sameFolder(at.TopLevel, l.dir) {
			return nil
		}
	}
	return problem.Usage("git takes %q for the working tree of %s (core.worktree or core.bare).", at.TopLevel, l.dir)
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// add lets git make the working tree. It removes the rest of one that git could not finish, now or at an
// earlier time. git removes such a rest itself, unless it was killed or cannot write, and then hardly any git
// command works in the repository.
func (l linkedTree) add(ctx context.Context, words []string) error {
	for _, note := range leftover.HalfWorktrees(l.repo.At.CommonDir) {
		_ = leftover.ForgetWorktree(l.repo.At.CommonDir, note) // jp doctor tells of it
	}
	note, end, err := leftover.MakingWorktree(l.repo.StateDir(), l.dir)
	if err != nil {
		return err
	}
	if _, err = gitcmd.At(l.repo.At, l.filters()).RunWith(ctx, gitcmd.Command{Args: words, Files: []*os.File{note}, Env: withPointers}); err == nil {
		end()
		return nil
	}
	if leftover.ForgetHalf(l.repo.At.CommonDir, l.dir) == nil {
		end()
	}
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && strings.Contains(exit.Stderr, "already registered worktree") {
		return problem.Usage("git still knows a worktree in %s, which is gone.", l.dir).Hint(action.PruneWorktrees, "lets git forget it")
	}
	return err
}
