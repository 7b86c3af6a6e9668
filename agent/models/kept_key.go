package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/provider/catalog"
)

// inKeyring marks in a key's file that the key is in the system's keyring. Keys have no blanks.
const inKeyring = "in the system's keyring"

// A keptKey is the key of a provider that jp login keeps. Its file holds the key or says that the keyring has it, so jp
// asks the keyring only for keys that it has put there. Each request reads it anew.
type keptKey struct {
	vendor catalog.Vendor
	path   string
	ring   keyring
}

func (r Providers) keptKey(e *repo.Host, v catalog.Vendor) keptKey {
	file := filepath.Join(r.repo.Paths.StateDir, "keys", url.PathEscape(v.Name)+".key")
	return keptKey{vendor: v, path: file, ring: keyring{host: e, limit: keyringTime}}
}

// exists reports whether there is a key, as far as its file says.
func (k keptKey) exists() bool {
	_, err := os.Lstat(k.path)
	return err == nil
}

// folder checks who can write the folders of the file, since others could put their own key in its place. A group counts
// for jp's own folder. A sticky folder such as /tmp is safe.
func (k keptKey) folder() error {
	own := filepath.Dir(k.path)
	for dir := own; ; dir = filepath.Dir(dir) {
		writers := fs.FileMode(0o002)
		if dir == own {
			writers = 0o022
		}
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode()&writers != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf("others can replace it, since the mode of %s is %04o (chmod go-w %s)", safetext.Show(dir), info.Mode().Perm(), safetext.Escape(dir))
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// content is the text of the file. A file that others can read or that another user owns is refused: they may have the
// key, or have chosen it.
func (k keptKey) content() (string, error) {
	file, err := os.OpenFile(k.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm()&0o077 != 0 || !known || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("others can use its file %s, of mode %#o", safetext.Show(k.path), info.Mode().Perm())
	}
	if err := k.folder(); err != nil {
		return "", err
	}
	text, err := safefile.ReadOpened(file, mostPrinted)
	return strings.TrimSpace(string(text)), err
}

// place names the place of the key, "" without one.
func (k keptKey) place() string {
	text, err := k.content()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err == nil && text == inKeyring:
		return inKeyring
	}
	return "in " + safetext.Show(k.path)
}

// current implements [keySource].
func (k keptKey) current(ctx context.Context) (key string, runs int, err error) {
	key, err = k.content()
	if err == nil && key == inKeyring {
		key, err = k.ring.ask(ctx, "get", k.vendor.Name, "")
	}
	switch {
	case err == nil:
		return key, 0, checkKey(key, "jp login")
	case ctx.Err() != nil:
		return "", 0, err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotInKeyring):
		return "", 0, missingKey(k.vendor)
	}
	return "", 0, problem.New(problem.ExitUsage, "auth", "%sjp could not read the one of jp login: %v.", noKeyFor(k.vendor.Name), err).
		Hint(action.Login(ShownName(k.vendor.Name)), "asks for the key, and keeps it again")
}

// renewed implements [keySource]. Each request has read the newest key.
func (k keptKey) renewed(context.Context, int) (key string, runs int, err error) {
	return "", 0, errSameKey
}

// keep keeps a key, in the keyring if there is one. why is the reason if it is in the file.
func (k keptKey) keep(ctx context.Context, key string) (why, err error) {
	if err := k.folder(); err != nil {
		return nil, err
	}
	text := inKeyring
	if _, why = k.ring.ask(ctx, "set", k.vendor.Name, key); why != nil {
		if ctx.Err() != nil {
			return nil, why
		}
		text = key
	}
	return why, safefile.Replace(k.path, []byte(text+"\n"), safefile.Options{})
}

// forget deletes the key, and reports whether there was one.
func (k keptKey) forget(ctx context.Context) (had bool, err error) {
	if !k.exists() {
		return false, nil
	}
	if text, err := k.content(); err == nil && text == inKeyring {
		if _, err := k.ring.ask(ctx, "delete", k.vendor.Name, ""); err != nil && !errors.Is(err, errNotInKeyring) {
			return true, err
		}
	}
	return true, os.Remove(k.path)
}
