package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jp/gitcmd"
)

// A selection is the set of files for a tool.
type selection struct {
	path    string // a file or a folder of the workspace; "" is the whole
	pattern string // a glob, relative to path; one without a slash is for names at any depth; "" is all
}

// files returns the paths, relative to the workspace and sorted, of the existing files and links in the
// selection, without ignored ones. In a folder that is ignored itself, ignored files count. The list leaves
// out a repository's own folder.
func (w *workspace) files(ctx context.Context, sel selection) ([]string, error) {
	if sel.pattern != "" && !doublestar.ValidatePattern(sel.pattern) {
		return nil, fmt.Errorf("the pattern %q is not a glob", sel.pattern)
	}
	if sel.path == "" {
		sel.path = "."
	}
	p, err := w.find(sel.path, access{follow: true})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if p.info == nil {
		return nil, fmt.Errorf("%s: %w", sel.path, errNoSuchFile)
	}
	all, err := w.below(ctx, p)
	if err != nil {
		return nil, err
	}
	base := p.path
	if !p.info.IsDir() {
		base = path.Dir(base)
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return !matches(sel.pattern, base, name) || hidden(name) || !w.there(name)
	}), nil
}

// below lists everything at or under a place.
func (w *workspace) below(ctx context.Context, p *openedName) ([]string, error) {
	switch {
	case !p.info.IsDir():
		return []string{p.path}, nil
	case w.git != nil:
		return w.unignored(ctx, p.path)
	}
	var all []string
	err := fs.WalkDir(w.root.FS(), p.path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // an unreadable folder has no files to list
		case entry.IsDir() && name != p.path && reserved(entry.Name(), false):
			return fs.SkipDir
		case !entry.IsDir():
			all = append(all, name)
		}
		return nil
	})
	return all, err
}

func (w *workspace) unignored(ctx context.Context, folder string) ([]string, error) {
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if folder != "." {
		args = append(args, "--", folder)
	}
	out, err := w.git.RunWith(ctx, gitcmd.Command{Args: args})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	names := split(out)
	if w.ignores(ctx, folder) {
		names = append(names, w.ignored(ctx, folder)...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func split(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// ignores reports whether git ignores a folder itself.
func (w *workspace) ignores(ctx context.Context, folder string) bool {
	if folder == "." {
		return false
	}
	_, err := w.git.RunWith(ctx, gitcmd.Command{
		Args: []string{"check-ignore", "-z", "--stdin"}, Stdin: strings.NewReader(folder + "\x00"), Env: []string{"GIT_LITERAL_PATHSPECS=0"},
	})
	return err == nil
}

// ignored lists the files below a folder that git ignores, as far as git tells.
func (w *workspace) ignored(ctx context.Context, folder string) []string {
	out, err := w.git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", folder}})
	if err != nil || len(out) == 0 {
		return nil
	}
	return split(out)
}

// leftOut is a note on how many files of a selection git ignores. It explains an empty answer.
func (w *workspace) leftOut(ctx context.Context, sel selection) string {
	if w.git == nil {
		return ""
	}
	p, err := w.find(cmp.Or(sel.path, "."), access{follow: true})
	if err != nil || p.info == nil {
		return ""
	}
	defer p.Close()
	if !p.info.IsDir() || w.ignores(ctx, p.path) {
		return ""
	}
	n := len(slices.DeleteFunc(w.ignored(ctx, p.path), func(name string) bool {
		return !matches(sel.pattern, p.path, name) || hidden(name)
	}))
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("[%s left out: name an ignored folder or file as path to look into it]\n", count(n, "ignored file"))
}

func matches(pattern, base, name string) bool {
	if pattern == "" {
		return true
	}
	if base != "." {
		name = strings.TrimPrefix(name, base+"/")
	}
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(pattern, "./"), name)
}

// hidden reports whether a path leads through a repository's own folder.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(element string) bool { return reserved(element, false) })
}

// there drops deleted files that git still lists.
func (w *workspace) there(name string) bool {
	_, err := w.root.Lstat(strings.TrimSuffix(name, "/"))
	return name != "" && !errors.Is(err, fs.ErrNotExist)
}
