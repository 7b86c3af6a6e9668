package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/internal/action"
	"jp/internal/safefile"
)

// A Repository has the facts about the repository. If Err is nil, jp can work in it.
type Repository struct {
	Dir  string // where the search began
	None bool   // nothing looks like a repository
	Err  error  // from git or jp
	Hint string // git's advice about Err

	TopLevel string // of the working tree, "" without one
	GitDir   string // of this working tree
	Common   string // the git directory that all working trees share
	Objects  string // the format of object names
	Refs     gitcmd.RefFormat
	Bare     bool
	Shallow  bool
	Partial  bool
	Owner    int // uid of the git directory
	User     int // uid of this process

	ReadOnly error    // why it is read-only
	StateDir error    // of using jp's own folder in it, or one below
	Unusual  []string // other files in the places of jp's
	Instead  string   // the path of a link in the place of such a folder, or ""
	Index    error    // of reading the index
	InTheWay []string // refs of others at refs/jp, or in the place of a folder of refs below it
}

// repository gathers the facts from git and the file system.
func (c *checkup) repository(ctx context.Context, at gitcmd.Repository, err error) Repository {
	found := Repository{
		Dir: c.dir, Err: err, TopLevel: at.TopLevel, GitDir: at.GitDir, Common: at.CommonDir, Objects: string(at.ObjectFormat), Refs: at.RefFormat,
		Bare: at.Bare, Shallow: at.Shallow, User: os.Geteuid(), Owner: os.Geteuid(),
	}
	var refusal *gitcmd.Refusal
	var exit *gitcmd.ExitError
	if errors.As(err, &refusal) {
		words := strings.TrimSpace(refusal.Hint())
		found.Hint = problem.OneLine(strings.TrimSpace(words[strings.LastIndexByte(words, '\n')+1:]))
		for _, way := range repo.WaysOut(refusal) {
			found.Hint = strings.TrimPrefix(strings.TrimSuffix(found.Hint, ".")+"; "+way.Action.String()+" "+way.Why, "; ")
		}
		found.None = errors.Is(err, gitcmd.ErrNotRepository) && found.Hint == "" && repo.LooksLikeOne(c.dir) == ""
	}
	if err != nil {
		git := repo.LooksLikeOne(c.dir)
		advice, few := TooFewFiles(err)
		switch {
		case found.Hint != "":
		case few:
			found.Hint = advice
		case errors.Is(err, gitcmd.ErrObjectFormat):
			found.Hint = "conversations need a repository with SHA-1 or SHA-256 objects: " + action.InitSHA1.String()
		case errors.As(err, &exit) && strings.Contains(exit.Stderr, "bad config"):
			found.Hint = "mend the configuration of git that it names"
		case git != "" && repo.MissingCommonOf(git).File != "":
			common := repo.MissingCommonOf(git)
			act, why := common.WayOut()
			found.Hint = strings.TrimSpace(common.Error() + " " + strings.TrimPrefix(act.String()+" ", " ") + why)
		case git != "" && repo.DanglingLink(git) != "":
			found.Hint = git + " names " + repo.DanglingLink(git) + ", which is not there: " + action.RepairWorktree.String() + " in the main working tree, where that was moved"
		case git != "":
			found.Hint = "look at " + git + ": git does not take it for a repository"
		}
		return found
	}
	if info, err := os.Stat(at.CommonDir); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			found.Owner = int(stat.Uid)
		}
	}
	common := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(at.CommonDir)
	promised, _ := filepath.Glob(filepath.Join(common, "objects", "pack", "*.promisor")) // the pattern is right
	found.Partial = len(promised) > 0
	found.ReadOnly = unwritten(at)
	found.Index = damagedIndex(ctx, at, c.env)
	// A ref cannot be below another: these names exclude jp's own.
	git := gitcmd.At(at, gitcmd.Options{Environ: c.env.Environ})
	for _, name := range []string{"refs/jp", "refs/jp/conversations", "refs/jp/archive", "refs/jp/remotes", "refs/jp/payloads"} {
		if _, err := git.Run(ctx, "show-ref", "--verify", "--quiet", name); err == nil {
			found.InTheWay = append(found.InTheWay, name)
		}
	}
	found.StateDir = ownFolders(at.CommonDir)
	found.Unusual = unusualFiles(at)
	var link *safefile.LinkError
	if errors.As(found.StateDir, &link) {
		found.Instead = link.Path
	}
	return found
}

// damagedIndex is git's error for an unreadable index, else nil.
func damagedIndex(ctx context.Context, at gitcmd.Repository, e *repo.Host) error {
	if at.TopLevel == "" {
		return nil
	}
	_, err := gitcmd.At(at, gitcmd.Options{Environ: e.Environ}).Run(ctx, "ls-files", "--", ".git") // a path that an index never has
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.IndexDamaged() {
		return err
	}
	return nil
}

