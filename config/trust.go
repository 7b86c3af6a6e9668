package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Approvals are the workspace files that the user has approved, kept by content:
// one file per approved content, named by its [Hash]. A copy of the bytes is
// kept, so that a change can be shown and a damaged entry approves nothing.
type Approvals struct {
	Dir string // $XDG_STATE_HOME/jp/trust
}

// Trusted tells whether the content with this hash was approved. Use it as
// Options.Trusted.
func (a Approvals) Trusted(hash string) bool {
	data, err := os.ReadFile(filepath.Join(a.Dir, filepath.Base(hash)))
	return err == nil && Hash(data) == hash
}

// Approve records that the user approved exactly this content for the workspace
// at root (absolute).
func (a Approvals) Approve(root string, content []byte) error {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return fmt.Errorf("approve workspace file: %w", err)
	}
	hash := Hash(content)
	if err := replaceFile(filepath.Join(a.Dir, hash), content); err != nil {
		return fmt.Errorf("approve workspace file: %w", err)
	}
	if err := replaceFile(a.lastFile(root), []byte(hash)); err != nil {
		return fmt.Errorf("approve workspace file: %w", err)
	}
	return nil
}

// Last gives the content approved last for the workspace at root, nil if none.
func (a Approvals) Last(root string) ([]byte, error) {
	hash, err := os.ReadFile(a.lastFile(root))
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

// lastFile cannot be taken for an approval: its name is no hash.
func (a Approvals) lastFile(root string) string {
	return filepath.Join(a.Dir, "last-"+Hash([]byte(root)))
}
