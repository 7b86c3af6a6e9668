package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/gitcmd/convert"
)

// WriteOp is a path that is to become another version.
type WriteOp struct {
	Path string
	Is   Version // the present version
	To   Version
	Size int64  // of the file when it had that content, 0 if unknown
	Ends string // see [LineEnds]
	From Source // has the content as it was on disk; nil: a git object has it
	Mode uint32 // the mode that the file gets; 0: the one that git gives it
}

// A Source has the content of files under git's names for it, to be written without conversion.
type Source interface {
	Blob(oid string) ([]byte, error)
}

// ModeFolder is the mode of an empty folder, which no tree has.
const ModeFolder = modeTree

// fromGit reports whether git checks the content out.
func (p WriteOp) fromGit() bool {
	return p.From == nil && p.To != (Version{}) && p.To.Mode != modeTree && !p.modeOnly()
}

// modeOnly reports whether the content stays.
func (p WriteOp) modeOnly() bool { return p.Mode != 0 && p.Is == p.To }

// StatCache identifies files at a moment, so that Restore does not overwrite a later write.
type StatCache map[string]fileID

// fileID distinguishes a file from a later one at its path. The zero fileID stands for a missing file.
type fileID struct {
	inode, links uint64
	size         int64
	mtime, ctime Timestamp
}

// StatAll notes the files at the paths.
func (w *Worktree) StatAll(paths []string) StatCache {
	seen := StatCache{}
	for _, p := range paths {
		seen[p] = w.statID(p)
	}
	return seen
}

// Exists reports whether there was a file at a path of the cache.
func (s StatCache) Exists(path string) bool { return s[path] != fileID{} }

func (w *Worktree) statID(p string) fileID {
	st, err := w.lookup(p)
	if err != nil {
		return fileID{}
	}
	return fileID{inode: uint64(st.Ino), links: uint64(st.Nlink), size: st.Size, mtime: modified(st), ctime: changed(st)}
}

// Why a path stays as it is.
const (
	whyProtected = "it is protected: .git, .jp and jp's own files"
	whySubmodule = "it is a submodule"
	whyOther     = "its folder %q is a repository of its own now"
	whyTouched   = "others wrote it just now"
	whyUnknown   = "something is there that no snapshot has"
	whyFolder    = "a folder is in its place"
	whyBlocked   = "something other than a folder is in the place of its folder"
	whyContent   = "its content cannot be read"
	whyRefused   = "git could not write it: "
	whyLFS       = "its content is not in this repository's LFS storage; git lfs fetch --all brings what a server has"
	whyAbsent    = "its content is not in this partial clone; git fetch --refetch --no-filter brings it"

	// WhyStopped is that of the paths that are left after a stop.
	WhyStopped = "stopped before it"
)

