package worktree

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A snapshot that finds something works on a copy of the user's index. The copy is kept, with a note of its
// origin and its tree: while both are the same, it knows files that the user's index calls changed, and
// spares the comparison with the parent's tree. If the snapshot found nothing, the note says that the
// user's index itself holds the tree. A snapshot that was made in process leaves the indexes alone, and the
// note names the paths at which the tree differs from the index that held its parent's. It is only a cache.

// identity tells one index file from another.
type identity struct {
	Inode   uint64    `json:"inode"`
	Size    int64     `json:"size"`
	Mtime   Timestamp `json:"mtime"`
	Ctime   Timestamp `json:"ctime"`
	Trailer string    `json:"trailer"` // git's checksum of the content
}

// indexNote describes an index. A copy from before the machine started may have been torn by a power cut.
type indexNote struct {
	Boot string    `json:"boot"`
	User identity  `json:"user"`
	Ours *identity `json:"ours,omitempty"` // of the copy, if there is one
	Tree string    `json:"tree"`
	But  [][]byte  `json:"but,omitempty"` // paths at which the tree may differ from the index
}

func (w *Worktree) userIndex() string { return filepath.Join(w.repo.GitDir, "index") }
func (w *Worktree) keptIndex() string { return w.state(indexName) }

const (
	indexName = "index"
	noteName  = "index.json"
	// untrackedName is the list of untracked files, with its sources.
	untrackedName = "untracked"
)

// known is the starting point of a snapshot.
type known struct {
	user  identity // the user's index
	holds bool     // an index has exactly the entries of the parent's tree, but for some
	kept  bool     // it is the kept one instead of the user's
	but   []string // the paths of those
}

// recall looks whether an index is known to hold tree.
func (w *Worktree) recall(tree string) known {
	user, err := identify(w.userIndex())
	if err != nil {
		return known{}
	}
	text, err := notes{w.stateDir()}.read(noteName)
	var note indexNote
	if err != nil || json.Unmarshal(text, &note) != nil {
		return known{user: user}
	}
	boot := bootID()
	if boot == "" || note.Boot != boot || note.Tree != tree || note.User != user {
		return known{user: user}
	}
	k := known{user: user, holds: true}
	if note.Ours != nil {
		ours, err := identify(w.keptIndex())
		if err != nil || ours != *note.Ours {
			return known{user: user}
		}
		k.kept = true
	}
	for _, path := range note.But {
		k.but = append(k.but, string(path))
	}
	return k
}

// forget drops the note, before the kept index is changed.
func (w *Worktree) forget() error {
	for _, stale := range []string{w.state(noteName), w.keptIndex() + ".lock"} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prepare index: %w", err)
		}
	}
	return nil
}

// remember notes that an index holds tree, but for some paths: the kept one, or the
// user's. It may fail: then the next snapshot looks at everything.
func (w *Worktree) remember(k known, tree string) {
	note := indexNote{Boot: bootID(), User: k.user, Tree: tree}
	if k.kept {
		ours, err := identify(w.keptIndex())
		if err != nil {
			return
		}
		note.Ours = &ours
	}
	for _, path := range k.but {
		note.But = append(note.But, []byte(path))
	}
	text, err := json.Marshal(note)
	if err != nil {
		return
	}
	notes{w.stateDir()}.write(noteName, text)
}

// copyIndex copies the user's index, with its modification time to the
// nanosecond: by it git tells entries whose file may have changed in the same
// tick. A newer time would hide such changes for good.
func (w *Worktree) copyIndex() (identity, error) {
	id, err := w.copyIndexFile()
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(w.keptIndex())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return identity{}, fmt.Errorf("copy index: %w", err)
	}
	return id, nil
}

// copyIndexFile gives up a copy that another user of the repository has made: only who
// made a file can set its time.
func (w *Worktree) copyIndexFile() (identity, error) {
	id, err := w.tryCopyIndex()
	if errors.Is(err, fs.ErrPermission) && os.Remove(w.keptIndex()) == nil {
		_ = os.Remove(w.state(noteName)) // it is about that copy
		id, err = w.tryCopyIndex()
	}
	return id, err
}

func (w *Worktree) tryCopyIndex() (id identity, err error) {
	from, err := os.Open(w.userIndex())
	if err != nil {
		return identity{}, err
	}
	defer from.Close()
	if id, err = identifyFile(from); err != nil {
		return identity{}, err
	}
	to, err := w.openState(indexName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return identity{}, err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return identity{}, err
	}
	stamp := unix.NsecToTimespec(id.Mtime.Sec*1e9 + id.Mtime.Nsec)
	return id, unix.UtimesNanoAt(unix.AT_FDCWD, w.keptIndex(), []unix.Timespec{stamp, stamp}, 0)
}

// identify describes an index file; the zero identity is a missing one.
func identify(path string) (identity, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, nil
	}
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	return identifyFile(f)
}

func identifyFile(f *os.File) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return identity{}, err
	}
	var trailer [20]byte
	if _, err := f.ReadAt(trailer[:], max(0, st.Size-int64(len(trailer)))); err != nil && err != io.EOF {
		return identity{}, err
	}
	return identity{
		Inode: uint64(st.Ino), Size: st.Size, Mtime: modified(&st), Ctime: changed(&st),
		Trailer: hex.EncodeToString(trailer[:]),
	}, nil
}

// mostRead is more than any file has that is read whole, in bytes.
const mostRead = 64 << 20

// readRegular reads a regular file. It refuses links, and pipes, for which another process would have to
// write.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > mostRead {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(f)
}
