package gitcmd

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Version is the version of the git program, such as "2.47.1". The error is
// ErrGitMissing, or ErrGitTooOld with the version beside it.
func Version(ctx context.Context, opts Options) (string, error) {
	out, err := New(os.TempDir(), opts).Run(ctx, "version") // any folder: git ignores it
	if err != nil {
		return "", err
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	if older(version, oldest) {
		return version, fmt.Errorf("git %s: %w", version, ErrGitTooOld)
	}
	return version, nil
}
