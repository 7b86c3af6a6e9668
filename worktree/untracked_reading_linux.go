package worktree

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// mostAsked is the number of names about which jp asks git one by one: above, all is simpler.
const mostAsked = 100

// folderTimesReliable reports whether a folder lies in a file system that gives a folder another time
// whenever an entry of it is made, removed or renamed.
func folderTimesReliable(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	const zfs, bcachefs = 0x2fc12fc1, 0xca451a4e
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, zfs, bcachefs:
		return true
	}
	return false
}

// A folderReading makes one listing.
type folderReading struct {
	l       *untrackedLister
	began   changeTime // before anything was read
	sources ruleSources
	top     int // descriptor of the top level
	dev     uint64
	tracked []indexEntry
}

var errMoved = errors.New("it changed meanwhile")

// open opens the top level. The caller calls close.
func (r *folderReading) open() (closeTop func(), err error) {
	r.top, err = unix.Open(r.l.repo.TopLevel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(r.top, &st); err != nil {
		unix.Close(r.top)
		return nil, err
	}
	r.dev = uint64(st.Dev)
	return func() { unix.Close(r.top) }, nil
}

// readIndex reads the index that the sources are about.
func (r *folderReading) readIndex() error {
	at, err := r.l.indexStamp()
	if err != nil {
		return err
	}
	if r.tracked, err = r.l.entries(); err != nil {
		return err
	}
	if hashEntries(r.tracked) != r.sources.tracked {
		return errMoved
	}
	r.sources.index = at
	return nil
}

// find is the place of a path in the index, or the place for it.
func (r *folderReading) find(path string) (at int, found bool) {
	return slices.BinarySearchFunc(r.tracked, path, func(e indexEntry, path string) int { return bytes.Compare(e.Path, []byte(path)) })
}

// hasBelow reports whether the index has a path in a folder.
func (r *folderReading) hasBelow(dir string) bool {
	at, _ := r.find(dir + "/")
	return at < len(r.tracked) && bytes.HasPrefix(r.tracked[at].Path, []byte(dir+"/"))
}

// whole lets git list everything, and then reads the state of the folders. A folder that is unchanged since
// the beginning is as git saw it.
func (r *folderReading) whole(ctx context.Context) (*untrackedListing, error) {
	paths, err := r.l.ask(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := listingOf(paths)
	closeTop, err := r.open()
	if err != nil {
		return out, nil
	}
	defer closeTop()
	if r.readIndex() != nil {
		return out, nil
	}
	holds := map[string]bool{"": true}
	for _, f := range out.folders {
		for dir := f.path; !holds[dir]; dir, _ = splitPath(dir) {
			holds[dir] = true
		}
	}
	if r.walk(ctx, out, []string{""}, holds) != nil {
		return listingOf(paths), nil
	}
	out.sources, out.kept, out.walked = r.sources, r.sources.newest.before(r.began), true
	for _, f := range out.byPath {
		out.kept = out.kept && f.stamp != (folderStamp{}) && (f.rules == (folderStamp{}) || f.rules.Changed.before(r.began))
	}
	out.arrange()
	return out, nil
}

// walk reads folders that git has listed, and all below them that git looks into. It asks git whether the
// empty ones are ignored.
func (r *folderReading) walk(ctx context.Context, out *untrackedListing, level []string, holds map[string]bool) error {
	for len(level) > 0 {
		var below, unknown []string
		for _, dir := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			found, err := r.enter(out, dir)
			if err != nil {
				return err
			}
			for _, path := range found {
				if holds[path] || r.hasBelow(path) {
					below = append(below, path)
				} else {
					unknown = append(unknown, path)
				}
			}
		}
		ignored, err := r.ignored(ctx, unknown)
		if err != nil {
			return err
		}
		for _, path := range unknown {
			if !ignored[path] {
				below = append(below, path)
				continue
			}
			dir, name := splitPath(path)
			f := out.folder(dir)
			f.closed = append(f.closed, name)
		}
		level = below
	}
	return nil
}

// errInside says that a folder may be another repository, which only git can judge.
var errInside = errors.New("there may be another repository inside")

// enter reads one folder, of which git has named the untracked files, and gives the folders
// in it that may have to be read.
func (r *folderReading) enter(out *untrackedListing, dir string) (below []string, err error) {
	f := out.folder(dir)
	fd, err := r.openFolder(dir)
	if err == unix.EACCES || err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP {
		f.stamp = folderStamp{Ino: 1} // an impossible one, so that the next listing looks again
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	entries, err := r.read(fd, f)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := joinPath(dir, e.name)
		at, tracked := r.find(path)
		switch {
		case e.name == ".git" && dir == "":
		case e.name == ".git":
			return nil, errInside
		case e.dir && (hasName(out.repos, path+"/") || tracked && r.tracked[at].Mode == modeRepository):
			f.closed = append(f.closed, e.name)
		case e.dir:
			below = append(below, path)
		case e.file && !tracked && !hasName(f.names, e.name):
			f.ignored = append(f.ignored, e.name)
		case !e.dir && !e.file && !tracked:
			f.special = append(f.special, e.name)
		}
	}
	slices.Sort(f.ignored)
	return below, nil
}

// read notes the state of a folder and of its rules, and gives its entries.
func (r *folderReading) read(fd int, f *listedFolder) ([]folderEntry, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	f.stamp = folderStampOf(&st)
	f.settled = f.stamp.Changed.before(r.began) && f.stamp.Dev == r.dev
	entries, err := readFolderEntries(fd)
	if err != nil {
		return nil, err
	}
	f.empty = len(entries) == 0
	for _, e := range entries {
		if e.name == ignoreFile && unix.Fstatat(fd, ignoreFile, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			f.rules = folderStampOf(&st)
		}
	}
	return entries, nil
}

// openFolder opens a folder of the working tree without following links.
func (r *folderReading) openFolder(dir string) (fd int, err error) {
	if dir == "" {
		dir = "."
	}
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err = unix.Openat2(r.top, dir, &how)
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

// ignored asks git which of some folders it ignores.
func (r *folderReading) ignored(ctx context.Context, folders []string) (map[string]bool, error) {
	if len(folders) == 0 {
		return nil, nil
	}
	var input strings.Builder
	for _, path := range folders { // this command refuses literal names; a name after "./" has no magic
		input.WriteString("./" + path + "\x00")
	}
	out, err := r.l.opts.Git.RunWith(ctx, gitcmd.Command{
		Args: []string{"check-ignore", "-z", "--stdin"}, Stdin: strings.NewReader(input.String()), Env: []string{"GIT_LITERAL_PATHSPECS=0"},
	})
	var exit *gitcmd.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return nil, err
	}
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(path, "./")] = true
	}
	return ignored, nil
}

