package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// A Registry tells which conversations of a repository are run on this machine,
// and how to speak with the processes that run them. It is a folder outside of
// the repository: an entry for each conversation, its socket and its log.
//
// Who runs a conversation takes its lock first, then puts the entry, then
// listens; and removes both while it still holds the lock.
type Registry struct {
	DataDir    string // the folder of this user's data
	Workspace  string // the id of the workspace, a plain name
	Repository string // the absolute common git directory
}

// Folder is the registry's folder. Copies of a repository share it.
func (r Registry) Folder() string {
	return filepath.Join(r.DataDir, "workspace", r.Workspace, "processes")
}

func entryName(id conversation.ID) string  { return string(id) + ".json" }
func socketName(id conversation.ID) string { return string(id) + ".sock" }
func logName(id conversation.ID) string    { return string(id) + ".log" }

// Put publishes an entry atomically, in place of any earlier one.
func (r Registry) Put(e Entry) error {
	e.Version, e.WorkspaceID, e.Repository = entryVersion, r.Workspace, r.Repository
	text, err := e.encode()
	if err != nil {
		return fmt.Errorf("register %q: %w", e.ConversationID, err)
	}
	d, err := r.make()
	if err != nil {
		return fmt.Errorf("register %s: %w", e.ConversationID, err)
	}
	defer d.close()
	if err := d.replace(entryName(e.ConversationID), text); err != nil {
		return fmt.Errorf("register %s: %w", e.ConversationID, err)
	}
	return nil
}

// Get reads an entry, even if its process has ended. The error is fs.ErrNotExist if there is none.
func (r Registry) Get(id conversation.ID) (Entry, error) {
	var e Entry
	err := r.withFolder(id, func(d *folder) (err error) {
		e, err = d.entry(id)
		return err
	})
	if err != nil {
		return Entry{}, fmt.Errorf("read the registry: %w", err)
	}
	return e, nil
}

// entry reads an entry, and checks that it is about the conversation.
func (d *folder) entry(id conversation.ID) (Entry, error) {
	text, err := d.read(entryName(id), maxEntry)
	if err != nil {
		return Entry{}, err
	}
	if len(bytes.Trim(text, "\x00")) == 0 {
		return Entry{}, fmt.Errorf("%s: %w", d.join(entryName(id)), errBlank)
	}
	e, err := decode(text)
	if err == nil && e.ConversationID != id {
		err = fmt.Errorf("%w: it is about %s; remove it", ErrBadEntry, e.ConversationID)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", d.join(entryName(id)), err)
	}
	return e, nil
}

// errBlank is an entry of which a power cut left the name.
var errBlank = fmt.Errorf("%w: it is empty", fs.ErrNotExist)

// removeBlank removes a blank entry. Processes never put one.
func (d *folder) removeBlank(id conversation.ID) error {
	return d.alone(func() error {
		if _, err := d.entry(id); errors.Is(err, errBlank) {
			return d.remove(socketName(id), entryName(id))
		}
		return nil
	})
}

// Remove removes the entry and the socket of a conversation that the caller
// holds, and leaves those of a copy of the repository.
func (r Registry) Remove(id conversation.ID) error {
	return r.drop(id, socketName(id), entryName(id))
}

// Forget removes all that there is of a conversation that was deleted: entry,
// socket and log.
func (r Registry) Forget(id conversation.ID) error {
	return r.drop(id, logName(id), socketName(id), entryName(id))
}

func (r Registry) drop(id conversation.ID, names ...string) error {
	err := r.withFolder(id, func(d *folder) error { return d.removeOf(id, r.Repository, names...) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unregister %s: %w", id, err)
	}
	return nil
}

// removeOf removes names, unless the entry is another repository's. It reads the entry again while other
// processes cannot put one, since an earlier reading may be out of date.
func (d *folder) removeOf(id conversation.ID, repository string, names ...string) error {
	return d.alone(func() error {
		if e, err := d.entry(id); err == nil && !sameFolder(e.Repository, repository) {
			return nil
		}
		return d.remove(names...)
	})
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Log opens the conversation's log, empty, to write at its end. The caller
// closes it.
func (r Registry) Log(id conversation.ID) (*os.File, error) {
	f, err := r.openLog(id)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", id, err)
	}
	return f, nil
}

func (r Registry) openLog(id conversation.ID) (*os.File, error) {
	d, err := r.makeFor(id)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f, err := d.open(logName(id), unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o600), f.Truncate(0)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// withFolder opens the folder for work on one conversation.
func (r Registry) withFolder(id conversation.ID, work func(*folder) error) error {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return err
	}
	d, err := r.open()
	if err != nil {
		return err
	}
	defer d.close()
	return work(d)
}

// makeFor is make, for one conversation.
func (r Registry) makeFor(id conversation.ID) (*folder, error) {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return nil, err
	}
	return r.make()
}

// make opens the folder, and makes it if it is missing.
func (r Registry) make() (*folder, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	made := os.MkdirAll(r.Folder(), 0o700)
	d, err := openFolder(r.Folder())
	if errors.Is(err, fs.ErrNotExist) && made != nil {
		return nil, made
	}
	return d, err
}

func (r Registry) open() (*folder, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return openFolder(r.Folder())
}

// check keeps the folder below the data directory.
func (r Registry) check() error {
	if r.Workspace == "" || r.Workspace == "." || !filepath.IsLocal(r.Workspace) || filepath.Base(r.Workspace) != r.Workspace {
		return fmt.Errorf("workspace id %q is not a plain name", r.Workspace)
	}
	if !filepath.IsAbs(r.DataDir) {
		return fmt.Errorf("data directory %q is not an absolute path", r.DataDir)
	}
	return nil
}

// SameRepository reports whether an entry is of this repository, rather than of a copy.
func (r Registry) SameRepository(e Entry) bool { return sameFolder(e.Repository, r.Repository) }
