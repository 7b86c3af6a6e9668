package worktree

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"jp/worktree/gitindex"
)

// mostSuspects is how many paths git is asked about by name: above, all is simpler.
const mostSuspects = 100

// suspects finds the tracked paths that may differ from an index. At all others
// everything that git keeps of a file, to the nanosecond, is unchanged, so git would
// skip them too. Unusual entries are suspect. ok is false if git has to look at
// everything.
func (w *Worktree) suspects(ctx context.Context, index string) (paths []string, ok bool) {
	data, written, err := readIndex(index)
	if err != nil {
		return nil, false
	}
	entries, err := gitindex.Parse(data, w.repo.ObjectFormat.Size())
	if err != nil {
		return nil, false
	}
	parts := parted(entries, runtime.GOMAXPROCS(0))
	found := make([]maybeModified, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { found[i] = w.suspect(ctx, part, written) })
	}
	wg.Wait()
	for _, f := range found {
		paths = append(paths, f.paths...)
		if !f.whole {
			return nil, false
		}
	}
	return paths, len(paths) <= mostSuspects
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
	whole bool
}

// suspect looks at entries, which are in the order of the index.
func (w *Worktree) suspect(ctx context.Context, entries []gitindex.Entry, written Timestamp) (found maybeModified) {
	folders := openFolders(w.repo.TopLevel)
	defer folders.close()
	for i := range entries {
		e := &entries[i]
		if e.Stage != 0 || len(found.paths) > mostSuspects || i%fewEntries == 0 && ctx.Err() != nil {
			return found
		}
		st, err := folders.lstat(e.Path)
		if err == unix.EINVAL || err == unix.ENAMETOOLONG || err == unix.EMFILE || err == unix.ENFILE {
			return found // it is no path, or not one for a command line; or there is no room to look
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

// folders are those above the path that was looked at last, open. None of them is a link:
// git takes what is behind one for absent.
type folders struct {
	fds  []int
	ends []int // of their names in path, but for that of the top
	path []byte
}

func openFolders(top string) *folders {
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &folders{}
	}
	return &folders{fds: []int{fd}}
}

func (f *folders) close() { f.leave(0) }

// leave closes all but n.
func (f *folders) leave(n int) {
	for _, fd := range f.fds[min(n, len(f.fds)):] {
		unix.Close(fd)
	}
	f.fds, f.ends = f.fds[:min(n, len(f.fds))], f.ends[:max(0, min(n-1, len(f.ends)))]
}

// mostPath is what no path is longer than that a file can have.
const mostPath = 4096

// mostOpen is how many folders are open at once.
const mostOpen = 64

// lstat looks at a path below the top. One that leads anywhere else is unix.EINVAL, one
// that is too long unix.ENAMETOOLONG, one that is too deep unix.EMFILE.
func (f *folders) lstat(path []byte) (st unix.Stat_t, err error) {
	if len(f.fds) == 0 {
		return st, unix.EBADF
	}
	if len(path) > mostPath {
		return st, unix.ENAMETOOLONG
	}
	slash := bytes.LastIndexByte(path, '/')
	if err := f.enter(path[:max(slash, 0)]); err != nil {
		return st, err
	}
	name := string(path[slash+1:])
	if !plainName(name) {
		return st, unix.EINVAL
	}
	for {
		err = unix.Fstatat(f.fds[len(f.fds)-1], name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			return st, err
		}
	}
}

// enter opens the folder of a path, from where it parts from that of the last one.
func (f *folders) enter(dir []byte) error {
	if len(f.ends) == strings.Count(string(dir), "/")+1 && bytes.Equal(f.path, dir) {
		return nil
	}
	keep := 0
	for keep < len(f.ends) && f.ends[keep] <= len(dir) && bytes.Equal(f.path[:f.ends[keep]], dir[:f.ends[keep]]) && (f.ends[keep] == len(dir) || dir[f.ends[keep]] == '/') {
		keep++
	}
	f.leave(keep + 1)
	f.path = dir
	at := 0
	if keep > 0 {
		at = f.ends[keep-1] + 1
	}
	for at < len(dir) {
		end := len(dir)
		if i := bytes.IndexByte(dir[at:], '/'); i >= 0 {
			end = at + i
		}
		name := string(dir[at:end])
		switch {
		case !plainName(name):
			return unix.EINVAL
		case len(f.fds) >= mostOpen:
			return unix.EMFILE
		}
		fd, err := unix.Openat(f.fds[len(f.fds)-1], name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f.fds, f.ends = append(f.fds, fd), append(f.ends, end)
		at = end + 1
	}
	return nil
}

// plainName is for names that stay where they are looked for.
func plainName(name string) bool { return name != "" && name != "." && name != ".." }
