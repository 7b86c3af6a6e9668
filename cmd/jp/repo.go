package main

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

	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/located"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/ownfolder"
	"jp/internal/plainfile"
	"jp/internal/repoid"
	"jp/internal/safetext"
	"jp/internal/wholefile"
	"jp/process"
)

// A repo is the repository that a command works in, with what jp keeps there.
type repo struct {
	gitcmd.Repository
	git    *gitcmd.Git
	store  *gitstore.Store
	locks  process.Locks
	paths  config.Paths
	config *config.Config
	report *config.Report
	env    *host
	values *secrets // what is replaced in events; nil: nothing
	wrong  error    // what is wrong with the configuration; then config is the defaults
}

// openRepo opens the repository of the current directory. It starts one git at most. A
// mistake in a configuration file is told, and does not keep anybody from
// looking; one in --cfg is an error.
func openRepo(ctx context.Context, e *host) (*repo, error) {
	r, err := findRepo(ctx, e)
	if err != nil {
		return nil, err
	}
	return r, r.warnOfMistake()
}

// warnOfMistake tells what is wrong with the configuration; where that was said
// with --cfg it closes the repository and is an error.
func (r *repo) warnOfMistake() error {
	if r.wrong == nil {
		return nil
	}
	var mistake *config.Error
	if errors.As(r.wrong, &mistake) && mistake.Origin.Layer == config.LayerOverride {
		return errors.Join(r.wrong, r.Close())
	}
	r.env.warn("Warning: %s; the configuration is not used.", oneLine(r.wrong.Error()))
	return nil
}

// findRepo opens the repository, and keeps what is wrong with its configuration
// for later.
func findRepo(ctx context.Context, e *host) (*repo, error) {
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, usage("there is no folder %s.", e.dir)
	}
	r, err := findRepoAt(ctx, e, dir)
	if err == nil {
		e.warnOfIgnored(r.Repository)
	}
	return r, err
}

