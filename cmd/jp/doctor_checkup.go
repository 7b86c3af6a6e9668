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

	"jp/config"
	"jp/doctor"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/process"
)

// checkupOptions say what is looked at, and with what.
type checkupOptions struct {
	net     bool // providers are asked whether they can be reached
	fix     bool // what a kill left behind is removed
	verbose bool // everything is looked at to its end
	// terminal is the user's with a style, and editor their editor for a shell, and the variable that
	// names it.
	terminal func(style config.Style) doctor.Terminal
	editor   func() (command, from string)
	// mistakes are the settings that turns cannot work with, and those without effect.
	mistakes func(*repo) (wrong, idle []*config.Error)
}

// A checkupReport is what was found, and what was removed.
type checkupReport struct {
	findings []doctor.Finding
	removed  []removedJSON
}

// A checkup is one look at everything. What could not be opened is nil.
type checkup struct {
	checkupOptions
	env      *host
	dir      string
	repo     *repo // without a store where there is no repository
	db       *odb.Store
	found    doctor.Repository
	storeErr error
	pathsErr error
	removed  []removedJSON
	kept     map[string]error // why files stay that --fix was to remove, by their paths
}

// checkUp looks at everything in a folder.
func checkUp(ctx context.Context, e *host, o checkupOptions) (found checkupReport, err error) {
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		return found, err
	}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return found, usage("there is no folder %s.", e.dir)
	}
	c := &checkup{checkupOptions: o, env: e, dir: dir}
	if err := c.open(ctx); err != nil {
		return found, err
	}
	defer c.close()
	found.findings = c.look(ctx)
	if ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	found.removed = c.removed
	return found, nil
}

// patience is how long one thing is looked at that has no bound of its own; with
// -v, and where something is to be removed, it is looked at to its end.
func (c *checkup) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.patienceFor(ctx, 100*time.Millisecond)
}

// patienceFor is patience for what takes longer.
func (c *checkup) patienceFor(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if c.verbose || c.fix {
		limit = time.Minute
	}
	return context.WithTimeout(ctx, limit)
}

// open opens what can be opened, and makes nothing.
func (c *checkup) open(ctx context.Context) (err error) {
	r := &repo{env: c.env, git: gitcmd.New(c.dir, gitcmd.Options{Environ: c.env.environ})}
	c.repo = r
	r.paths, c.pathsErr = config.FindPaths(c.env.environ)
	located, err := gitcmd.Locate(ctx, c.dir, gitcmd.Options{Environ: c.env.environ})
	c.found = c.repository(ctx, located, err)
	if err != nil {
		return r.configure(c.env, nil)
	}
	r.Repository, r.git, r.locks = located, gitcmd.At(located, c.env.gitOptions()), process.LocksIn(located.CommonDir)
	r.locks.Share = r.git.Share
	if err := r.configure(c.env, nil); err != nil {
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
