package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Approvals are the workspace files that the user has approved: one file per approved content, named by its
// [Hash], and a mark for each workspace in which it was approved. The same bytes mean another thing
// elsewhere, since they may name programs of the workspace. It keeps a copy of the bytes, to show a change,
// and so that a damaged entry approves nothing.
type Approvals struct {
	Dir  string // $XDG_STATE_HOME/jp/trust
	Root string // of the workspace, absolute
}

// Trusted tells whether the content with this hash was approved in the
// workspace. Use it as Options.Trusted.
func (a Approvals) Trusted(hash string) bool {
	if !isHash(hash) {
		return false
	}
	data, err := os.ReadFile(filepath.Join(a.Dir, hash))
	if err != nil || Hash(data) != hash {
		return false
	}
	_, err = os.Lstat(a.mark(hash))
	return err == nil
}

// Approve records that the user approved exactly this content in the workspace.
func (a Approvals) Approve(content []byte) error {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return fmt.Errorf("approve workspace file: %w", err)
	}
	hash := Hash(content)
	for _, file := range []struct{ name, text string }{
		{filepath.Join(a.Dir, hash), string(content)}, {a.mark(hash), a.Root + "\n"}, {a.lastFile(), hash},
	} {
		if err := replaceFile(file.name, []byte(file.text)); err != nil {
			return fmt.Errorf("approve workspace file: %w", err)
		}
	}
	return nil
}

// Revoke takes all approvals in the workspace back, for any content: an older one could come back. It reports
// whether there were any.
func (a Approvals) Revoke() (bool, error) {
	entries, err := os.ReadDir(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	done := false
	for _, e := range entries {
		hash, _, _ := strings.Cut(e.Name(), "-")
		if !isHash(hash) || filepath.Join(a.Dir, e.Name()) != a.mark(hash) {
			continue
		}
		if removed := os.Remove(a.mark(hash)); removed != nil {
			err = errors.Join(err, removed)
			continue
		}
		done = true
	}
	if err != nil {
		return done, fmt.Errorf("revoke approval: %w", err)
	}
	if !done {
		return false, nil
	}
	return true, syncDir(a.Dir)
}

// Last gives the content approved last in the workspace, or nil.
func (a Approvals) Last() ([]byte, error) {
	hash, err := os.ReadFile(a.lastFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read last approval: %w", err)
	}
	if !a.Trusted(string(hash)) {
		return nil, nil
	}
	return os.ReadFile(filepath.Join(a.Dir, string(hash)))
}

// mark is the file of an approval in the workspace. Its name cannot be a hash.
func (a Approvals) mark(hash string) string {
	return filepath.Join(a.Dir, hash+"-"+Hash([]byte(a.Root)))
}

// lastFile cannot be taken for an approval: its name cannot be a hash.
func (a Approvals) lastFile() string {
	return filepath.Join(a.Dir, "last-"+Hash([]byte(a.Root)))
}

func isHash(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}
