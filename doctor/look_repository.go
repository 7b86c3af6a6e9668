package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/internal/safefile"
)

func (c *checkup) lookAtGit(ctx context.Context) []Finding {
	version, err := gitcmd.Version(ctx, gitcmd.Options{Environ: c.env.Environ})
	var exit *gitcmd.ExitError
	return Git{Version: version, Old: errors.Is(err, gitcmd.ErrGitTooOld), Ran: errors.As(err, &exit), Err: err}.Findings()
}

// repository is what git says of the repository, and what the file system does.
func (c *checkup) repository(ctx context.Context, at gitcmd.Repository, err error) Repository {
	found := Repository{
		Dir: c.dir, Err: err, TopLevel: at.TopLevel, GitDir: at.GitDir, Common: at.CommonDir, Objects: at.ObjectFormat,
		Bare: at.Bare, Shallow: at.Shallow, User: os.Geteuid(), Owner: os.Geteuid(),
	}
	var refusal *gitcmd.Refusal
	var exit *gitcmd.ExitError
	if errors.As(err, &refusal) {
		found.Hint = problem.OneLine(lastLine(refusal.Hint()))
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
			found.Hint = "conversations need a repository with SHA-1 objects: " + action.InitSHA1.String()
		case errors.Is(err, gitcmd.ErrRefFormat):
			found.Hint = "git refs migrate --ref-format=files, of git 2.46 or newer"
		case errors.As(err, &exit) && strings.Contains(exit.Stderr, "bad config"):
			found.Hint = "mend the configuration of git that it names"
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
	promised, _ := filepath.Glob(filepath.Join(glob(at.CommonDir), "objects", "pack", "*.promisor")) // the pattern is right
	found.Partial = len(promised) > 0
	found.ReadOnly = unwritten(at.CommonDir)
	found.Index = damagedIndex(ctx, at, c.env)
	found.Own = ownFolders(at.CommonDir)
	found.Unusual = unusualFiles(at)
	var link *safefile.LinkError
	if errors.As(found.Own, &link) {
		found.Instead = link.Path
	}
	return found
}

// lookAtRemotes reads what git does to conversations when it fetches and pushes.
func (c *checkup) lookAtRemotes(ctx context.Context) []Finding {
	out, err := c.repo.Git.Run(ctx, "config", "-z", "--show-scope", "--get-regexp", `^(remote\..*\.(fetch|push|mirror|prune)|fetch\.prune)$`)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // there is none
		return nil
	}
	found := Remotes{Err: err}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		key, value, given := strings.Cut(words[i+1], "\n")
		if !given {
			value = "true"
		}
		found.Settings = append(found.Settings, Setting{Scope: words[i], Key: key, Value: value})
	}
	return found.Findings()
}

// damagedIndex is what git says of an index that it cannot read, nil where it can.
func damagedIndex(ctx context.Context, at gitcmd.Repository, e *repo.Host) error {
	if at.TopLevel == "" {
		return nil
	}
	_, err := gitcmd.At(at, gitcmd.Options{Environ: e.Environ}).Run(ctx, "ls-files", "--", ".git") // which is in no index
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.IndexDamaged() {
		return err
	}
	return nil
}

// ownFolders says why one of jp's folders cannot be used, nil where all can that are
// there.
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

// unusualFiles are files that stand in the place of jp's own and have another type.
func unusualFiles(at gitcmd.Repository) (paths []string) {
	common, own := filepath.Join(at.CommonDir, safefile.StateDirName), filepath.Join(at.GitDir, safefile.StateDirName)
	files := []string{
		filepath.Join(common, repo.WorkspaceIDFile), filepath.Join(common, "packing.json"), filepath.Join(common, "packing.lock"),
		filepath.Join(own, repo.WorktreeIDFile), filepath.Join(own, "index.json"), filepath.Join(own, "snapshot.lock"), filepath.Join(own, "mutation.lock"),
	}
	sessions, _ := os.ReadDir(filepath.Join(common, repo.SessionsFolder)) // whether it can be read is looked at elsewhere
	for _, e := range sessions {
		files = append(files, filepath.Join(common, repo.SessionsFolder, e.Name()))
	}
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			paths = append(paths, file)
		}
	}
	return paths
}

// glob is a path as a pattern that nothing but it matches.
func glob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// lastLine is the line of git's advice that says what to type.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// unwritten says why jp cannot write what it has to, nil where it can.
func unwritten(common string) error {
	for _, dir := range []string{common, filepath.Join(common, "objects"), filepath.Join(common, "refs")} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return err
		}
	}
	return nil
}
