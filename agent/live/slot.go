package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"jp/agent/repo"
	"jp/internal/safefile"
)

// mostSlots is how many future conversations have drafts at the same time.
const mostSlots = 32

// A Slot is the draft of a future conversation, which one process at a time holds. The zero value is inert.
type Slot struct {
	own  safefile.StateDir
	file string
	lock *os.File
}

// TakeSlot takes the first free slot that has text, else the first free one. If other processes hold all of
// them, or jp cannot write, the slot is inert.
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
		if isNew { // the slots behind it are unused
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

// File is the slot's file among the drafts, "" for an inert slot.
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