// Restore writes versions of files into the working tree, as git would check them out: line ends and
// filters apply as configured, except filters that the repository itself names, and a file gets the line
// ends that it had, as far as the user's index tells. Removals come first; folders that they empty go, and
// missing ones are made. A file appears whole or not at all.
//
// The caller holds the mutation lock, and has called StatAll before it read the files. A path that was
// written since then stays, and so does an unwritable one: Restore returns them, sorted, with the reason.
// protected are absolute paths that it never writes. It leaves the index and HEAD alone. It fails only if
// all of it stops. When ctx ends it stops between two files, and returns the rest as left; it fails if it
// has written nothing.
func (w *Worktree) Restore(ctx context.Context, puts []WriteOp, seen StatCache, protected []string) ([]Skipped, error) {
	r, err := w.restoring(seen, protected)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer r.root.Close()
	config, err := w.contentConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	r.trustMode = trustMode(config)
	for _, group := range byRules(puts) {
		known := len(r.left)
		err := r.restore(ctx, group)
		if err != nil && ctx.Err() != nil { // before the first of the group
			r.left, err = r.left[:known], nil
			for _, p := range group {
				r.stop(p.Path)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
	}
	if ctx.Err() != nil && !r.wrote {
		return nil, fmt.Errorf("restore: %w", context.Cause(ctx))
	}
	slices.SortFunc(r.left, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return r.left, nil
}

func (w *Worktree) restoring(seen StatCache, protected []string) (*restoring, error) {
	root, err := os.OpenRoot(w.repo.TopLevel)
	return &restoring{
		w: w, root: root, seen: maps.Clone(seen), guarded: guard(append(protected, w.repo.GitDir, w.repo.CommonDir)),
		failed: map[string]string{}, killed: map[string]bool{}, tidied: map[string]bool{},
	}, err
}

// byRules puts attribute files before the files that git checks out by them, and removals, which may have
// to make room for them, beside them.
func byRules(puts []WriteOp) [][]WriteOp {
	if !slices.ContainsFunc(puts, func(p WriteOp) bool { return rulesFile(p.Path) }) {
		return [][]WriteOp{puts}
	}
	var first, then []WriteOp
	for _, p := range puts {
		if p.To == (Version{}) || rulesFile(p.Path) {
			first = append(first, p)
		} else {
			then = append(then, p)
		}
	}
	return [][]WriteOp{first, then}
}

// restore puts back files that do not depend on each other.
func (r *restoring) restore(ctx context.Context, puts []WriteOp) error {
	puts, err := r.admit(ctx, puts)
	if err != nil {
		return err
	}
	if err := r.stage(ctx, puts); err != nil {
		return err
	}
	defer os.RemoveAll(r.staged)
	if err := r.keepLineEnds(ctx, puts); err != nil {
		return err
	}
	slices.SortFunc(puts, func(a, b WriteOp) int { return strings.Compare(a.Path, b.Path) })
	for _, p := range puts {
		if p.To == (Version{}) {
			r.put(ctx, p, r.remove)
		}
	}
	for _, p := range puts {
		if p.To != (Version{}) {
			r.put(ctx, p, r.write)
		}
	}
	return nil
}

// put does it with one path, unless it is time to stop.
func (r *restoring) put(ctx context.Context, p WriteOp, do func(WriteOp) error) {
	if ctx.Err() != nil {
		r.stop(p.Path)
		return
	}
	err := do(p)
	r.wrote = r.wrote || err == nil
	r.note(p.Path, err)
}

func (r *restoring) stop(path string) {
	r.left = append(r.left, Skipped{Path: path, Why: WhyStopped})
}

// restoring is one Restore.
type restoring struct {
	w       *Worktree
	root    *os.Root
	seen    StatCache
	linked  map[uint64][]string // the paths seen of files that have more names, by inode
	guarded protectedFiles
	staged  string            // folder with the new content, by path
	failed  map[string]string // why paths could not be staged
	left    []Skipped
	wrote   bool // something is put back

	trustMode bool              // the executable bit is recorded
	filters   map[string]string // of the files that are to be written and have one, by path

	killed map[string]bool // names of stages that restores left which were killed
	tidied map[string]bool // folders that were searched for files of killed restores
}

func (r *restoring) note(path string, err error) {
	if err != nil {
		var refused refusal
		r.left = append(r.left, Skipped{Path: path, Why: err.Error(), Failed: !errors.As(err, &refused)})
	}
}

// admit takes out the paths that are never written.
func (r *restoring) admit(ctx context.Context, puts []WriteOp) ([]WriteOp, error) {
	var admitted []WriteOp
	for _, p := range puts {
		switch {
		case checkPath(p.Path) != nil || slices.ContainsFunc(strings.Split(p.Path, "/"), reserved):
			r.left = append(r.left, Skipped{Path: p.Path, Why: whyProtected})
		case p.Is.Mode == modeSub || p.To.Mode == modeSub:
			r.left = append(r.left, Skipped{Path: p.Path, Why: whySubmodule})
		default:
			other := r.w.otherRepository(p.Path)
			if st, err := r.w.lookup(other); other != "" && err == nil && isDir(st) { // but not a link to one
				r.left = append(r.left, Skipped{Path: p.Path, Why: fmt.Sprintf(whyOther, other)})
				continue
			}
			admitted = append(admitted, p)
		}
	}
	return r.withoutFiltered(ctx, admitted)
}

// withoutFiltered takes out the paths whose content needs a filter that jp does not run.
func (r *restoring) withoutFiltered(ctx context.Context, puts []WriteOp) ([]WriteOp, error) {
	var files []string
	for _, p := range puts {
		if p.To.Mode != modeLink && (p.fromGit() || p.To == (Version{})) {
			files = append(files, p.Path)
		}
	}
	why, filters, err := r.w.unconverted(ctx, files, false)
	r.filters = filters
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(puts, func(p WriteOp) bool {
		if why[p.Path] == "" {
			return false
		}
		r.left = append(r.left, Skipped{Path: p.Path, Why: why[p.Path]})
		return true
	}), nil
}

// stage lets git check the new content out into a folder of its own.
func (r *restoring) stage(ctx context.Context, puts []WriteOp) (err error) {
	if err := r.w.makeState(); err != nil {
		return err
	}
	r.tidyStages()
	if r.staged, err = os.MkdirTemp(r.w.state(""), stagePrefix+"*"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(r.staged)
		}
	}()
	var entries strings.Builder
	for _, p := range puts {
		if p.From != nil {
			r.stageCopy(p)
		} else if p.fromGit() {
			fmt.Fprintf(&entries, "%s %s\t%s\x00", p.To.Mode, p.To.OID, p.Path)
		}
	}
	paths, err := r.withoutPointers(ctx, puts)
	if err != nil || len(paths) == 0 {
		return err
	}
	_, err = r.w.git.RunWith(ctx, gitcmd.Command{
		Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(entries.String()), Env: r.index(),
	})
	if err != nil {
		return err
	}
	return r.checkOut(ctx, paths)
}

// stageCopy writes content as it was.
func (r *restoring) stageCopy(p WriteOp) {
	data, err := p.From.Blob(p.To.OID)
	name := filepath.Join(r.staged, "files", filepath.FromSlash(p.Path))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	switch {
	case err != nil:
	case p.To.Mode == modeLink:
		err = os.Symlink(string(data), name)
	default:
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		r.failed[p.Path] = "its copy cannot be read: " + plain(err).Error()
	}
}

func (r *restoring) index() []string {
	return []string{"GIT_INDEX_FILE=" + filepath.Join(r.staged, "index")}
}

// checkOut lets git stage paths. Git stops at the first one that it cannot write, because a filter fails or
// content is missing, and may leave an empty file of it: halving finds all of them, each with git's reason,
// and leaves the others whole.
func (r *restoring) checkOut(ctx context.Context, paths []string) error {
	_, err := r.w.git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"checkout-index", "-f", "-z", "--stdin", "--prefix=" + filepath.Join(r.staged, "files") + "/"},
		Stdin: strings.NewReader(joinNUL(paths)), Env: r.index(), Required: names(r.filters),
	})
	var exit *gitcmd.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit) || exit.Code <= 0:
		return err
	case len(paths) == 1 && notHere(err):
		r.failed[paths[0]] = whyAbsent
		return nil
	case len(paths) == 1:
		r.failed[paths[0]] = whyRefused + firstError(exit.Stderr)
		return nil
	default:
		half := len(paths) / 2
		if err := r.checkOut(ctx, paths[:half]); err != nil {
			return err
		}
		return r.checkOut(ctx, paths[half:])
	}
}