// warnOfIgnored tells where the environment names another repository than the one that is
// worked in. A hook of git's has its own repository there; and who says -C chose one.
func (e *host) warnOfIgnored(r gitcmd.Repository) {
	named := e.get("GIT_DIR")
	if named == "" || e.elsewhere() {
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
	e.note("Warning: GIT_DIR names %s, which jp does not follow: this is %s.", safetext.Show(named), safetext.Show(r.GitDir))
}

// findSettings opens the repository as findRepo does; outside of one it gives what
// the user's own configuration says, without conversations.
func findSettings(ctx context.Context, e *host) (*repo, error) {
	r, err := findRepo(ctx, e)
	if !errors.Is(err, gitcmd.ErrNotRepository) {
		return r, err
	}
	paths, homeless := config.FindPaths(e.environ)
	if homeless != nil {
		return nil, fail(exitUsage, "config", "%v", homeless)
	}
	r = &repo{paths: paths, env: e}
	return r, r.configure(e, nil)
}

func findRepoAt(ctx context.Context, e *host, dir string) (*repo, error) {
	paths, homeless := config.FindPaths(e.environ)
	var notes located.Notes
	if homeless == nil {
		notes = notesIn(paths)
	}
	found, err := notes.Locate(ctx, dir, gitcmd.Options{Environ: e.environ})
	if err != nil {
		return nil, err
	}
	if homeless != nil {
		return nil, fail(exitUsage, "config", "%v", homeless)
	}
	r := &repo{Repository: found, git: gitcmd.At(found, e.gitOptions()), paths: paths}
	if err := r.configure(e, nil); err != nil {
		return nil, err
	}
	r.locks = process.LocksIn(found.CommonDir)
	r.locks.Share = r.git.Share
	return r, r.openStore(ctx, e)
}

// notesIn are what is remembered of repositories.
func notesIn(paths config.Paths) located.Notes {
	return located.Notes{Dir: filepath.Join(paths.StateDir, "located")}
}

// user is whom git's configuration names, nobody where git cannot tell.
func (r *repo) user(ctx context.Context) gitcmd.User {
	user, _ := notesIn(r.paths).User(ctx, r.Repository, gitcmd.Options{Environ: r.env.environ})
	return user
}

// configure reads the configuration, with what a conversation's events changed since
// it is the user's. Where it is wrong the defaults are in force.
func (r *repo) configure(e *host, events []*conversation.Event) (err error) {
	var deltas []map[string]any
	for _, ev := range conversation.Own(events) {
		if b, ok := ev.Body.(*conversation.ConfigDelta); ok {
			var delta map[string]any
			if json.Unmarshal(b.Delta, &delta) == nil {
				deltas = append(deltas, delta)
			}
		}
	}
	r.config, r.report, r.wrong = config.Load(config.Options{
		UserFile: r.paths.UserFile, Workspace: r.TopLevel, Environ: e.environ, Overrides: e.cfg, Deltas: deltas, Trusted: r.approvals().Trusted,
	})
	if r.wrong != nil {
		r.config, r.report, err = config.Load(config.Options{})
	}
	return err
}

// approvals are what the user has approved of this workspace.
func (r *repo) approvals() config.Approvals {
	return config.Approvals{Dir: trustFolder(r.paths), Root: r.TopLevel}
}

// trustFolder keeps what the user has approved.
func trustFolder(paths config.Paths) string { return filepath.Join(paths.StateDir, "trust") }

// heldBack says of each setting that was read and has no effect why that is so.
func (r *repo) heldBack() []string {
	var lines []string
	for _, k := range r.report.Inert {
		lines = append(lines, fmt.Sprintf("%v: %s = %s has no effect: %s", k.Origin, k.Key, k.Value, k.Reason))
	}
	if r.report.Untrusted() {
		lines = append(lines, "jp trust shows what "+config.WorkspaceFile+" asks for, and approves it.")
	}
	return lines
}

// heldBackLine is heldBack on one line, for whoever asks something else. Of several
// settings it has the names.
func (r *repo) heldBackLine() []string {
	settings := r.report.Inert
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
	if r.report.Untrusted() {
		what += " jp trust shows what " + config.WorkspaceFile + " asks for, and approves it."
	}
	return []string{what}
}

func (r *repo) openStore(ctx context.Context, e *host) error {
	key, err := gitstore.LoadKey(r.keyFile())
	var noKey error
	if err != nil {
		noKey = keyless(err)
		if !errors.Is(err, fs.ErrPermission) && !isReadOnly(err) {
			return noKey
		}
		// reading goes on
	}
	durability := odb.Full
	if r.config.Store.Durability == "off" {
		durability = odb.Off
	}
	r.values = r.openSecrets(e, key)
	r.env = e
	r.store, err = gitstore.Open(r.Repository, gitstore.Options{
		Key: key, NoKey: noKey, Rewrite: r.values.rewriter(), Durability: durability, Log: e.logger(), Git: r.git,
		User:       func() gitstore.Person { return gitstore.UserIdentity(e.get, func() gitcmd.User { return r.user(ctx) }) },
		Repository: r.name, HeadsDir: filepath.Join(r.paths.StateDir, "heads"),
		MayBreakLock: func(id conversation.ID) bool {
			holder, held := r.locks.Held(id)
			return held && holder.PID == os.Getpid()
		},
	})
	return err
}

// keyless says that nothing can be written: nobody, not even its user, could tell
// it from what others wrote.
func keyless(err error) error {
	return fail(exitUsage, "config", "%v; without the key nothing can be written: it would count as someone else's.", err).
		hint("XDG_STATE_HOME=DIR jp …", "keeps the key, and all that is only yours, in a folder that you may write to")
}

// Close says what was replaced, starts a packing that is due, and frees what the
// store holds.
func (r *repo) Close() error {
	if r.store == nil {
		return nil
	}
	r.values.report(r.env)
	r.packIfDue()
	return r.store.Close()
}

// keyFile has the key by which this user's events are known.
func (r *repo) keyFile() string { return filepath.Join(r.paths.StateDir, "key") }

// The files of jp's folders that name the repository and a linked working tree.
const (
	workspaceIDFile = repoid.FileName
	worktreeIDFile  = "worktree-id"
)

// worktreeID names a linked working tree, and goes with it; the main one has none. It
// is "" where none can be written.
func (r *repo) worktreeID() string {
	if r.GitDir == r.CommonDir {
		return ""
	}
	id, err := namedOnce(ownfolder.Place{GitDir: r.GitDir, Share: r.git.Share}, worktreeIDFile)
	if err != nil {
		return "" // its name has to do
	}
	return id
}

// own is where jp's folders are that belong to the whole repository.
func (r *repo) own() ownfolder.Place {
	return ownfolder.Place{GitDir: r.CommonDir, Share: r.git.Share}
}

// namedOnce is the random name in a file of jp's folder, which is made where there is none. It
// appears whole or not at all; one that is empty was cut off by a crash of the disk
// and is made anew.
func namedOnce(in ownfolder.Place, name string) (string, error) {
	if err := in.Check(); err != nil {
		return "", err
	}
	path := filepath.Join(in.GitDir, ownfolder.Name, name)
	if id, err := readWord(path); id != "" || err != nil {
		return id, err
	}
	id := []byte(strings.ToLower(rand.Text())[:8] + "\n")
	o := wholefile.Options{Mode: 0o666, FolderMode: 0o777, Share: in.Share}
	err := wholefile.Make(path, id, o)
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		if id, err := readWord(path); id != "" || err != nil {
			return id, err
		}
		err = wholefile.Replace(path, id, o)
	}
	if err != nil {
		return "", err
	}
	return readWord(path)
}

// readWord is the one word that a file holds, "" where there is no file.
func readWord(path string) (string, error) {
	text, err := plainfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case errors.Is(err, plainfile.ErrUnusual):
		err = fmt.Errorf("%s is no ordinary file: remove it, and jp makes it anew", path)
	}
	return strings.TrimSpace(string(text)), err
}
