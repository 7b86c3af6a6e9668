package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What a restore writes while it works. A kill leaves it behind, and the next
// restore takes it away when it is so old that nobody is at work on it.
const (
	stagePrefix     = "restore-"     // a folder in the worktree's state
	temporaryPrefix = ".jp-restore-" // a file beside the one that is put back
	leftAge         = time.Hour
)

// tidyStages takes away the folders of restores that were killed, as far as it
// can.
func (w *Worktree) tidyStages() {
	entries, err := os.ReadDir(w.state(""))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() && abandoned(entry, stagePrefix) {
			_ = os.RemoveAll(filepath.Join(w.state(""), entry.Name())) // the next one may
		}
	}
}

// tidy takes away what such restores left in a folder of the working tree.
func tidy(here *os.Root) {
	entries, err := fs.ReadDir(here.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() && abandoned(entry, temporaryPrefix+stagePrefix) {
			_ = here.Remove(entry.Name()) // the next one may
		}
	}
}

func abandoned(entry fs.DirEntry, prefix string) bool {
	if !strings.HasPrefix(entry.Name(), prefix) {
		return false
	}
	info, err := entry.Info()
	return err == nil && time.Since(info.ModTime()) > leftAge
}
