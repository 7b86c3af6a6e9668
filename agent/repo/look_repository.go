package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// LooksLikeOne is the .git of a folder or of one around it, or "".
func LooksLikeOne(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if _, err := os.Lstat(git); err == nil {
			return git
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// DanglingLink is the missing folder that a .git file names, or "".
func DanglingLink(git string) string {
	if dir, at := linkedTo(git); dir != "" && isMissing(at) {
		return safetext.Show(dir)
	}
	return ""
}

// linkedTo is the folder that a .git file names, as written and as a path from git's working directory. Both are "" without one.
func linkedTo(git string) (dir, at string) {
	if !safefile.IsRegular(git) {
		return "", ""
	}
	text, err := readWord(git)
	dir, is := strings.CutPrefix(text, "gitdir: ")
	if err != nil || !is {
		return "", ""
	}
	return dir, from(filepath.Dir(git), dir)
}

func from(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// A MissingCommon is the file commondir of a git directory, and the missing folder that it names.
type MissingCommon struct {
	File, Dir string
	linked    bool // of a linked worktree
}

// MissingCommonOf is that of the git directory of a .git, with an empty File if all is there.
func MissingCommonOf(git string) MissingCommon {
	dir := git
	if _, at := linkedTo(git); at != "" {
		dir = at
	}
	m := MissingCommon{File: filepath.Join(dir, "commondir"), linked: filepath.Base(filepath.Dir(dir)) == "worktrees"}
	text, err := readWord(m.File)
	if m.Dir = text; err != nil || text == "" || !isMissing(from(dir, text)) {
		return MissingCommon{}
	}
	return m
}

func (m MissingCommon) Error() string {
	return safetext.Show(m.File) + " names " + safetext.Show(m.Dir) + ", which is not there."
}

// WayOut is a command that helps, or words.
func (m MissingCommon) WayOut() (act action.Action, why string) {
	if m.linked {
		return action.Action{}, "In a linked worktree the file has the line ../.. alone: write that, and git finds the main worktree."
	}
	return action.RemoveFile(m.File), "lets git use the folder of the file itself; only linked worktrees have such a file"
}
