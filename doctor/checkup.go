package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/process"
)

// Options say what is looked at, and with what.
type Options struct {
	Net     bool // providers are asked whether they can be reached
	Fix     bool // what a kill left behind is removed
	Verbose bool // everything is looked at to its end
	// terminal is the user's with a style, and editor their editor for a shell, and the variable that
	// names it.
	Terminal func(style config.Style) Terminal
	Editor   func() (command, from string)
	// mistakes are the settings that turns cannot work with, and those without effect.
	Mistakes func(*repo.Repo) (wrong, idle []*config.Error)
}

// A Report is what was found, and what was removed.
type Report struct {
	Findings []Finding
	Removed  []RemovedJSON
}

// A checkup is one look at everything. What could not be opened is nil.
type checkup struct {
	Options
	env      *repo.Host
	dir      string
	repo     *repo.Repo // without a store where there is no repository
	db       *odb.Store
	found    Repository
	storeErr error
	pathsErr error
	removed  []RemovedJSON
	kept     map[string]error // why files stay that --fix was to remove, by their paths
}

// CheckUp looks at everything in a folder.
func CheckUp(ctx context.Context, e *repo.Host, o Options) (found Report, err error) {
	dir, err := filepath.Abs(e.Dir)
	if err != nil {
		return found, err
	}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return found, problem.Usage("there is no folder %s.", e.Dir)
	}
	c := &checkup{Options: o, env: e, dir: dir}
	if err := c.open(ctx); err != nil {
		return found, err
	}
	defer c.close()
	found.Findings = c.look(ctx)
	if ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	found.Removed = c.removed
	return found, nil
}

// patience limits a check that has no limit of its own. With -v and with --fix there is
// no limit.
func (c *checkup) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.patienceFor(ctx, 100*time.Millisecond)
}

// patienceFor is patience for what takes longer.
func (c *checkup) patienceFor(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if c.Verbose || c.Fix {
		limit = time.Minute
	}
	return context.WithTimeout(ctx, limit)
}

// open opens what can be opened, and makes nothing.
func (c *checkup) open(ctx context.Context) (err error) {
	r := &repo.Repo{Env: c.env, Git: gitcmd.New(c.dir, gitcmd.Options{Environ: c.env.Environ})}
	c.repo = r
	r.Paths, c.pathsErr = config.FindPaths(c.env.Environ)
	located, err := gitcmd.Locate(ctx, c.dir, gitcmd.Options{Environ: c.env.Environ})
	c.found = c.repository(ctx, located, err)
	if err != nil {
		return r.Configure(c.env, nil)
	}
	r.Repository, r.Git, r.Locks = located, gitcmd.At(located, c.env.GitOptions()), process.LocksIn(located.CommonDir)
	r.Locks.Share = r.Git.Share
	if err := r.Configure(c.env, nil); err != nil {
		return err
	}
	if c.db, err = odb.Open(located.CommonDir, odb.Options{Git: r.Git}); err == nil {
		r.Store, err = gitstore.Open(located, gitstore.Options{})
	}
	c.storeErr = err
	return nil
}

func (c *checkup) close() {
	if c.db != nil {
		_ = c.db.Close() // nothing was written
	}
	if c.repo.Store != nil {
		_ = c.repo.Store.Close()
	}
}

// look looks at everything at once, and tells it in one order.
func (c *checkup) look(ctx context.Context) []Finding {
	parts := []func(context.Context) []Finding{c.lookAtGit, func(context.Context) []Finding { return c.found.Findings() }}
	if c.found.Err == nil {
		parts = append(parts, c.lookAtStore, c.lookAtRemotes, c.lookAtPacking, c.lookAtDisk, c.lookAtCache, c.lookAtLeftovers, c.lookAtHolders, c.lookAtFilters)
		c.clear(ctx)
	}
	parts = append(parts, c.lookAtConfig, c.lookAtSecrets, c.lookAtProviders, c.lookAround)
	findings := make([][]Finding, len(parts))
	var looking sync.WaitGroup
	for i, part := range parts {
		looking.Go(func() { findings[i] = part(ctx) })
	}
	looking.Wait()
	return slices.Concat(findings...)
}
