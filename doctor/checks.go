// Package doctor checks a repository and its surroundings, and advises on each fault.
//
// Every check is a row of one table. Its function gathers facts into a type, whose method Findings judges
// them without further reading. Texts hold names as they were found. The caller cleans them before printing.
package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/safefile"
	"jp/process"
)

// A check is one row: the topics of its findings, its place, and its function. Without a repository that jp
// can work in, jp skips the checks inside it.
type check struct {
	topics []string
	at     string
	inside bool
	find   func(*checkup, context.Context) []Finding
}

// checks are all of them, in the order of the output.
var checks = []check{
	{[]string{"git"}, "the version of git", false, (*checkup).git},
	{[]string{"repository", "shallow", "partial", "owner", "writable", "folder", "file", "index"}, "the repository, its index and the folder of jp in it", false, (*checkup).inRepository},
	{[]string{"conversations", "refs", "damage", "incomplete", "twice"}, "the newest event of every conversation, and the refs", true, (*checkup).conversations},
	{[]string{"remotes"}, "refspecs of remotes that take in conversations", true, (*checkup).remotes},
	{[]string{"objects", "packing", "packs"}, "loose objects and packs", true, (*checkup).packing},
	{[]string{"durability"}, "the file system, and how jp makes events durable on it", true, (*checkup).disk},
	{[]string{"cache", "backups", "recordings"}, "the cache of the search, the copies of files that no snapshot has, and the recordings of other agents", true, (*checkup).cache},
	{[]string{"leftovers", "registry"}, "files and locks that a killed process left", true, (*checkup).leftBehind},
	{[]string{"locks", "tools"}, "the processes that hold conversations, and tools that outlived theirs", true, (*checkup).locks},
	{[]string{"filters", "lfs"}, "the filters that files need, and the content of LFS", true, (*checkup).filtered},
	{[]string{"instructions"}, "the files that tell the model how to work", true, (*checkup).instructions},
	{[]string{"config"}, "the configuration", false, (*checkup).configuration},
	{[]string{"key", "secrets"}, "the files that only the user may read", false, (*checkup).secrets},
	{[]string{"providers", "network", "model", "models"}, "keys and servers of models", false, (*checkup).providers},
	{[]string{"terminal", "locale"}, "the terminal", false, (*checkup).terminal},
	{[]string{"sandbox"}, "what the kernel keeps programs of tools from", false, (*checkup).sandbox},
	{[]string{"editor"}, "the editor", false, (*checkup).editor},
	{[]string{"identity"}, "the name and e-mail address that git knows", false, (*checkup).identity},
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
	// All checks look at once. Their findings keep the order of the table.
	inside := c.found.Err == nil
	if inside {
		c.fix(ctx)
	}
	findings := make([][]Finding, len(checks))
	var looking sync.WaitGroup
	for i, check := range checks {
		if inside || !check.inside {
			looking.Go(func() { findings[i] = check.find(c, ctx) })
		}
	}
	looking.Wait()
	found.Findings = slices.Concat(findings...)
	if ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	found.Removed = c.removed
	return found, nil
}

// open opens each part that can be opened, and creates no files.
func (c *checkup) open(ctx context.Context) (err error) {
	r := &repo.Repo{Env: c.env, Git: gitcmd.New(c.dir, gitcmd.Options{Environ: c.env.Environ})}
	c.repo = r
	r.Paths, c.pathsErr = config.FindPaths(c.env.Environ)
	located, err := gitcmd.Locate(ctx, c.dir, gitcmd.Options{Environ: c.env.Environ})
	c.found = c.repository(ctx, located, err)
	if err != nil {
		return r.Configure(c.env, nil)
	}
	r.At, r.Git, r.Locks = located, gitcmd.At(located, c.env.GitOptions()), process.LocksIn(located.CommonDir)
	r.Locks.Share = r.Git.Share
	if err := r.Configure(c.env, nil); err != nil {
		return err
	}
	if c.db, err = odb.Open(located.CommonDir, odb.Options{Git: r.Git, Format: located.ObjectFormat, RefFormat: located.RefFormat}); err == nil {
		var key []byte // without one each conversation is someone else's
		if safefile.IsRegular(r.KeyFile()) {
			key, _ = gitstore.LoadKey(r.KeyFile())
		}
		r.Store, err = gitstore.Open(located, gitstore.Options{Key: key, Repository: r.Standings().Name, HeadsDir: filepath.Join(r.Paths.StateDir, "heads")})
	}
	c.storeErr = err
	return nil
}

func (c *checkup) close() {
	if c.db != nil {
		_ = c.db.Close() // it was only read
	}
	if c.repo.Store != nil {
		_ = c.repo.Store.Close()
	}
}
