package repo

import (
	"path/filepath"
	"sync"
	"sync/atomic"

	"jp/agent/problem"
	"jp/config"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/trees"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/process"
)

// A Repo is the repository that a command works in, with jp's data there.
type Repo struct {
	At     gitcmd.Repository
	Git    *gitcmd.Git
	Store  *gitstore.Store
	Trees  trees.Reader  // reads and compares trees
	Rules  *gitcmd.Rules // asks for attributes and ignored names
	Locks  process.Locks
	Paths  config.Paths
	Config *config.Config
	Report *config.Report
	Env    *Host
	Values *secrets // replaces secrets in events, or nil
	Wrong  error    // the mistake in the configuration; then Config is the defaults

	records *gitstore.Store         // see Standings.RecordStore
	name    *atomic.Pointer[string] // of the repository, once a list has asked; shared with copies
	backups *backupStores           // shared with copies
}

// KeyFile has the key by which this user's events are known.
func (r *Repo) KeyFile() string { return filepath.Join(r.Paths.StateDir, "key") }

// Approvals are the user's approvals for this workspace.
func (r *Repo) Approvals() config.Approvals {
	return config.Approvals{Dir: trustFolder(r.Paths), Root: r.At.TopLevel}
}

func trustFolder(paths config.Paths) string { return filepath.Join(paths.StateDir, "trust") }

// The files of jp's folders that name the repository and a linked working tree.
const (
	WorkspaceIDFile = gitstore.RepositoryIDFile
	WorktreeIDFile  = "worktree-id"
)

// WorktreeID names a linked working tree, and is deleted with it. The main one has none. It is "" if the name
// cannot be written.
func (r *Repo) WorktreeID() string {
	if r.At.GitDir == r.At.CommonDir {
		return ""
	}
	id, err := namedOnce(safefile.StateDir{GitDir: r.At.GitDir, Share: r.Git.Share}, WorktreeIDFile)
	if err != nil {
		return "" // its name has to do
	}
	return id
}

// StateDir has jp's folders that belong to the whole repository.
func (r *Repo) StateDir() safefile.StateDir {
	key := sync.OnceValues(func() ([]byte, error) {
		key, err := gitstore.LoadKey(r.KeyFile())
		if err != nil {
			return nil, keyless(err)
		}
		return key, nil
	})
	return safefile.StateDir{GitDir: r.At.CommonDir, Share: r.Git.Share, Key: key, Told: r.Env.refused, Own: r.Paths.StateDir}
}

// keyless is the error of a writer without a key: its events would look like those of
// others.
func keyless(err error) error {
	return problem.New(problem.ExitUsage, "config", "%v; without the key nothing can be written: it would count as someone else's.", err).
		Hint(action.SetState, "keeps the key, and all that is only yours, in a folder that you may write to")
}