// ownFolders is the error of using one of jp's existing folders, else nil.
func ownFolders(common string) error {
	own := safefile.StateDir{GitDir: common}
	if err := own.Check(); err != nil {
		return err
	}
	if _, err := os.ReadDir(filepath.Join(common, safefile.StateDirName)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, below := range []string{"locks", repo.DraftsFolder, repo.SessionsFolder} {
		if err := own.Check(below); err != nil {
			return err
		}
	}
	return nil
}

// unusualFiles are files of another type in the places of jp's own.
func unusualFiles(at gitcmd.Repository) (paths []string) {
	common, own := filepath.Join(at.CommonDir, safefile.StateDirName), filepath.Join(at.GitDir, safefile.StateDirName)
	names := []string{filepath.Join(common, repo.WorkspaceIDFile), filepath.Join(own, repo.WorktreeIDFile)}
	files := []string{
		names[0], names[1], filepath.Join(common, "packing.json"), filepath.Join(common, "packing.lock"), filepath.Join(own, "index.json"), filepath.Join(own, "snapshot.lock"), filepath.Join(own, "mutation.lock"),
	}
	sessions, _ := os.ReadDir(filepath.Join(common, repo.SessionsFolder)) // another check tests whether it can be read
	for _, e := range sessions {
		files = append(files, filepath.Join(common, repo.SessionsFolder, e.Name()))
	}
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && (!info.Mode().IsRegular() || slices.Contains(names, file) && info.Size() > safefile.MostRegular) {
			paths = append(paths, file)
		}
	}
	return paths
}

// unwritten is the error of writing to the repository, else nil.
func unwritten(at gitcmd.Repository) error {
	refs := filepath.Join(at.CommonDir, "refs")
	if at.RefFormat == gitcmd.Reftable {
		refs = at.TablesDir()
	}
	for _, dir := range []string{at.CommonDir, filepath.Join(at.CommonDir, "objects"), refs} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkup) inRepository(context.Context) []Finding { return c.found.Findings() }

// Findings judges the repository.
func (r Repository) Findings() []Finding {
	if r.None {
		return []Finding{found(Note, "repository", "there is no repository at %s, and conversations live in one", r.Dir).
			advise("%s makes one; %s asks in another one", action.Init, action.AskElsewhere)}
	}
	if r.Err != nil {
		return []Finding{found(Fail, "repository", "%v", r.Err).advise("%s", r.Hint)}
	}
	all := []Finding{found(OK, "repository", "%s, %s objects, refs as %s", r.kind(), r.Objects, r.Refs)}
	if r.Shallow {
		all = append(all, found(Note, "shallow", "a shallow clone: commits are missing, those of conversations that were fetched among them").
			advise("%s", action.Unshallow()))
	}
	if r.Partial {
		all = append(all, found(Note, "partial", "a partial clone: jp fetches no object that git left out; what needs one says so"))
	}
	if r.Owner != r.User {
		all = append(all, found(Note, "owner", "the repository belongs to uid %d, and you are uid %d; what jp writes is yours", r.Owner, r.User))
	}
	return append(all, r.access()...)
}

// kind describes the kind and the place of the repository.
func (r Repository) kind() string {
	switch {
	case r.TopLevel == "" && r.Bare:
		return fmt.Sprintf("%s, a bare repository: no files, no tools that change them", r.Common)
	case r.TopLevel == "":
		return fmt.Sprintf("%s, inside a git directory", r.GitDir)
	case r.GitDir != r.Common:
		return fmt.Sprintf("%s, a linked working tree of %s", r.TopLevel, r.Common)
	}
	return r.TopLevel
}

// access judges whether jp can read and write the repository.
func (r Repository) access() (all []Finding) {
	if r.ReadOnly != nil {
		all = append(all, found(Fail, "writable", "%s cannot be written to: %v. Conversations can be read, and not be gone on with", r.Common, r.ReadOnly).
			advise("make it writable for you"))
	}
	switch {
	case r.Instead != "":
		all = append(all, found(Fail, "folder", "%v, and no turn can run", r.StateDir).
			advise("look where it leads, and rm %s: jp makes its own folder again; conversations are not in it", r.Instead))
	case r.StateDir != nil:
		all = append(all, found(Fail, "folder", "jp's own folder cannot be read: %v", r.StateDir).
			advise("make %s/jp a folder of yours; what it holds can be lost, conversations are not in it", r.Common))
	}
	for _, path := range r.Unusual {
		all = append(all, found(Fail, "file", "%s is not a regular file, or is larger than 1 MiB", path).
			advise("rm -r %s: jp makes it again; conversations are not in it", path))
	}
	for _, name := range r.InTheWay {
		all = append(all, found(Fail, "refs", "%s is a ref of something else: jp can make no ref below it, so no conversation", name).
			advise("%s: a branch keeps the commit", action.KeepRef(name)))
	}
	if r.Index != nil {
		all = append(all, found(Fail, "index", "git's index is damaged: %v", r.Index).
			advise("%s makes a new one; what was staged is no longer staged, and files stay as they are", action.ReadTree))
	}
	return all
}
