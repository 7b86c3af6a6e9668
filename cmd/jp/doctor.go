package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/doctor"
	"jp/config"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/process"
)

const doctorHelp = `Look at what jp works with, and say of each thing whether it is well, and what to do
where it is not: git, the repository, conversations, what is loose and what is
packed, what a kill left behind, who holds what, the configuration, the providers,
the terminal. Nothing is changed, and without --net nothing goes over the network.

Every line begins with ok, note (good to know), warn (something does not work, or may
not) or fail (jp cannot do its work, or something of it is lost).

--fix removes what a kill left behind where it is provably nobody's: an hour old,
yours, opened by no process, and not changed while its lock is held. It says what it
removed, and changes nothing else.

Exit codes: 0 nothing failed · 1 something did`

// doctorOptions are the flags of jp doctor.
type doctorOptions struct {
	net bool
	fix bool
}

func newDoctorCommand(e *env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look whether all is well, and say what to do where it is not", GroupID: "setup", Args: cobra.NoArgs,
		Long: doctorHelp, Example: "  jp doctor\n  jp doctor --net\n  jp doctor --fix\n  jp doctor --json | jq -r '.findings[] | select(.level==\"fail\").text'",
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, o) },
	}
	cmd.Flags().BoolVar(&o.net, "net", false, "ask whether providers can be reached; no key is sent")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "remove what a kill left behind and nobody needs")
	return cmd
}

// A checkup is one look at everything. What could not be opened is nil.
type checkup struct {
	doctorOptions
	env      *env
	dir      string
	repo     *repo // without a store where there is no repository
	db       *odb.Store
	found    doctor.Repository
	storeErr error
	pathsErr error
	removed  []removedJSON
	kept     map[string]error // why files stay that --fix was to remove, by their paths
}

func runDoctor(ctx context.Context, e *env, o doctorOptions) error {
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return usage("there is no folder %s.", e.dir)
	}
	c := &checkup{doctorOptions: o, env: e, dir: dir}
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.close()
	findings := c.look(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.print(findings); err != nil {
		return err
	}
	if doctor.Count(findings).Fail > 0 {
		return &failure{exit: exitFailed, silent: true}
	}
	return nil
}

// patience is how long one thing is looked at that has no bound of its own; with
// -v, and where something is to be removed, it is looked at to its end.
func (c *checkup) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.patienceFor(ctx, 100*time.Millisecond)
}

// patienceFor is patience for what takes longer.
func (c *checkup) patienceFor(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if c.env.verbose || c.fix {
		limit = time.Minute
	}
	return context.WithTimeout(ctx, limit)
}

// open opens what can be opened, and makes nothing.
func (c *checkup) open(ctx context.Context) (err error) {
	r := &repo{env: c.env.host, git: gitcmd.New(c.dir, gitcmd.Options{Environ: c.env.environ})}
	c.repo = r
	r.paths, c.pathsErr = config.FindPaths(c.env.environ)
	located, err := gitcmd.Locate(ctx, c.dir, gitcmd.Options{Environ: c.env.environ})
	c.found = c.repository(ctx, located, err)
	if err != nil {
		return c.env.furnish(r)
	}
	r.Repository, r.git, r.locks = located, gitcmd.At(located, c.env.gitOptions()), process.LocksIn(located.CommonDir)
	r.locks.Share = r.git.Share
	if err := c.env.furnish(r); err != nil {
		return err
	}
	if c.db, err = odb.Open(located.CommonDir, odb.Options{Git: r.git}); err == nil {
		r.store, err = gitstore.Open(located, gitstore.Options{})
	}
	c.storeErr = err
	return nil
}

func (c *checkup) close() {
	if c.db != nil {
		_ = c.db.Close() // nothing was written
	}
	if c.repo.store != nil {
		_ = c.repo.store.Close()
	}
}

// look looks at everything at once, and tells it in one order.
func (c *checkup) look(ctx context.Context) []doctor.Finding {
	parts := []func(context.Context) []doctor.Finding{c.lookAtGit, func(context.Context) []doctor.Finding { return c.found.Findings() }}
	if c.found.Err == nil {
		parts = append(parts, c.lookAtStore, c.lookAtRemotes, c.lookAtPacking, c.lookAtDisk, c.lookAtCache, c.lookAtLeftovers, c.lookAtHolders, c.lookAtFilters)
		c.clear(ctx)
	}
	parts = append(parts, c.lookAtConfig, c.lookAtSecrets, c.lookAtProviders, c.lookAround)
	findings := make([][]doctor.Finding, len(parts))
	var looking sync.WaitGroup
	for i, part := range parts {
		looking.Go(func() { findings[i] = part(ctx) })
	}
	looking.Wait()
	return slices.Concat(findings...)
}
