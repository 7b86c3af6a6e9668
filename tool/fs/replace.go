package fs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"jp/internal/lazy"
)

// temporaryName is that of a file beside one that is being written.
var temporaryName = lazy.Regexp(`^\.jp-[A-Z2-7]{26}$`)

// temporaryAge is the age from which such a file is left over, since writing it takes moments.
const temporaryAge = time.Minute

// replace writes the new content beside the file, flushes it, and renames it into place. An existing file
// keeps its mode. If none was found, replace leaves alone one that has appeared meanwhile. It also deletes
// temporary files of killed processes.
func (p *openedName) replace(content []byte) error {
	p.tidy()
	temporary := ".jp-" + rand.Text()
	if err := p.writeNew(temporary, content); err != nil {
		return errors.Join(reason(err), p.discard(temporary))
	}
	if p.changed() {
		return errors.Join(ErrMoved, p.discard(temporary))
	}
	var err error
	if p.info == nil {
		err = renameNew(p.dir, temporary, p.dir, p.name)
	} else {
		err = p.dir.Rename(temporary, p.name)
	}
	if err != nil {
		return errors.Join(reason(err), p.discard(temporary))
	}
	return nil
}

// linked is a note that other names of a file keep its old content. Writing through them could change a file
// outside of the workspace, or one in the store of a package manager.
func (p *openedName) linked() string {
	if p.info == nil {
		return ""
	}
	if stat, ok := p.info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return fmt.Sprintf("[The file had %s. The others keep the old text, and this path is a file of its own now.]\n", count(int64(stat.Nlink), "hard link"))
	}
	return ""
}

// writeNew writes a new file. It fails if the name is taken.
func (p *openedName) writeNew(name string, content []byte) error {
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && p.info != nil {
		err = f.Chmod(p.info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// tidy deletes temporary files of killed processes in the folder, as far as it can.
func (p *openedName) tidy() {
	entries, err := fs.ReadDir(p.dir.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !temporaryName().MatchString(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > temporaryAge {
			_ = p.dir.Remove(entry.Name()) // another jp may have done it
		}
	}
}

func (p *openedName) discard(name string) error {
	if err := p.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, reason(err))
	}
	return nil
}