// withoutPointers takes note of the files of git-lfs whose content is missing here, and returns the others.
// The user may want the pointers.
func (r *restoring) withoutPointers(ctx context.Context, puts []WriteOp) ([]string, error) {
	var paths, oids []string
	for _, p := range puts {
		if p.fromGit() && r.filters[p.Path] != "" {
			oids = append(oids, p.To.OID)
		}
	}
	small, err := convert.Small(ctx, r.w.git, oids)
	if err != nil {
		return nil, err
	}
	for _, p := range puts {
		text, filter := small[p.To.OID], r.filters[p.Path]
		switch {
		case !p.fromGit():
			continue
		case filter != "" && convert.IsPointer(text) && !convert.LeavesPointers(ctx, r.w.git, filter) && !convert.Stored(ctx, r.w.git, text):
			r.failed[p.Path] = whyLFS
			continue
		}
		paths = append(paths, p.Path)
	}
	return paths, nil
}

// remove removes a file, and the folders that are empty without it.
func (r *restoring) remove(p WriteOp) error {
	here, err := r.folder(p.Path, false)
	if err != nil {
		return plain(err)
	}
	defer here.Close()
	if _, err := r.untouched(p, here); err != nil {
		return plain(err)
	}
	if err := here.Remove(path.Base(p.Path)); err != nil {
		return plain(err)
	}
	r.unlinked(p.Path)
	for dir := path.Dir(p.Path); dir != "."; dir = path.Dir(dir) {
		if r.root.Remove(dir) != nil {
			break // something is left in it
		}
	}
	return nil
}

