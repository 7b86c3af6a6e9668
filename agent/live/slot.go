package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"jp/agent/repo"
	"jp/internal/safefile"
)

// mostSlots is how many conversations that do not exist yet have drafts at the same time.
const mostSlots = 32

// A Slot is the draft of a conversation that does not exist yet, which one process at a time holds.
// The zero value keeps nothing.
type Slot struct {
	own  safefile.StateDir
	file string
	lock *os.File
}

// TakeSlot takes the first slot that has text and no other process holds, else the first free one. Where all
// are held, or jp cannot write, the slot keeps nothing.
func TakeSlot(own safefile.StateDir) (Slot, string) {
	folder, err := own.Open(repo.DraftsFolder)
	if err != nil {
		return Slot{}, ""
	}
	defer folder.Close()
	var free Slot
	for n := 1; n <= mostSlots; n++ {
		s := Slot{own: own, file: slotFile(n)}
		isNew := false
		if s.lock, err = folder.OpenFile(s.file+".lock", os.O_RDWR, 0); errors.Is(err, fs.ErrNotExist) {
			isNew = true
			s.lock, err = folder.OpenShared(s.file+".lock", 0o666)
		}
		if err != nil {
			break
		}
		if safefile.TryLock(s.lock) != nil {
			s.Release()
			continue
		}
		text, err := KeptDraft(own, s.file)
		var refused *safefile.SealError
		if errors.As(err, &refused) { // the file stays, for the user to look at
			s.Release()
			continue
		}
		if err == nil && text != "" {
			free.Release()
			return s, text
		}
		if free.lock == nil {
			free = s
		} else {
			s.Release()
		}
		if isNew { // none has been used behind it
			break
		}
	}
	return free, ""
}

func slotFile(n int) string {
	if n == 1 {
		return RequestFile("")
	}
	return fmt.Sprintf("new-%d.query", n)
}

// File is the file among the drafts that the slot holds, "" where it keeps nothing.
func (s Slot) File() string {
	if s.lock == nil {
		return ""
	}
	return s.file
}

// Keep replaces the text. An empty text removes it.
func (s Slot) Keep(text string) error {
	if s.lock == nil {
		return nil
	}
	return keepRequest(s.own, s.file, text)
}

// Release lets other processes take the slot, with the text in it.
func (s Slot) Release() {
	if s.lock != nil {
		safefile.Unlock(s.lock)
	}
}
