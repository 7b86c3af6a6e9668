package gittool

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/gitcmd"
)

// ownIndex lets git work with a copy of the index, since git diff writes file states into the index even
// without optional locks. In the copy git skips the files that need a filter that jp refuses to run, since it
// would else call them changed and show their content. hidden are these files.
func (r *repository) ownIndex(ctx context.Context) (env []string, hidden []left, done func(), err error) {
	done = func() {}
	out, err := r.git.Run(ctx, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, nil, done, err
	}
	path := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.git.Dir(), path)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, done, nil // without an index there is nothing to copy
	}
	if err != nil {
		return nil, nil, done, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, done, err
	}
	own, done, err := temporary("index", string(content))
	if err != nil {
		return nil, nil, done, err
	}
	// git then compares the files that were written at the same time as the index.
	if err = os.Chtimes(own, time.Time{}, info.ModTime()); err == nil {
		env = []string{"GIT_INDEX_FILE=" + own}
		hidden, err = r.hideGaps(ctx, env, own, info.ModTime())
	}
	if err != nil {
		done()
		return nil, nil, func() {}, err
	}
	return env, hidden, done, nil
}

// hideGaps marks the files in an index that git must skip.
func (r *repository) hideGaps(ctx context.Context, env []string, index string, written time.Time) (hidden []left, err error) {
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff-files", "-z", "--name-only"}, Env: env, Content: true})
	if err != nil {
		return nil, err
	}
	head, err := r.head(ctx)
	if err != nil {
		return nil, err
	}
	gaps, _, err := r.gaps(ctx, slices.DeleteFunc(split(out), func(name string) bool { return !r.regular(name) }), head, false)
	if err != nil || len(gaps) == 0 {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(gaps))
	_, err = r.git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"update-index", "-z", "--assume-unchanged", "--stdin"},
		Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00"), Env: env, Content: true,
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		hidden = append(hidden, left{name, gaps[name].Why()})
	}
	return hidden, os.Chtimes(index, time.Time{}, written)
}

// temporary writes a text to a new file. done deletes it.
func temporary(name, text string) (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "jp-git-")
	if err != nil {
		return "", func() {}, err
	}
	done = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		done()
		return "", func() {}, err
	}
	return path, done, nil
}