// refresh makes a listing from an earlier one. ok is false if git has to list everything again.
func (r *folderReading) refresh(ctx context.Context, base *untrackedListing) (now *untrackedListing, ok bool) {
	closeTop, err := r.open()
	if err != nil {
		return nil, false
	}
	defer closeTop()
	u := &listingUpdate{folderReading: r, base: base, now: &untrackedListing{byPath: make(map[string]*listedFolder, len(base.byPath)), repos: base.repos, kept: true, walked: true}}
	for i, f := range base.folders {
		if i%1000 == 0 && ctx.Err() != nil || !u.look(f) {
			return nil, false
		}
	}
	if !u.changed && len(base.repos) == 0 && base.sources.index == r.sources.index {
		return base, true
	}
	if u.askAboutNew(ctx) != nil {
		return nil, false
	}
	u.now.sources = r.sources
	u.now.arrange()
	return u.now, true
}

// An listingUpdate is a refresh at work.
type listingUpdate struct {
	*folderReading
	base, now *untrackedListing
	changed   bool     // the listing differs from the earlier one
	files     []string // of which git has to say whether they are untracked
	folders   []string // likewise
}

// look compares a folder with its known state, and reads it if it changed.
func (u *listingUpdate) look(f *listedFolder) (ok bool) {
	parent, _ := splitPath(f.path)
	if f.path != "" && u.now.byPath[parent] == nil {
		u.changed = true // it went with the folder that it was in
		return true
	}
	var st unix.Stat_t
	path := filepath.Join(u.l.repo.TopLevel, f.path)
	err := unix.Lstat(path, &st)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR || err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR:
		u.changed = true
		return f.path != ""
	case err != nil:
		return false
	}
	if at := folderStampOf(&st); f.rules != (folderStamp{}) {
		if unix.Lstat(filepath.Join(path, ignoreFile), &st) != nil || folderStampOf(&st) != f.rules {
			return false
		} else if f.settled && at == f.stamp {
			u.now.byPath[f.path] = f
			return true
		}
	} else if f.settled && at == f.stamp {
		u.now.byPath[f.path] = f
		return true
	}
	u.changed = true
	return u.again(f)
}

