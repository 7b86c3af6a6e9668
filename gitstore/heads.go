package gitstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/gitstore/odb"
)

// heads are the newest heads of conversations that this user's jp has seen, in a folder of the user's
// state: one small file per conversation, which is overwritten in place. A program that can only write to
// the repository cannot change them, and so cannot set a conversation back unnoticed.
//
// A head is noted after its ref has moved. A kill between the two leaves a note that is one
// step behind, and the newer head descends from it. No append waits for the disk: the note
// is flushed when the store closes. A power cut before that leaves an older note, or none,
// and never a newer one than the ref.
type heads struct {
	dir        string // "" notes no heads
	durable    bool
	repository func(forWrite bool) (string, error)
	log        *slog.Logger // nil drops it
	unnoted    sync.Once

	mu   sync.Mutex
	open map[string]*os.File         // by path
	held map[conversation.ID]odb.OID // heads that are not durable yet; nil if all are
}

func (h *heads) note(repo string, id conversation.ID, head odb.OID) error {
	if h.dir == "" || repo == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	path := h.path(repo, id)
	file := h.open[path]
	if file == nil {
		var err error
		if file, err = openNote(path); err != nil {
			return err
		}
		if h.open == nil || len(h.open) >= maxNotes {
			h.flush()
			h.open = map[string]*os.File{}
		}
		h.open[path] = file
		_ = os.Remove(path + deleted) // it is there again
	}
	_, err := file.WriteAt([]byte(string(head)+"\n"), 0)
	if err != nil {
		_ = file.Truncate(0) // half a note over an older one would name a head that never existed
	}
	return err
}

// saw notes the head to which the store has just moved a conversation. A failed note is no error, since the
// event is recorded.
func (h *heads) saw(id conversation.ID, head odb.OID) {
	if h.held != nil {
		h.held[id] = head
		return
	}
	repo, err := h.repository(true)
	if err == nil {
		err = h.note(repo, id, head)
	}
	if err != nil && h.log != nil {
		h.unnoted.Do(func() {
			h.log.Warn("jp cannot note which event of a conversation is the newest; going back to an older one would not be noticed", "error", err)
		})
	}
}

// maxNotes is the number of open notes.
const maxNotes = 16

func openNote(path string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW
	file, err := os.OpenFile(path, flags, 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}

// deleted stands beside the note of a conversation that jp deleted at the user's word. The
// note stays: an older head may be brought back.
const deleted = ".deleted"

// sawEnd notes that the store deletes a conversation. If that fails, the conversation
// counts as one that something else deleted.
func (h *heads) sawEnd(id conversation.ID) {
	repo, err := h.repository(false)
	if err == nil && h.dir != "" && repo != "" {
		_ = os.WriteFile(h.path(repo, id)+deleted, nil, 0o600)
	}
}

// stays notes that the store has not deleted a conversation after all.
func (h *heads) stays(id conversation.ID) {
	if repo, err := h.repository(false); err == nil && h.dir != "" && repo != "" {
		_ = os.Remove(h.path(repo, id) + deleted)
	}
}

// last is the noted head, or "". A note that a power cut damaged counts as missing.
func (h *heads) last(repo string, id conversation.ID) (odb.OID, error) {
	if h.dir == "" || repo == "" {
		return "", nil
	}
	text, err := readNote(h.path(repo, id))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read which head of %s was seen last: %w", id, err)
	}
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return "", nil
	}
	oid, err := odb.ParseOID(string(text[:len(text)-1]))
	if err != nil {
		return "", nil
	}
	return oid, nil
}

// readNote reads a small file with fewer system calls than [os.ReadFile]: a list reads many notes.
func readNote(path string) ([]byte, error) {
	fd, err := uninterrupted(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 2*sha256.Size+2) // more than a head
	n, err := uninterrupted(func() (int, error) { return unix.Read(fd, text) })
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text[:n], nil
}

func uninterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

func (h *heads) path(repo string, id conversation.ID) string {
	return filepath.Join(h.dir, repo, string(id))
}

// flush writes the notes to the disk and closes them.
func (h *heads) flush() {
	for _, file := range h.open {
		if h.durable {
			_ = file.Sync() // then an older one counts after a power cut
		}
		_ = file.Close()
	}
}

func (h *heads) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flush()
	h.open = nil
}

func (h *heads) deletedByJP(id conversation.ID) bool {
	repo, err := h.repository(false)
	if err != nil || h.dir == "" || repo == "" {
		return false
	}
	_, err = os.Lstat(h.path(repo, id) + deleted)
	return err == nil
}

// Standing reports whether a conversation of this repository may act. A conversation seen for the first time
// counts as seen with this head.
func (s *Store) Standing(_ context.Context, id conversation.ID, head conversation.Head, events []*conversation.Event) (conversation.Standing, error) {
	repo, err := s.repository(false)
	if err != nil {
		return conversation.StandingForeign, fmt.Errorf("name the repository: %w", err)
	}
	standing := conversation.StandingOf(events, conversation.Home{Repo: repo, ID: id})
	if standing != conversation.StandingOwn {
		return standing, nil
	}
	seen, err := s.heads.last(repo, id)
	if err != nil {
		return conversation.StandingForeign, err
	}
	reaches := s.ancestry.reaches
	if seen == "" || seen == odb.OID(head) || reaches(odb.OID(head), seen) {
		return standing, nil
	}
	// Another process may have appended since the caller read the head: then the note is newer.
	if _, now, err := s.refs.find(id); err == nil && now != odb.OID(head) && reaches(now, seen) && reaches(now, odb.OID(head)) {
		return standing, nil
	}
	return conversation.StandingRolledBack, nil
}

// SeenHead is the newest head of a conversation that was seen here, "" if it was never seen, and whether
// the event is in the repository.
func (s *Store) SeenHead(id conversation.ID) (head conversation.Head, there bool, err error) {
	repo, err := s.repository(false)
	if err != nil {
		return "", false, err
	}
	seen, err := s.heads.last(repo, id)
	if err != nil || seen == "" {
		return "", false, err
	}
	there, err = s.odb.Has(seen)
	return conversation.Head(seen), there, storeError(err)
}

// AcceptHead counts a head as the newest that was seen: the user says so.
func (s *Store) AcceptHead(id conversation.ID, head conversation.Head) error {
	repo, err := s.repository(true)
	if err != nil {
		return err
	}
	return s.heads.note(repo, id, odb.OID(head))
}
