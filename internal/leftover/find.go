package leftover

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safefile"
	"jp/process"
)

// A Place is the area of a search. Paths are absolute.
type Place struct {
	CommonDir string
	GitDir    string // of this working tree
	TopLevel  string // "" without a working tree
	// Gone reports whether a conversation no longer exists.
	Gone func(conversation.ID) bool
	// Now is the clock by which files are old; nil is time.Now.
	Now func() time.Time
}

func (p Place) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// Find finds leftovers. whole reports whether it searched the working tree to its end before ctx ended. It
// always searches the rest.
func (p Place) Find(ctx context.Context) (files []File, whole bool) {
	f := finding{Place: p, at: p.now()}
	f.refLocks()
	f.gitLocks()
	f.objects()
	f.packs()
	f.states()
	f.toolLocks()
	f.drafts()
	f.staged()
	for _, note := range HalfWorktrees(f.CommonDir) {
		f.add(Worktree, note, Suspect)
	}
	whole = f.workFiles(ctx)
	f.findOpeners()
	return f.files, whole
}

// A finding is a search under way.
type finding struct {
	Place
	at    time.Time
	files []File
}

// add notes a file that is old enough, and gives it for more to be said of it.
func (f *finding) add(kind Kind, path string, age time.Duration) *File {
	found := newFile(kind, path, f.at)
	if found == nil || found.Age < age {
		return nil
	}
	f.files = append(f.files, *found)
	return &f.files[len(f.files)-1]
}

// refLocks finds the locks of jp's refs, and the one of all packed refs.
func (f *finding) refLocks() {
	f.add(RefLock, filepath.Join(f.CommonDir, "packed-refs.lock"), Suspect)
	root := filepath.Join(f.CommonDir, "refs", "jp")
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lock") {
			return nil // unreadable folders are reported elsewhere
		}
		if found := f.add(RefLock, path, Suspect); found != nil {
			found.Conversation = ownerOfRef(strings.TrimPrefix(path, root+"/"))
		}
		return nil
	})
}

// ownerOfRef is the conversation whose lock is held by who moves a ref, named
// below refs/jp.
func ownerOfRef(lock string) conversation.ID {
	scope, name, _ := strings.Cut(strings.TrimSuffix(lock, ".lock"), "/")
	id, err := conversation.ParseID(name)
	if err != nil || scope != "conversations" && scope != "archive" && scope != "payloads" {
		return ""
	}
	return id
}

// objects finds leftovers of a writer of objects, git or jp.
func (f *finding) objects() {
	root := filepath.Join(f.CommonDir, "objects")
	folders := []string{root}
	for i := range 256 {
		folders = append(folders, filepath.Join(root, hex(i)))
	}
	for _, dir := range folders {
		f.named(Object, dir, "tmp_obj_", Abandoned)
	}
}

func hex(i int) string { return string("0123456789abcdef"[i>>4]) + string("0123456789abcdef"[i&15]) }

// packs finds unfinished packs and indices.
func (f *finding) packs() {
	dir := filepath.Join(f.CommonDir, "objects", "pack")
	for _, prefix := range []string{"tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_mtimes_"} {
		f.named(Pack, dir, prefix, Abandoned)
	}
	f.named(Pack, filepath.Join(f.CommonDir, "objects", "jp-packing"), "pack-", Abandoned)
}

// states finds files of jp's own that never got their final names, in its folders and those in them.
func (f *finding) states() {
	f.named(State, filepath.Join(f.GitDir, safefile.StateDirName), ".jp-mark-", Suspect)
	for _, dir := range slices.Compact([]string{f.CommonDir, f.GitDir}) {
		own := filepath.Join(dir, safefile.StateDirName)
		f.unfinished(own)
		entries, _ := os.ReadDir(own) // empty without the folder
		for _, e := range entries {
			if e.IsDir() {
				f.unfinished(filepath.Join(own, e.Name()))
			}
		}
	}
}

// unfinished finds the files in a folder that were to replace others.
func (f *finding) unfinished(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() && safefile.IsTemporary(e.Name()) {
			f.add(State, filepath.Join(dir, e.Name()), Suspect)
		}
	}
}

// named finds the plain files in a folder whose names begin so.
func (f *finding) named(kind Kind, dir, prefix string, age time.Duration) {
	entries, _ := os.ReadDir(dir) // empty without the folder
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), prefix) {
			f.add(kind, filepath.Join(dir, e.Name()), age)
		}
	}
}

// toolLocks finds the locks of tool runs that no process holds.
func (f *finding) toolLocks() {
	locks := process.LocksIn(f.CommonDir)
	entries, _ := os.ReadDir(locks.Dir) // empty without the folder
	for _, e := range entries {
		id, seq, ok := process.ToolRun(e.Name())
		if !ok || locks.ToolAlive(id, seq) {
			continue
		}
		if found := f.add(ToolLock, filepath.Join(locks.Dir, e.Name()), Suspect); found != nil {
			found.Conversation, found.Seq = id, seq
		}
	}
}

// drafts finds those of conversations that are gone, and texts whose editor never returned.
func (f *finding) drafts() {
	dir := filepath.Join(f.CommonDir, "jp", "drafts")
	entries, _ := os.ReadDir(dir) // empty without the folder
	for _, e := range entries {
		stem, suffix, _ := strings.Cut(e.Name(), ".")
		id, err := conversation.ParseID(stem)
		kind := WrittenOne
		switch {
		case err == nil && f.Gone != nil && f.Gone(id) && suffix == "answer":
			kind = Draft
		case err == nil && f.Gone != nil && f.Gone(id), strings.HasPrefix(stem, "edit-"):
		default:
			continue
		}
		if found := f.add(kind, filepath.Join(dir, e.Name()), Suspect); found != nil && err == nil {
			found.Conversation = id
		}
	}
}

// staged finds files that were prepared for a restore.
func (f *finding) staged() {
	dir := filepath.Join(f.GitDir, "jp")
	entries, _ := os.ReadDir(dir) // empty without the folder
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "restore-") {
			f.add(Staged, filepath.Join(dir, e.Name()), Suspect)
		}
	}
}

// findOpeners says of each file who has it open.
func (f *finding) findOpeners() {
	if len(f.files) == 0 {
		return
	}
	by, sure := process.OpenedBy(infos(f.files))
	for i, pids := range by {
		f.files[i].Openers = pids
	}
	f.findGits(sure)
}

func infos(files []File) []os.FileInfo {
	list := make([]os.FileInfo, len(files))
	for i, f := range files {
		list[i] = f.info
	}
	return list
}
