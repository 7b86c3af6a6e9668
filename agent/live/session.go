package live

import (
	"os"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/internal/safefile"
)

// An editor's session before its first prompt has no conversation yet. So that another process can open it,
// jp's folder has an empty file of its name.
const (
	sessionFolder = "acp"
	sessionTime   = 30 * 24 * time.Hour // how long it can be opened
)

// NoteSession notes a session before its conversation, and forgets old ones.
func NoteSession(own safefile.StateDir, id conversation.ID, now time.Time) error {
	folder, err := own.Open(sessionFolder)
	if err != nil {
		return err
	}
	defer folder.Close()
	file, err := folder.OpenShared(string(id), 0o666)
	if err != nil {
		return err
	}
	entries, _ := os.ReadDir(filepath.Join(own.GitDir, safefile.StateDirName, sessionFolder)) // for their names alone
	for _, e := range entries {
		if old, err := conversation.ParseID(e.Name()); err == nil && now.Sub(old.Created()) > sessionTime {
			_ = folder.Remove(e.Name()) // the next one does it
		}
	}
	return file.Close()
}

// ForgetSession removes the note, if there is one: the session has a conversation now, or is deleted.
func ForgetSession(own safefile.StateDir, id conversation.ID) error {
	return own.Remove(sessionFolder, string(id))
}

// SessionNoted reports whether there is such a session.
func SessionNoted(own safefile.StateDir, id conversation.ID) bool {
	_, err := own.Read(sessionFolder, string(id))
	return err == nil
}
