package drafts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// An editor's file has no seal. So it stands among the user's own files, where no confined
// program writes, with a lock that says whether the jp that waits for the editor lives.

// errEditing says that another jp waits for the editor.
var errEditing = errors.New("another jp has it in an editor")

// editedFile is the file that an editor has of a draft, "" where the user has no such folder.
func editedFile(own safefile.StateDir, file string) string {
	if own.Own == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(own.GitDir))
	return filepath.Join(own.Own, "editing", hex.EncodeToString(sum[:8])+"-"+file)
}

// lockEdited takes the lock of an editor's file.
func lockEdited(path string) (*os.File, error) {
	lock, err := safefile.OpenShared(path+".lock", 0o600, nil)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, errors.Join(errEditing, lock.Close())
	}
	return lock, nil
}

// Edit lets the user edit a draft. What was written is kept, and returned with an error, too.
func Edit(own safefile.StateDir, file string, shown []byte, edit func(path string) error) (written string, err error) {
	path := editedFile(own, file)
	if path == "" {
		return "", errors.New("edit the draft: the user has no folder for it")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("edit the draft: %w", err)
	}
	lock, err := lockEdited(path)
	if err != nil {
		return "", fmt.Errorf("edit the draft: %w", err)
	}
	defer lock.Close()
	if err := safefile.Replace(path, shown, safefile.Options{Mode: 0o600}); err != nil {
		return "", fmt.Errorf("edit the draft: %w", err)
	}
	fault := edit(path)
	written, err = keepEdited(own, file, path)
	return written, errors.Join(fault, err)
}

// keepEdited makes the editor's text the draft's. The lock is held.
func keepEdited(own safefile.StateDir, file, path string) (string, error) {
	text, err := safefile.ReadRegular(path)
	if err != nil {
		return "", err
	}
	written := Asked(string(text))
	if err := keepRequest(own, file, written); err != nil {
		return written, err
	}
	return written, os.Remove(path)
}

// takeEdited keeps what an editor had whose jp was killed.
func takeEdited(own safefile.StateDir, file string) error {
	path := editedFile(own, file)
	if _, err := os.Lstat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockEdited(path)
	if errors.Is(err, errEditing) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err = keepEdited(own, file, path); errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}
