package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Listed file lies below a folder. Path is relative to it.
type Listed struct {
	Path  string
	State string // changes with the content, the mode and the file behind the name
}

// FilesBelow returns the files below a folder, without reading them, and follows no link. It enters no
// folder of skip. ok is false if there are more than most of them. Of logs only the names count.
func FilesBelow(folder string, skip []string, most int) (files []Listed, ok bool) {
	seen := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > most+1 { // and the folder itself
			return fs.SkipAll
		}
		if d != nil && d.IsDir() && slices.Contains(skip, path) {
			return fs.SkipDir
		}
		if path == folder {
			return nil // the folder exists, or has no entries
		}
		name, relErr := filepath.Rel(folder, path)
		if relErr != nil {
			return relErr
		}
		listed := Listed{Path: filepath.ToSlash(name)}
		switch {
		case err != nil: // a folder that cannot be read
			listed.State = Unread
		case d.IsDir():
			return nil
		case strings.HasSuffix(name, ".log") && d.Type().IsRegular():
			listed.State = "log"
		default:
			listed.State = stateOf(path)
		}
		files = append(files, listed)
		return nil
	})
	return files, err == nil && seen <= most+1
}

// stateOf is a code for the file system's data about a file.
func stateOf(path string) string {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return Unread
	}
	to, _ := os.Readlink(path) // of a link
	code := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %v %v %s", st.Dev, st.Ino, st.Mode, st.Size, modified(&st), changed(&st), to))
	return hex.EncodeToString(code[:16])
}
