package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of files that a restore writes while it works. A kill leaves them behind, and the next restore
// removes them.
const (
	stagePrefix     = "restore-"     // a folder in the worktree's state
	temporaryPrefix = ".jp-restore-" // a file beside the one that is put back
	leftAge         = time.Hour
)

// tidyStages removes the folders of killed restores, as far as it can, and notes their names. It holds the
// mutation lock, so every other restore has ended.
func (r *restoring) tidyStages() {
	entries, err := os.ReadDir(r.w.state(""))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), stagePrefix) {
			r.killed[entry.Name()] = true
			_ = os.RemoveAll(filepath.Join(r.w.state(""), entry.Name())) // the next one may
		}
	}
}

// tidy removes the files that such restores left in a folder of the working tree. It reads all of the
// folder, and does so once.
func (r *restoring) tidy(here *os.Root, folder string) {
	if r.tidied[folder] {
		return
	}
	r.tidied[folder] = true
	entries, err := fs.ReadDir(here.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() && r.abandoned(entry) {
			_ = here.Remove(entry.Name()) // the next one may
		}
	}
}

// abandoned reports whether a file is of a killed restore. If its stage is unknown, another repository that
// has the same files may be at work, unless it is old.
func (r *restoring) abandoned(entry fs.DirEntry) bool {
	stage, is := strings.CutPrefix(entry.Name(), temporaryPrefix)
	if !is || !strings.HasPrefix(stage, stagePrefix) {
		return false
	}
	if r.killed[stage] {
		return true
	}
	info, err := entry.Info()
	return err == nil && time.Since(info.ModTime()) > leftAge
}