// again reads a folder that may have other entries than before.
func (u *listingUpdate) again(f *listedFolder) (ok bool) {
	if u.tracked == nil && u.readIndex() != nil {
		return false
	}
	n := u.now.folder(f.path)
	fd, err := u.openFolder(f.path)
	if err == unix.EACCES {
		n.stamp, n.names, n.ignored, n.closed, n.special, n.rules = folderStamp{Ino: 1}, f.names, f.ignored, f.closed, f.special, f.rules
		return true
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	entries, err := u.read(fd, n)
	if err != nil || n.rules != f.rules {
		return false
	}
	for _, e := range entries {
		path := joinPath(f.path, e.name)
		at, tracked := u.find(path)
		switch {
		case e.name == ".git" && f.path == "":
		case e.name == ".git":
			return false
		case e.dir && (hasName(f.closed, e.name) || tracked && u.tracked[at].Mode == modeRepository):
			n.closed = append(n.closed, e.name)
		case e.dir && u.base.byPath[path] == nil:
			u.folders = append(u.folders, path)
		case !e.file:
			if !e.dir && !tracked {
				n.special = append(n.special, e.name)
			}
		case hasName(f.names, e.name):
			n.names = append(n.names, e.name)
		case f.settled && hasName(f.ignored, e.name):
			n.ignored = append(n.ignored, e.name)
		case !tracked:
			u.files = append(u.files, path)
		}
	}
	slices.Sort(n.names) // for lookups before the end
	return len(u.files)+len(u.folders) <= mostAsked
}

func (u *listingUpdate) askAboutNew(ctx context.Context) error {
	asked := slices.Concat(u.files, u.folders, u.base.repos)
	if len(asked) == 0 {
		return nil
	}
	if u.tracked == nil {
		if err := u.readIndex(); err != nil {
			return err
		}
	}
	for i, path := range asked {
		asked[i] = strings.TrimSuffix(path, "/")
	}
	paths, err := u.l.ask(ctx, asked)
	if err != nil {
		return err
	}
	found := listingOf(paths)
	if !slices.Equal(found.repos, u.base.repos) {
		return errInside
	}
	holds := map[string]bool{}
	for _, f := range found.folders {
		for dir := f.path; dir != "" && !holds[dir]; dir, _ = splitPath(dir) {
			holds[dir] = true
		}
		n := u.now.folder(f.path)
		n.names = append(n.names, f.names...)
		slices.Sort(n.names)
		n.names = slices.Compact(n.names)
	}
	if err := u.newFolders(ctx, holds); err != nil {
		return err
	}
	for _, path := range u.files {
		dir, name := splitPath(path)
		n := u.now.byPath[dir]
		var st unix.Stat_t
		if hasName(n.names, name) {
			continue
		}
		n.ignored = append(n.ignored, name)
		n.settled = n.settled && unix.Lstat(filepath.Join(u.l.repo.TopLevel, dir), &st) == nil && folderStampOf(&st) == n.stamp
	}
	for _, f := range u.now.byPath {
		if f.stamp == (folderStamp{}) || f.rules != (folderStamp{}) && !f.rules.Changed.before(u.began) {
			return errMoved
		}
	}
	return nil
}

// newFolders reads the folders that are new, without ignored ones.
func (u *listingUpdate) newFolders(ctx context.Context, holds map[string]bool) error {
	var level, unknown []string
	for _, path := range u.folders {
		if holds[path] || u.hasBelow(path) {
			level = append(level, path)
		} else {
			unknown = append(unknown, path)
		}
	}
	ignored, err := u.ignored(ctx, unknown)
	if err != nil {
		return err
	}
	for _, path := range unknown {
		if dir, name := splitPath(path); ignored[path] {
			n := u.now.byPath[dir]
			n.closed = append(n.closed, name)
		} else {
			level = append(level, path)
		}
	}
	return u.walk(ctx, u.now, level, holds)
}

// An folderEntry of a folder. git skips one that is neither a folder nor a file.
type folderEntry struct {
	name      string
	dir, file bool // file: also a symbolic link
}

// readFolderEntries reads an open folder.
func readFolderEntries(fd int) (entries []folderEntry, err error) {
	const (
		lengthAt = 16
		typeAt   = 18
		nameAt   = 19
	)
	buffer := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(fd, buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return entries, err
		}
		for rest := buffer[:n]; len(rest) > nameAt; {
			length := int(rest[lengthAt]) | int(rest[lengthAt+1])<<8
			if length <= nameAt || length > len(rest) {
				return nil, unix.EIO
			}
			name, _, _ := bytes.Cut(rest[nameAt:length], []byte{0})
			kind := rest[typeAt]
			rest = rest[length:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			e := folderEntry{name: string(name)}
			if kind == unix.DT_UNKNOWN {
				var st unix.Stat_t
				if unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
					continue
				}
				kind = byte(st.Mode & unix.S_IFMT >> 12)
			}
			e.dir, e.file = kind == unix.DT_DIR, kind == unix.DT_REG || kind == unix.DT_LNK
			entries = append(entries, e)
		}
	}
}

