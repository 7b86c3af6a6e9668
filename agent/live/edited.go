package live

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jp/internal/safefile"
)

// An editor's file has no seal, so it is among the user's own files, out of reach of confined programs. The
// jp that waits for the editor holds the file's lock.

var errEditing = errors.New("another jp has it in an editor")

// editedFile is the path of a draft's file for the editor, "" if the user has no folder for it.
func editedFile(own safefile.StateDir, file string) string {
	if own.Own == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(own.GitDir))
	return filepath.Join(own.Own, "editing", hex.EncodeToString(sum[:8])+"-"+file)
}

func lockEdited(path string) (*os.File, error) {
	lock, err := safefile.OpenShared(path+".lock", 0o600, nil)
	if err != nil {
		return nil, err
	}
	if err := safefile.TryLock(lock); err != nil {
		lock.Close()
		if errors.Is(err, safefile.ErrLocked) {
			return nil, errEditing
		}
		return nil, err
	}
	return lock, nil
}

// EditDraft lets the user edit a draft, and keeps the text. It returns the text with an error, too.
func EditDraft(own safefile.StateDir, file string, shown []byte, edit func(path string) error) (written string, err error) {
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
	defer safefile.Unlock(lock)
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

// takeEdited keeps the text of an editor whose jp was killed.
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
	defer safefile.Unlock(lock)
	if _, err = keepEdited(own, file, path); errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}