// write puts a file or a symbolic link in place.
func (r *restoring) write(p WriteOp) error {
	if p.To.Mode == modeTree || p.modeOnly() {
		return r.writeMode(p)
	}
	if why := r.failed[p.Path]; why != "" {
		return errors.New(why)
	}
	staged := filepath.Join(r.staged, "files", filepath.FromSlash(p.Path))
	source, err := os.Lstat(staged)
	if err != nil {
		return errors.New(whyContent)
	}
	here, err := r.folder(p.Path, true)
	if err != nil {
		return plain(err)
	}
	defer here.Close()
	old, err := r.untouched(p, here)
	if err != nil {
		return plain(err)
	}
	name := path.Base(p.Path)
	r.tidy(here, path.Dir(p.Path))
	temporary := temporaryPrefix + filepath.Base(r.staged)
	if err := r.copy(here, temporary, staged, source, old, p.Mode); err != nil {
		return errors.Join(plain(err), discard(here, temporary))
	}
	if _, err := r.untouched(p, here); err != nil {
		return errors.Join(plain(err), discard(here, temporary))
	}
	if old != nil && old.IsDir() { // an empty one: a file takes its place
		if here.Remove(name) != nil {
			return errors.Join(refusal(whyFolder), discard(here, temporary))
		}
	}
	if err := here.Rename(temporary, name); err != nil {
		return errors.Join(plain(err), discard(here, temporary))
	}
	r.unlinked(p.Path)
	return nil
}

// writeMode makes a folder, or gives a file its mode.
func (r *restoring) writeMode(p WriteOp) error {
	here, err := r.folder(p.Path, true)
	if err != nil {
		return plain(err)
	}
	defer here.Close()
	if _, err := r.untouched(p, here); err != nil {
		return plain(err)
	}
	name := path.Base(p.Path)
	if p.To.Mode == modeTree && p.Is != p.To {
		if p.Is != (Version{}) {
			if err := here.Remove(name); err != nil {
				return plain(err)
			}
		}
		if err := here.Mkdir(name, 0o777); err != nil {
			return plain(err)
		}
	}
	return plain(here.Chmod(name, fileMode(p.Mode)))
}

// fileMode is a mode of lstat without the kind.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for bit, is := range map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky} {
		if mode&bit != 0 {
			m |= is
		}
	}
	return m
}

// copy makes a new file of staged content. Permissions are those of the file
// that it replaces, but for the executable bit, unless a mode is given.
func (r *restoring) copy(here *os.Root, name, staged string, source, old os.FileInfo, mode uint32) error {
	if source.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(staged)
		if err != nil {
			return err
		}
		return here.Symlink(target, name)
	}
	from, err := os.OpenFile(staged, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := here.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		perm := r.permissions(source, old)
		if mode != 0 {
			perm = fileMode(mode)
		}
		err = to.Chmod(perm)
	}
	if err == nil && !r.w.opts.Volatile {
		err = r.w.flush(to)
	}
	return errors.Join(err, to.Close())
}

func (r *restoring) permissions(source, old os.FileInfo) fs.FileMode {
	mode := source.Mode().Perm()
	if old == nil || !old.Mode().IsRegular() {
		return mode
	}
	kept := old.Mode().Perm()
	if !r.trustMode || kept&0o100 == mode&0o100 {
		return kept
	}
	kept &^= 0o111
	if mode&0o100 != 0 {
		kept |= kept & 0o444 >> 2
	}
	return kept
}
