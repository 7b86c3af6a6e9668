package repo

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"jp/agent/problem"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/gitstore/trees"
	"jp/internal/safetext"
	"jp/process"
)

// Open opens the repository of the current directory. It starts at most one git. A
// mistake in a configuration file gives a notice, so that reading still works. One in
// --cfg is an error.
func Open(ctx context.Context, e *Host) (*Repo, error) {
	r, err := Find(ctx, e)
	if err != nil {
		return nil, err
	}
	return r, r.WarnOfMistake()
}

// WarnOfMistake reports the mistake in the configuration. If the mistake is in --cfg it closes the repository
// and fails.
func (r *Repo) WarnOfMistake() error {
	if r.Wrong == nil {
		return nil
	}
	var mistake *config.Error
	if errors.As(r.Wrong, &mistake) && mistake.Origin.Layer == config.LayerOverride {
		return errors.Join(r.Wrong, r.Close())
	}
	r.Env.Warn("Warning: %s; the configuration is not used.", problem.OneLine(r.Wrong.Error()))
	return nil
}

// Find opens the repository, and keeps a mistake in its configuration for later.
func Find(ctx context.Context, e *Host) (*Repo, error) {
	r, err := find(ctx, e)
	return r, e.lostRepository(err)
}

func find(ctx context.Context, e *Host) (*Repo, error) {
	dir, err := filepath.Abs(e.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, problem.Usage("there is no folder %s.", e.Dir)
	}
	r, err := FindAt(ctx, e, dir)
	if err == nil {
		e.warnOfIgnored(r.At)
	}
	return r, err
}

// warnOfIgnored warns if the environment names another repository than the present one. A hook of git's has
// its own repository there, and -C is a choice.
func (e *Host) warnOfIgnored(r gitcmd.Repository) {
	named := e.Get("GIT_DIR")
	if named == "" || e.Elsewhere() {
		return
	}
	head, err := os.Stat(filepath.Join(named, "HEAD"))
	if err != nil || !head.Mode().IsRegular() {
		return // it was set for another folder
	}
	for _, dir := range []string{r.GitDir, r.CommonDir} {
		if same, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil && os.SameFile(head, same) {
			return
		}
	}
	e.Note("Warning: GIT_DIR names %s, which jp does not follow: this is %s.", safetext.Show(named), safetext.Show(r.GitDir))
}

// FindSettings opens the repository as Find does. Outside of one it gives the user's own configuration,
// without conversations.
func FindSettings(ctx context.Context, e *Host) (*Repo, error) {
	r, err := find(ctx, e)
	if !errors.Is(err, gitcmd.ErrNotRepository) {
		return r, err
	}
	paths, homeless := config.FindPaths(e.Environ)
	if homeless != nil {
		return nil, problem.New(problem.ExitUsage, "config", "%v.", homeless)
	}
	r = &Repo{Paths: paths, Env: e}
	return r, r.Configure(e, nil)
}

func FindAt(ctx context.Context, e *Host, dir string) (*Repo, error) {
	paths, homeless := config.FindPaths(e.Environ)
	var notes gitcmd.LocateCache
	if homeless == nil {
		notes = notesIn(paths)
	}
	found, err := notes.Locate(ctx, dir, gitcmd.Options{Environ: e.Environ})
	if err != nil {
		return nil, err
	}
	if homeless != nil {
		return nil, problem.New(problem.ExitUsage, "config", "%v.", homeless)
	}
	r := &Repo{At: found, Git: gitcmd.At(found, e.GitOptions()), Paths: paths}
	if err := r.Configure(e, nil); err != nil {
		return nil, err
	}
	r.Locks = process.LocksIn(found.CommonDir)
	r.Locks.Share = r.Git.Share
	return r, r.openStore(ctx, e)
}

func notesIn(paths config.Paths) gitcmd.LocateCache {
	return gitcmd.LocateCache{Dir: filepath.Join(paths.StateDir, "located")}
}

// Configure reads the configuration, with the changes by a conversation's events since it became the user's,
// and with profiles besides the default one. If it has a mistake the defaults are in force.
func (r *Repo) Configure(e *Host, events []*conversation.Event, profiles ...string) (err error) {
	var deltas []map[string]any
	for _, ev := range conversation.AfterAdoption(events) {
		if b, ok := ev.Body.(*conversation.ConfigDelta); ok {
			var delta map[string]any
			if json.Unmarshal(b.Delta, &delta) == nil {
				deltas = append(deltas, delta)
			}
		}
	}
	r.Config, r.Report, r.Wrong = config.Load(config.Options{
		UserFile: r.Paths.UserFile, OwnFile: r.Standings().OwnFile(), Workspace: r.At.TopLevel, Environ: e.Environ, Overrides: e.Overrides(), Deltas: deltas, Profiles: profiles, Trusted: r.Approvals().Trusted,
	})
	if r.Wrong != nil {
		r.Config, r.Report, err = config.Load(config.Options{})
	}
	return err
}

func (r *Repo) openStore(ctx context.Context, e *Host) error {
	key, err := gitstore.LoadKey(r.KeyFile())
	var noKey error
	if err != nil {
		noKey = keyless(err)
		if !errors.Is(err, fs.ErrPermission) && !IsReadOnly(err) {
			return noKey
		}
		// reading goes on
	}
	durability := odb.Full
	if r.Config.Store.Durability == "off" {
		durability = odb.Off
	}
	r.Values = r.openSecrets(e, key)
	r.Env, r.name, r.backups = e, &atomic.Pointer[string]{}, &backupStores{}
	user := func() gitcmd.User { // empty if git does not know
		user, _ := notesIn(r.Paths).User(ctx, r.At, gitcmd.Options{Environ: r.Env.Environ})
		return user
	}
	r.Store, err = gitstore.Open(r.At, gitstore.Options{
		Key: key, NoKey: noKey, Rewrite: r.Values.rewriter(), Durability: durability, Log: e.logger(), Git: r.Git,
		User:       func() gitstore.Person { return gitstore.UserIdentity(e.Get, user) },
		Repository: r.Standings().Name, HeadsDir: filepath.Join(r.Paths.StateDir, "heads"), HandedDir: filepath.Join(r.Paths.StateDir, "own"),
		MayBreakLock: func(id conversation.ID) bool {
			holder, held := r.Locks.Held(id)
			return held && holder.PID == os.Getpid()
		},
	})
	if err == nil {
		r.Trees, r.Rules = trees.Open(r.At, r.Git, r.Store), gitcmd.NewRules(r.Git)
	}
	return err
}

// Close reports the replaced secrets, starts a packing that is due, and frees the store's resources.
func (r *Repo) Close() error {
	if r.Store == nil {
		return r.backups.close()
	}
	r.Values.report(r.Env)
	var closed error
	for _, store := range []*gitstore.Store{r.records, r.Store} {
		if store == nil {
			continue
		}
		if r.Config.Store.Packing != "off" {
			packIfDue(store, r.Git.Dir(), r.Env.Environ)
		}
		closed = errors.Join(closed, store.Close())
	}
	r.Rules.Close()
	return errors.Join(r.Trees.Close(), closed, r.backups.close())
}
