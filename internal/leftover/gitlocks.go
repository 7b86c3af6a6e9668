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
// replace, and a killed git leaves it: then git can no longer write the file.
func (f *finding) gitLocks() {
	dirs := []string{f.GitDir}
	if f.CommonDir != f.GitDir {
		dirs = append(dirs, f.CommonDir)
	}
	for _, dir := range dirs {
		for _, below := range []string{"", "info", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack", "reftable"} {
			entries, _ := os.ReadDir(filepath.Join(dir, below)) // empty without the folder
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

// findGits finds the git processes that may hold git's locks. A git that waits for an editor has its lock
// closed.
//
// A lock is free if the system lists its processes, no git of this user works in the repository, no process
// has the file open, and the file is this user's, so that only the user's git can have made it.
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
		text, _ := os.ReadFile(file) // a process that is gone has no place
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

// worksIn reports whether a git may work in the repository: in one of the places, on a git directory that is
// one, or in an unknown place.
func worksIn(git process.Program, places []string) bool {
	if git.Dir == "" || within(git.Dir, places) {
		return true
	}
	begun := git.Dir // base of a relative path: git goes from there to its working tree
	var paths []string
	for _, pair := range git.Environ {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "GIT_DIR":
			paths = append(paths, value)
		case "PWD":
			begun = value
		}
	}
	for i := 1; i < len(git.Args) && strings.HasPrefix(git.Args[i], "-"); i++ { // behind the command stand options of its own
		arg, next := git.Args[i], ""
		if i+1 < len(git.Args) {
			next = git.Args[i+1]
		}
		switch value, is := strings.CutPrefix(arg, "--git-dir="); {
		case is:
			paths = append(paths, value)
			continue
		case arg == "--git-dir":
			paths = append(paths, next)
		case arg == "-C" && filepath.IsAbs(next):
			begun = next
		case arg == "-C":
			begun = filepath.Join(begun, next)
		case !slices.Contains([]string{"-c", "--work-tree", "--namespace", "--config-env", "--attr-source"}, arg):
			continue
		}
		i++ // its value
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		if filepath.IsAbs(path) {
			return within(path, places)
		}
		known := false
		for _, from := range []string{begun, git.Dir} {
			full := filepath.Join(from, path)
			if within(full, places) {
				return true
			}
			_, err := os.Stat(full)
			known = known || err == nil
		}
		return !known
	})
}

// within reports whether a path is one of the places, or below one.
func within(path string, places []string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return slices.ContainsFunc(places, func(place string) bool {
		rest, err := filepath.Rel(place, path)
		return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
	})
}
