package worktree

import (
	"bytes"
	"context"
	"maps"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// mostSuspects is the number of paths about which jp asks git by name: above, all is simpler.
const mostSuspects = 100

// An earlierLook is which tracked paths were suspect after a tool, with a watch of their folders from then on.
type earlierLook struct {
	mu    sync.Mutex
	watch *folderWatch
	index identity // the zero identity: there was no such look
	found maybeModified
}

// since are the paths to look at again, with their inodes. ok is false if all have to be looked at.
func (l *earlierLook) since(top, index string, odd bool) (again map[string]uint32, ok bool) {
	if now, err := identify(index); err != nil || l.index == (identity{}) || now != l.index || odd != (l.found.modes != nil) {
		return nil, false
	}
	changed, ok := l.watch.since()
	if !ok {
		return nil, false
	}
	again = map[string]uint32{}
	folders := safefile.OpenFolders(top)
	defer folders.Close()
	for path, renamed := range changed {
		st, err := folders.Lstat([]byte(path))
		if err != nil && !renamed { // it may have been a second name of another file
			return nil, false
		}
		again[path] = uint32(st.Ino)
	}
	return again, true
}

// among are the entries at some paths. ok is false if one of the paths is a second name of another entry.
func among(entries []indexEntry, again map[string]uint32) (some []indexEntry, ok bool) {
	inodes := map[uint32]bool{}
	for _, inode := range again {
		inodes[inode] = true
	}
	for i := range entries {
		if _, is := again[string(entries[i].Path)]; is {
			some = append(some, entries[i])
		} else if inodes[entries[i].Inode] && entries[i].Inode != 0 {
			return nil, false
		}
	}
	return some, true
}

// linked reports whether a file has several names.
func linked(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 }

// suspects finds the tracked paths that may differ from an index. At all others git's data about the file
// are unchanged, to the nanosecond, so git would skip them too. Unusual entries are suspect. ok is false if
// git has to look at everything. modes are the modes of the files that a non-nil opts.Odd reports. The look
// after a tool serves later ones, which look again at the paths that changed since.
func (w *Worktree) suspects(ctx context.Context, index string, opts SnapshotOptions) (paths []string, modes map[string]uint32, ok bool) {
	last := &w.looked
	last.mu.Lock()
	defer last.mu.Unlock()
	var again map[string]uint32
	after, known := opts.Since != nil && opts.Untracked, false
	if !after && !opts.Fresh {
		if again, known = last.since(w.repo.TopLevel, index, opts.Odd != nil); known && len(again) == 0 {
			return last.found.paths, last.found.modes, true
		}
	}
	data, id, err := readIndex(index)
	if err != nil {
		return nil, nil, false
	}
	entries, err := parseIndex(data, w.repo.ObjectFormat.Size())
	if err != nil {
		return nil, nil, false
	}
	if known = known && id == last.index; known {
		var some []indexEntry
		if some, known = among(entries, again); known {
			entries = some
		}
	}
	if after {
		last.index = identity{}
		last.watch.begin(w.repo.TopLevel, foldersOf(entries))
	}
	found := w.lookAt(ctx, entries, id.Mtime, opts.Odd)
	if known {
		found.addOld(&last.found, again)
	}
	if !found.whole || len(found.paths) > mostSuspects {
		return nil, nil, false
	}
	if after && !found.elsewhere {
		last.index, last.found = id, found
	}
	return found.paths, found.modes, true
}

// foldersOf are the folders of entries, each behind the one that it is in.
func foldersOf(entries []indexEntry) []string {
	folders, seen := []string{""}, map[string]struct{}{"": {}}
	for i := range entries {
		path := entries[i].Path
		if dir := path[:max(bytes.LastIndexByte(path, '/'), 0)]; len(dir) > 0 {
			if _, is := seen[string(dir)]; is {
				continue
			}
			for end := range len(path) {
				if folder := path[:end]; path[end] == '/' {
					if _, is := seen[string(folder)]; !is {
						seen[string(folder)] = struct{}{}
						folders = append(folders, string(folder))
					}
				}
			}
		}
	}
	return folders
}

func readIndex(path string) (data []byte, id identity, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, identity{}, err
	}
	defer f.Close()
	if id, err = identifyFile(f); err != nil {
		return nil, identity{}, err
	}
	if id.Size > maxIndex {
		return nil, identity{}, unix.EFBIG
	}
	data = make([]byte, id.Size)
	_, err = f.ReadAt(data, 0)
	return data, id, err
}

