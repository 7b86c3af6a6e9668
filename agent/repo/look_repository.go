package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/internal/safefile"

	"jp/internal/safetext"
)

// LooksLikeOne is the .git of a folder or of one around it, "" for none.
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
	if !safefile.IsRegular(git) {
		return ""
	}
	text, err := readWord(git)
	dir, is := strings.CutPrefix(text, "gitdir: ")
	if err != nil || !is {
		return ""
	}
	at := dir
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(git), at)
	}
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return safetext.Show(dir)
}
