package leftover

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/process"
)

// gitLocks finds the locks of git's own. Git makes one beside a file that it is about to
// replace, and a git that is killed leaves it: then no git can write the file.
func (f *finding) gitLocks() {
	dirs := []string{f.GitDir}
	if f.CommonDir != f.GitDir {
		dirs = append(dirs, f.CommonDir)
	}
	for _, dir := range dirs {
		for _, below := range []string{"", "info", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack"} {
			entries, _ := os.ReadDir(filepath.Join(dir, below)) // no folder, no locks
			for _, e := range entries {
				f.gitLock(filepath.Join(dir, below, e.Name()), e)
			}
		}
		for _, below := range []string{"refs", "logs"} {
			_ = filepath.WalkDir(filepath.Join(dir, below), func(path string, d fs.DirEntry, err error) error {
				switch {
				case err != nil: // another check tells of it
				case d.IsDir() && path == filepath.Join(dir, "refs", "jp"): // refLocks
					return fs.SkipDir
				default:
					f.gitLock(path, d)
				}
				return nil
			})
		}
	}
}

func (f *finding) gitLock(path string, d fs.DirEntry) {
	if d.Type().IsRegular() && strings.HasSuffix(path, ".lock") && d.Name() != "packed-refs.lock" {
		f.add(GitLock, path, Suspect)
	}
}

// findGits says of git's locks which processes of git may hold them. A git that waits for
// an editor has its lock closed.
//
// A lock is free if the system tells what runs, no git of this user works in the repository,
// no process has the file open, and the file is this user's: no other user's git made it.
func (f *finding) findGits(sure bool) {
	var locks []*File
	for i := range f.files {
		if f.files[i].byGit() {
			locks = append(locks, &f.files[i])
		}
	}
	if len(locks) == 0 {
		return
	}
	gits, told := process.Programs(func(name string) bool { return name == "git" || strings.HasPrefix(name, "git-") })
	places, pids := f.places(), []int(nil)
	for _, git := range gits {
		if worksIn(git, places) {
			pids = append(pids, git.PID)
		}
	}
	for _, lock := range locks {
		lock.Gits = pids
		lock.Free = sure && told && len(pids) == 0 && len(lock.Openers) == 0 && lock.Age >= Settled && owned(lock.info)
	}
}

// byGit reports whether it is git that makes and holds such a lock.
func (f File) byGit() bool { return f.Kind == GitLock || f.Kind == RefLock && f.Conversation == "" }

// places are the folders of all working trees and git directories of the repository.
func (f *finding) places() (places []string) {
	places = []string{f.TopLevel, f.GitDir, f.CommonDir}
	if filepath.Base(f.CommonDir) == ".git" {
		places = append(places, filepath.Dir(f.CommonDir))
	}
	linked, _ := filepath.Glob(filepath.Join(f.CommonDir, "worktrees", "*", "gitdir")) // a pattern in the path only hides some
	for _, file := range linked {
		text, _ := os.ReadFile(file) // one that is gone has no place
		if at := strings.TrimSpace(string(text)); filepath.IsAbs(at) {
			places = append(places, filepath.Dir(at))
		}
	}
	for i, place := range places {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			places[i] = real
		}
	}
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}

// worksIn reports whether a git may work in the repository: in one of the places, on a git
// directory that is one, or where this process cannot know.
func worksIn(git process.Program, places []string) bool {
	at := []string{git.Dir}
	for i, arg := range git.Args {
		if value, with := strings.CutPrefix(arg, "--git-dir="); with {
			at = append(at, value)
		} else if arg == "--git-dir" && i+1 < len(git.Args) {
			at = append(at, git.Args[i+1])
		}
	}
	for _, pair := range git.Environ {
		if value, with := strings.CutPrefix(pair, "GIT_DIR="); with {
			at = append(at, value)
		}
	}
	return slices.ContainsFunc(at, func(path string) bool {
		if path == "" {
			return true
		}
		within := path
		if !filepath.IsAbs(path) {
			within = filepath.Join(git.Dir, path)
		}
		within, err := filepath.EvalSymlinks(within)
		if err != nil { // a relative path is from where git was before it went to its working tree
			return !filepath.IsAbs(path)
		}
		return slices.ContainsFunc(places, func(place string) bool {
			rest, err := filepath.Rel(place, within)
			return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
		})
	})
}
