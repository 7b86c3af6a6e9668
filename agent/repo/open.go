package repo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/located"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/repoid"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/process"
)

// A Repo is the repository that a command works in, with what jp keeps there.
type Repo struct {
	gitcmd.Repository
	Git    *gitcmd.Git
	Store  *gitstore.Store
	Locks  process.Locks
	Paths  config.Paths
	Config *config.Config
	Report *config.Report
	Env    *Host
	Values *secrets // what is replaced in events; nil: nothing
	Wrong  error    // what is wrong with the configuration; then config is the defaults
}

// Open opens the repository of the current directory. It starts one git at most. A
// mistake in a configuration file is told, and does not keep anybody from
// looking; one in --cfg is an error.
func Open(ctx context.Context, e *Host) (*Repo, error) {
	r, err := Find(ctx, e)
	if err != nil {
		return nil, err
	}
	return r, r.WarnOfMistake()
}

// WarnOfMistake tells what is wrong with the configuration; where that was said
// with --cfg it closes the repository and is an error.
func (r *Repo) WarnOfMistake() error {
	if r.Wrong == nil {
		return nil
	}
	var mistake *config.Error
	if errors.As(r.Wrong, &mistake) && mistake.Origin.Layer == config.LayerOverride {
		return errors.Join(r.Wrong, r.Close())
	}
	r.Env.warn("Warning: %s; the configuration is not used.", problem.OneLine(r.Wrong.Error()))
	return nil
}

// Find opens the repository, and keeps what is wrong with its configuration
// for later.
func Find(ctx context.Context, e *Host) (*Repo, error) {
	dir, err := filepath.Abs(e.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, problem.Usage("there is no folder %s.", e.Dir)
	}
	r, err := FindAt(ctx, e, dir)
	if err == nil {
		e.warnOfIgnored(r.Repository)
	}
	return r, err
}

// warnOfIgnored tells where the environment names another repository than the one that is
// worked in. A hook of git's has its own repository there; and who says -C chose one.
func (e *Host) warnOfIgnored(r gitcmd.Repository) {
	named := e.Get("GIT_DIR")
	if named == "" || e.Elsewhere() {
		return
	}
	head, err := os.Stat(filepath.Join(named, "HEAD"))
	if err != nil || !head.Mode().IsRegular() {
		return // it was said for another folder
	}
	for _, dir := range []string{r.GitDir, r.CommonDir} {
		if same, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil && os.SameFile(head, same) {
			return
		}
	}
	e.Note("Warning: GIT_DIR names %s, which jp does not follow: this is %s.", safetext.Show(named), safetext.Show(r.GitDir))
}

// FindSettings opens the repository as findRepo does; outside of one it gives what
// the user's own configuration says, without conversations.
func FindSettings(ctx context.Context, e *Host) (*Repo, error) {
	r, err := Find(ctx, e)
	if !errors.Is(err, gitcmd.ErrNotRepository) {
		return r, err
	}
	paths, homeless := config.FindPaths(e.Environ)
	if homeless != nil {
		return nil, problem.New(problem.ExitUsage, "config", "%v", homeless)
	}
	r = &Repo{Paths: paths, Env: e}
	return r, r.Configure(e, nil)
}

func FindAt(ctx context.Context, e *Host, dir string) (*Repo, error) {
	paths, homeless := config.FindPaths(e.Environ)
	var notes located.Notes
	if homeless == nil {
		notes = notesIn(paths)
	}
	found, err := notes.Locate(ctx, dir, gitcmd.Options{Environ: e.Environ})
	if err != nil {
		return nil, err
	}
	if homeless != nil {
		return nil, problem.New(problem.ExitUsage, "config", "%v", homeless)
	}
	r := &Repo{Repository: found, Git: gitcmd.At(found, e.GitOptions()), Paths: paths}
	if err := r.Configure(e, nil); err != nil {
		return nil, err
	}
	r.Locks = process.LocksIn(found.CommonDir)
	r.Locks.Share = r.Git.Share
	return r, r.openStore(ctx, e)
}

// notesIn are what is remembered of repositories.
func notesIn(paths config.Paths) located.Notes {
	return located.Notes{Dir: filepath.Join(paths.StateDir, "located")}
}

// user is whom git's configuration names, nobody where git cannot tell.
func (r *Repo) user(ctx context.Context) gitcmd.User {
	user, _ := notesIn(r.Paths).User(ctx, r.Repository, gitcmd.Options{Environ: r.Env.Environ})
	return user
}

// Configure reads the configuration, with what a conversation's events changed since
// it is the user's. Where it is wrong the defaults are in force.
func (r *Repo) Configure(e *Host, events []*conversation.Event) (err error) {
	var deltas []map[string]any
	for _, ev := range conversation.Own(events) {
		if b, ok := ev.Body.(*conversation.ConfigDelta); ok {
			var delta map[string]any
			if json.Unmarshal(b.Delta, &delta) == nil {
				deltas = append(deltas, delta)
			}
		}
	}
	r.Config, r.Report, r.Wrong = config.Load(config.Options{
		UserFile: r.Paths.UserFile, Workspace: r.TopLevel, Environ: e.Environ, Overrides: e.Cfg, Deltas: deltas, Trusted: r.Approvals().Trusted,
	})
	if r.Wrong != nil {
		r.Config, r.Report, err = config.Load(config.Options{})
	}
	return err
}

