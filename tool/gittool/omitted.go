package gittool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// commitHooks are the hooks that git runs around a commit.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}

// leftOut names the steps of the user's own git that jp left out of a commit.
func (r *repository) leftOut(ctx context.Context) string {
	var text string
	if hooks := r.hooks(ctx); len(hooks) > 0 {
		text += "The repository's hooks were not run: " + strings.Join(hooks, ", ") + ".\n"
	}
	signs, _ := r.git.Run(ctx, "config", "--type=bool", "--get", "commit.gpgSign") // an error if unset
	if strings.TrimSpace(string(signs)) == "true" {
		text += "The commit was not signed, though commit.gpgSign is set.\n"
	}
	return text
}

// hooks lists the hooks of a commit that exist and can be run.
func (r *repository) hooks(ctx context.Context) []string {
	dir, err := r.hooksFolder(ctx)
	if err != nil {
		return nil
	}
	var found []string
	for _, name := range commitHooks {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			found = append(found, name)
		}
	}
	return found
}

// hooksFolder is the folder of hooks that git would use without jp's options.
func (r *repository) hooksFolder(ctx context.Context) (string, error) {
	out, _ := r.git.Run(ctx, "config", "--type=path", "--show-scope", "-z", "--get-all", "core.hooksPath")
	configured := ""
	fields := split(out)
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] != "command" {
			configured = fields[i+1]
		}
	}
	if configured != "" {
		return absolute(r.git.Dir(), configured), nil
	}
	common, err := r.git.Run(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", err
	}
	return filepath.Join(absolute(r.git.Dir(), strings.TrimSuffix(string(common), "\n")), "hooks"), nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
