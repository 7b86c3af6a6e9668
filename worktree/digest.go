package worktree

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Unread is the digest of a file that cannot be read as an ordinary file of the working tree.
const Unread = "unread"

// Digest identifies the content of a file of the folder by a keyed code, "" if there is no file. Only the
// key can test a guessed content against it. It is false for a folder. It follows no link out of the
// folder.
func Digest(root *os.Root, key []byte, path string) (digest string, ok bool) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold it up
	return digestOf(f, err, key)
}

// DigestOutside is Digest of a file outside of such folders, by its absolute path.
func DigestOutside(key []byte, path string) (digest string, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return digestOf(f, err, key)
}

func digestOf(f *os.File, err error, key []byte) (digest string, ok bool) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", true
	}
	if err != nil {
		return Unread, true
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return Unread, true
	case info.IsDir():
		return "", false
	case !info.Mode().IsRegular():
		return Unread, true
	}
	code := hmac.New(sha256.New, key)
	if _, err := io.Copy(code, f); err != nil {
		return Unread, true
	}
	return hex.EncodeToString(code.Sum(nil)), true
}