// Approvals are what the user has approved of this workspace.
func (r *Repo) Approvals() config.Approvals {
	return config.Approvals{Dir: trustFolder(r.Paths), Root: r.TopLevel}
}

// trustFolder keeps what the user has approved.
func trustFolder(paths config.Paths) string { return filepath.Join(paths.StateDir, "trust") }

// HeldBack says of each setting that was read and has no effect why that is so.
func (r *Repo) HeldBack() []string {
	var lines []string
	for _, k := range r.Report.Inert {
		lines = append(lines, fmt.Sprintf("%v: %s = %s has no effect: %s", k.Origin, k.Key, k.Value, k.Reason))
	}
	if r.Report.Untrusted() {
		lines = append(lines, "jp trust shows what "+config.WorkspaceFile+" asks for, and approves it.")
	}
	return lines
}

// HeldBackLine is heldBack on one line, for whoever asks something else. Of several
// settings it has the names.
func (r *Repo) HeldBackLine() []string {
	settings := r.Report.Inert
	if len(settings) == 0 {
		return nil
	}
	var what string
	if k := settings[0]; len(settings) == 1 {
		what = fmt.Sprintf("%v: %s = %s has no effect: %s.", k.Origin, k.Key, k.Value, k.Reason)
	} else {
		var names []string
		for _, k := range settings[:min(len(settings), 4)] {
			names = append(names, k.Key)
		}
		what = fmt.Sprintf("%d settings have no effect (%s", len(settings), strings.Join(names, ", "))
		if len(settings) > len(names) {
			what += ", …"
		}
		what += "): "
		if slices.ContainsFunc(settings, func(k config.InertKey) bool { return k.Reason != settings[0].Reason }) {
			what += "jp config show says why."
		} else {
			what += string(settings[0].Reason) + "."
		}
	}
	if r.Report.Untrusted() {
		what += " jp trust shows what " + config.WorkspaceFile + " asks for, and approves it."
	}
	return []string{what}
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
	r.Env = e
	r.Store, err = gitstore.Open(r.Repository, gitstore.Options{
		Key: key, NoKey: noKey, Rewrite: r.Values.rewriter(), Durability: durability, Log: e.logger(), Git: r.Git,
		User:       func() gitstore.Person { return gitstore.UserIdentity(e.Get, func() gitcmd.User { return r.user(ctx) }) },
		Repository: r.Name, HeadsDir: filepath.Join(r.Paths.StateDir, "heads"),
		MayBreakLock: func(id conversation.ID) bool {
			holder, held := r.Locks.Held(id)
			return held && holder.PID == os.Getpid()
		},
	})
	return err
}

// keyless says that nothing can be written: nobody, not even its user, could tell
// it from what others wrote.
func keyless(err error) error {
	return problem.New(problem.ExitUsage, "config", "%v; without the key nothing can be written: it would count as someone else's.", err).
		Hint("XDG_STATE_HOME=DIR jp …", "keeps the key, and all that is only yours, in a folder that you may write to")
}

// Close says what was replaced, starts a packing that is due, and frees what the
// store holds.
func (r *Repo) Close() error {
	if r.Store == nil {
		return nil
	}
	r.Values.report(r.Env)
	r.packIfDue()
	return r.Store.Close()
}

// KeyFile has the key by which this user's events are known.
func (r *Repo) KeyFile() string { return filepath.Join(r.Paths.StateDir, "key") }

// The files of jp's folders that name the repository and a linked working tree.
const (
	WorkspaceIDFile = repoid.FileName
	WorktreeIDFile  = "worktree-id"
)

// WorktreeID names a linked working tree, and goes with it; the main one has none. It
// is "" where none can be written.
func (r *Repo) WorktreeID() string {
	if r.GitDir == r.CommonDir {
		return ""
	}
	id, err := namedOnce(safefile.StateDir{GitDir: r.GitDir, Share: r.Git.Share}, WorktreeIDFile)
	if err != nil {
		return "" // its name has to do
	}
	return id
}

// Own is where jp's folders are that belong to the whole repository.
func (r *Repo) Own() safefile.StateDir {
	return safefile.StateDir{GitDir: r.CommonDir, Share: r.Git.Share}
}

// namedOnce is the random name in a file of jp's folder, which is made where there is none. It
// appears whole or not at all; one that is empty was cut off by a crash of the disk
// and is made anew.
func namedOnce(in safefile.StateDir, name string) (string, error) {
	if err := in.Check(); err != nil {
		return "", err
	}
	path := filepath.Join(in.GitDir, safefile.StateDirName, name)
	if id, err := readWord(path); id != "" || err != nil {
		return id, err
	}
	id := []byte(strings.ToLower(rand.Text())[:8] + "\n")
	o := safefile.Options{Mode: 0o666, FolderMode: 0o777, Share: in.Share}
	err := safefile.CreateNew(path, id, o)
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		if id, err := readWord(path); id != "" || err != nil {
			return id, err
		}
		err = safefile.Replace(path, id, o)
	}
	if err != nil {
		return "", err
	}
	return readWord(path)
}

// readWord is the one word that a file holds, "" where there is no file.
func readWord(path string) (string, error) {
	text, err := safefile.ReadRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s is no ordinary file: remove it, and jp makes it anew", path)
	}
	return strings.TrimSpace(string(text)), err
}