// fewFolders are too few for a thread.
const fewFolders = 50

// written are the files that changed at or after a moment, sorted. It has to look at each file, since
// writing to a file leaves the time of its folder as it is.
func (l *untrackedListing) written(top string, since changeTime) (paths []string) {
	threads := max(1, min(runtime.GOMAXPROCS(0), len(l.folders)/fewFolders))
	found := make([][]string, threads)
	var wg sync.WaitGroup
	for i := range threads {
		part := l.folders[i*len(l.folders)/threads : (i+1)*len(l.folders)/threads]
		wg.Go(func() { found[i] = writtenSince(top, part, since) })
	}
	wg.Wait()
	for _, part := range found {
		paths = append(paths, part...)
	}
	slices.Sort(paths)
	return paths
}

func writtenSince(top string, folders []*listedFolder, since changeTime) (paths []string) {
	var st unix.Statx_t
	name := make([]byte, 0, 256)
	for _, f := range folders {
		if len(f.names) == 0 {
			continue
		}
		fd, err := unix.Open(filepath.Join(top, f.path), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, name := range f.names { // the caller looks at each by its path
				paths = append(paths, joinPath(f.path, name))
			}
			continue
		}
		for _, n := range f.names {
			name = append(append(name[:0], n...), 0)
			if at, errno := changedTimeAt(fd, name, &st); errno == 0 && !at.before(since) || errno != 0 && errno != unix.ENOENT {
				paths = append(paths, joinPath(f.path, n))
			}
		}
		unix.Close(fd)
	}
	return paths
}

// changedTimeAt is when a name, which ends in a zero, changed last. It does not tell the scheduler: the file
// system is on this machine, and there are very many names.
func changedTimeAt(fd int, name []byte, st *unix.Statx_t) (changeTime, syscall.Errno) {
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	for {
		_, _, errno := syscall.RawSyscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), flags, unix.STATX_CTIME, uintptr(unsafe.Pointer(st)), 0)
		if errno != unix.EINTR {
			return changeTime{st.Ctime.Sec, int64(st.Ctime.Nsec)}, errno
		}
	}
}
