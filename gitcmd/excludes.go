package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"jp/internal/safefile"
)

// ExcludesFile is the user's own file of names that git ignores. It may be missing.
func (g *Git) ExcludesFile(ctx context.Context) (string, error) {
	out, err := g.Run(ctx, "config", "-z", "--type=path", "--get", "core.excludesfile")
	var exit *ExitError
	switch path := strings.TrimSuffix(string(out), "\x00"); {
	case err == nil && filepath.IsAbs(path):
		return path, nil
	case err == nil:
		return filepath.Join(g.dir, path), nil
	case errors.As(err, &exit) && exit.Code == 1: // unset
		dir := lookup(g.environ, "XDG_CONFIG_HOME")
		if dir == "" {
			dir = filepath.Join(lookup(g.environ, "HOME"), ".config")
		}
		return filepath.Join(dir, "git", "ignore"), nil
	}
	return "", fmt.Errorf("find the user's file of ignored names: %w", err)
}

// ConfigStamp identifies the files of git's configuration, and returns the time of the newest change. whole
// is false if other files, or the environment, have an effect, too.
func (g *Git) ConfigStamp() (stamp string, newest time.Time, whole bool) {
	stamp, newest = g.configStamp()
	others, ok := UserConfigs(g.environ)
	if stamp == "" || !ok {
		return "", newest, false
	}
	files := append(g.configFiles(), others...)
	whole = len(g.user) == 0
	for _, file := range files {
		text, err := safefile.ReadRegular(file)
		whole = whole && (err != nil || !mentions(text, "include"))
	}
	return strings.Join(files, "\x00") + "\x00" + stamp, newest, whole
}
