package watch

import (
	"context"
	"crypto/rand"
	"time"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
)

// Run shows the conversations that run or wait on this machine: on a terminal until the user leaves, for programs as a
// line for each change, and in a pipe once.
func Run(ctx context.Context, e *ui.Env) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var here *repo.Repo
	if r.Store != nil {
		if here = r; toolset.FromProgram(r) {
			return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
		}
	}
	board := live.NewBoard(func(dir string) *repo.Host {
		return &repo.Host{Environ: e.Environ, Dir: dir, Now: e.Now, Random: rand.Reader}
	}, here, r.Paths.DataDir)
	defer board.Close()
	if !e.Format.Structured() && !ui.IsTerminal(e.Stdout) {
		if err := board.Read(ctx); err != nil {
			return err
		}
		return list(e, board.Rows())
	}
	following, end := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() { failed <- board.Follow(following) }()
	if e.Format.Structured() || !ui.Redraws(e.Style, e.Get("TERM")) {
		err = (&lines{env: e, said: map[string]string{}}).follow(ctx, board, failed)
	} else {
		err = show(ctx, e, board, failed)
	}
	end()
	select {
	case <-failed:
	case <-time.After(time.Second): // a repository that is slow to read keeps no person waiting
	}
	return err
}