// maxIndex is more bytes than the index of any repository has that jp can work in.
const maxIndex = 1 << 30

// fewEntries are too few for a thread.
const fewEntries = 500

// parted are the entries in at most so many parts, all in order.
func parted(entries []indexEntry, most int) (parts [][]indexEntry) {
	most = max(1, min(most, len(entries)/fewEntries))
	for i := range most {
		parts = append(parts, entries[i*len(entries)/most:(i+1)*len(entries)/most])
	}
	return parts
}

// A maybeModified is which of some entries are suspect. It is whole unless there are too many
// or git has to look for another reason.
type maybeModified struct {
	paths     []string
	modes     map[string]uint32 // nil: unneeded
	whole     bool
	elsewhere bool // one can change without a note of the kernel: it has a second name, or lies in another file system
}

// addOld adds an earlier look's results for paths that this one skipped.
func (m *maybeModified) addOld(old *maybeModified, again map[string]uint32) {
	for _, path := range old.paths {
		if _, is := again[path]; !is {
			m.paths = append(m.paths, path)
		}
	}
	for path, mode := range old.modes {
		if _, is := again[path]; !is {
			m.modes[path] = mode
		}
	}
}

// lookAt looks at entries, which are in the order of the index, with all processors.
func (w *Worktree) lookAt(ctx context.Context, entries []indexEntry, written Timestamp, odd func(mode uint32) bool) maybeModified {
	parts := parted(entries, runtime.GOMAXPROCS(0))
	found := make([]maybeModified, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { found[i] = suspect(ctx, w.repo.TopLevel, part, written, odd) })
	}
	wg.Wait()
	all := found[0]
	for _, f := range found[1:] {
		all.paths = append(all.paths, f.paths...)
		maps.Copy(all.modes, f.modes)
		all.whole, all.elsewhere = all.whole && f.whole, all.elsewhere || f.elsewhere
	}
	return all
}

// suspect looks at entries, which are in the order of the index.
func suspect(ctx context.Context, top string, entries []indexEntry, written Timestamp, odd func(mode uint32) bool) (found maybeModified) {
	folders := safefile.OpenFolders(top)
	defer folders.Close()
	var at unix.Stat_t
	_ = unix.Stat(top, &at)
	if odd != nil {
		found.modes = map[string]uint32{}
	}
	for i := range entries {
		e := &entries[i]
		if e.Stage != 0 || len(found.paths) > mostSuspects || i%fewEntries == 0 && ctx.Err() != nil {
			return found
		}
		st, err := folders.Lstat(e.Path)
		if err == unix.EINVAL || err == unix.ENAMETOOLONG || err == unix.EMFILE || err == unix.ENFILE {
			return found // an invalid path, one too long for a command line, or there is no memory to look
		}
		if err == nil {
			found.elsewhere = found.elsewhere || linked(&st) || st.Dev != at.Dev
			if odd != nil && st.Mode&unix.S_IFMT == unix.S_IFREG && odd(uint32(st.Mode)) {
				found.modes[string(e.Path)] = uint32(st.Mode)
			}
		}
		if err == nil && !e.Open && same(e, &st) && !racy(e, written) || e.Skip && err == unix.ENOENT {
			continue
		}
		found.paths = append(found.paths, string(e.Path))
	}
	found.whole = true
	return found
}

// same reports whether all that an index has of a file is as git found it.
func same(e *indexEntry, st *unix.Stat_t) bool {
	return e.Mode == modeInIndex(uint32(st.Mode)) && e.Size == uint32(st.Size) && e.Inode == uint32(st.Ino) &&
		e.Mtime == short(modified(st)) && e.Ctime == short(changed(st)) && e.UID == st.Uid && e.GID == st.Gid
}

// short is a time as an index has it.
func short(m Timestamp) indexTime { return indexTime{Sec: uint32(m.Sec), Nsec: uint32(m.Nsec)} }

// racy reports whether a file may have been written to after git had looked at it and before
// its index was written. A git may count in seconds only.
func racy(e *indexEntry, written Timestamp) bool { return int64(e.Mtime.Sec) >= written.Sec }

// modeInIndex is the mode that git gives a file, 0 for other types.
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
