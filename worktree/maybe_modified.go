package worktree

import (
	"context"
	"maps"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"jp/internal/nofollow"
	"jp/worktree/gitindex"
)

// mostSuspects is how many paths git is asked about by name: above, all is simpler.
const mostSuspects = 100

// suspects finds the tracked paths that may differ from an index. At all others
// everything that git keeps of a file, to the nanosecond, is unchanged, so git would
// skip them too. Unusual entries are suspect. ok is false if git has to look at
// everything. modes are the modes of the files that odd, if it is not nil, reports.
func (w *Worktree) suspects(ctx context.Context, index string, odd func(mode uint32) bool) (paths []string, modes map[string]uint32, ok bool) {
	data, written, err := readIndex(index)
	if err != nil {
		return nil, nil, false
	}
	entries, err := gitindex.Parse(data, w.repo.ObjectFormat.Size())
	if err != nil {
		return nil, nil, false
	}
	parts := parted(entries, runtime.GOMAXPROCS(0))
	found := make([]maybeModified, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { found[i] = w.suspect(ctx, part, written, odd) })
	}
	wg.Wait()
	for _, f := range found {
		paths = append(paths, f.paths...)
		if modes == nil {
			modes = f.modes
		} else {
			maps.Copy(modes, f.modes)
		}
		if !f.whole {
			return nil, nil, false
		}
	}
	return paths, modes, len(paths) <= mostSuspects
}

// readIndex reads an index file, and says when it was written.
func readIndex(path string) (data []byte, written Timestamp, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Timestamp{}, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, Timestamp{}, err
	}
	if st.Size > maxIndex {
		return nil, Timestamp{}, unix.EFBIG
	}
	data = make([]byte, st.Size)
	_, err = f.ReadAt(data, 0)
	return data, modified(&st), err
}

// maxIndex is more bytes than the index of any repository has that jp can work in.
const maxIndex = 1 << 30

// fewEntries are not worth a thread.
const fewEntries = 500

// parted are the entries in at most so many parts, all in order.
func parted(entries []gitindex.Entry, most int) (parts [][]gitindex.Entry) {
	most = max(1, min(most, len(entries)/fewEntries))
	for i := range most {
		parts = append(parts, entries[i*len(entries)/most:(i+1)*len(entries)/most])
	}
	return parts
}

// A maybeModified is which of some entries are suspect. It is whole unless there are too many
// or git has to look for another reason.
type maybeModified struct {
	paths []string
	modes map[string]uint32
	whole bool
}

// suspect looks at entries, which are in the order of the index.
func (w *Worktree) suspect(ctx context.Context, entries []gitindex.Entry, written Timestamp, odd func(mode uint32) bool) (found maybeModified) {
	folders := nofollow.Open(w.repo.TopLevel)
	defer folders.Close()
	for i := range entries {
		e := &entries[i]
		if e.Stage != 0 || len(found.paths) > mostSuspects || i%fewEntries == 0 && ctx.Err() != nil {
			return found
		}
		st, err := folders.Lstat(e.Path)
		if err == unix.EINVAL || err == unix.ENAMETOOLONG || err == unix.EMFILE || err == unix.ENFILE {
			return found // it is no path, or not one for a command line; or there is no room to look
		}
		if err == nil && odd != nil && st.Mode&unix.S_IFMT == unix.S_IFREG && odd(uint32(st.Mode)) {
			if found.modes == nil {
				found.modes = map[string]uint32{}
			}
			found.modes[string(e.Path)] = uint32(st.Mode)
		}
		if err == nil && !e.Open && same(e, &st) && !racy(e, written) || e.Skip && err == unix.ENOENT {
			continue
		}
		found.paths = append(found.paths, string(e.Path))
	}
	found.whole = true
	return found
}

// same says whether all that an index has of a file is as git found it.
func same(e *gitindex.Entry, st *unix.Stat_t) bool {
	return e.Mode == modeInIndex(uint32(st.Mode)) && e.Size == uint32(st.Size) && e.Inode == uint32(st.Ino) &&
		e.Mtime == short(modified(st)) && e.Ctime == short(changed(st)) && e.UID == st.Uid && e.GID == st.Gid
}

// short is a time as an index has it.
func short(m Timestamp) gitindex.Time { return gitindex.Time{Sec: uint32(m.Sec), Nsec: uint32(m.Nsec)} }

// racy says whether a file may have been written to after git had looked at it and before
// its index was written. A git may count in seconds only.
func racy(e *gitindex.Entry, written Timestamp) bool { return int64(e.Mtime.Sec) >= written.Sec }

// modeInIndex is the mode that git gives a file, 0 where it has none.
func modeInIndex(mode uint32) uint32 {
	switch {
	case mode&unix.S_IFMT == unix.S_IFLNK:
		return 0o120000
	case mode&unix.S_IFMT != unix.S_IFREG:
		return 0
	case mode&0o100 != 0:
		return 0o100755
	}
	return 0o100644
}
