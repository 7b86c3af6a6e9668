// Package leftover finds the files that a kill left behind in a repository, and
// removes those that provably belong to no process.
//
// Finding changes nothing. Removing a file needs the lock under which such files are made. The file has to be
// this user's, the very file that was found, untouched for an hour, and closed in all processes. For a kind
// with a lock of its own, that lock has to be free. If the system does not tell, the file stays.
//
// It refuses to remove a person's texts, tracked files, git's own locks, and the locks of refs outside of
// conversations: git alone knows who holds those.
package leftover

import (
	"os"
	"syscall"
	"time"

	"jp/conversation"
)

// A Kind is the purpose of a file.
type Kind string

// The kinds.
const (
	RefLock    Kind = "ref_lock"    // of a ref of jp's, or of all packed ones
	GitLock    Kind = "git_lock"    // of git's own, for the index, a ref of the user's and so on
	Object     Kind = "object"      // an object that never got its name
	Pack       Kind = "pack"        // a pack or its index, likewise
	State      Kind = "state"       // a file of jp's own, likewise
	WorkFile   Kind = "work_file"   // a file of the working tree, likewise
	Staged     Kind = "staged"      // a folder of files that were being restored
	ToolLock   Kind = "tool_lock"   // of a tool run that ended with its jp
	Draft      Kind = "draft"       // an answer as far as it came, of a conversation that is gone
	Worktree   Kind = "worktree"    // the note of a linked working tree that was being made
	WrittenOne Kind = "written_one" // a person's text that will never be used
)

// Ages of files, since they were written last.
const (
	// Suspect is from when on a file that others make for a moment only is told.
	Suspect = 10 * time.Second
	// Settled is the age from which a lock of git's may be a leftover.
	Settled = time.Minute
	// Abandoned is from when on a file may be removed.
	Abandoned = time.Hour
)

// A File is one that may have been left behind.
type File struct {
	Kind         Kind
	Path         string          // absolute
	Conversation conversation.ID // the file's conversation, or ""
	Seq          int             // of a tool's lock: the event that asked for the run
	Age          time.Duration
	Bytes        int64
	Openers      []int // processes that have it open, as far as the system tells
	Gits         []int // of a lock of git's: processes of git that may hold it
	Free         bool  // of a lock of git's: the process that made it has ended
	info         os.FileInfo
}

// newFile is a file as it is found, nil for one that is gone.
func newFile(kind Kind, path string, now time.Time) *File {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return &File{Kind: kind, Path: path, Age: now.Sub(info.ModTime()), Bytes: info.Size(), info: info}
}

// owned reports whether a file is this user's.
func owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
