package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/safetext"
)

// filters start git for a working tree that is being made. A filter's programs are as in the one that it is made from.
func (l linkedTree) filters() gitcmd.Options {
	options := l.repo.Env.GitOptions()
	options.MayRun = func(_ gitcmd.Repository, f gitcmd.Filter) error { return convert.MayRun(l.repo.At, options.Environ, f) }
	return options
}

// An unconverted file is one without the conversion of its filter.
type unconverted struct {
	Path   string `json:"path"`
	Filter string `json:"filter"`
	Why    string `json:"why"`
	lfs    bool   // a pointer stands in its place
}

// leaveUnconverted takes the files out of a new working tree that git has written without the filter that
// they need, there or in HEAD, and finds those whose content LFS lacks here. Files are as in source.
func leaveUnconverted(ctx context.Context, git *gitcmd.Git, at gitcmd.Repository, head, source string) (all []unconverted, err error) {
	out, err := git.Run(ctx, "ls-files", "-z")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	now, err := convert.Attributes(ctx, git, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(now, func(path, value string) bool {
		info, err := os.Lstat(filepath.Join(at.TopLevel, filepath.FromSlash(path)))
		return err != nil || !info.Mode().IsRegular()
	})
	gaps, err := convert.New(git, at).Judge(ctx, now, head)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(now, func(path, value string) bool { _, gap := gaps[path]; return convert.None(value) && !gap })
	var here []string
	for _, path := range slices.Sorted(maps.Keys(now)) {
		file := filepath.Join(at.TopLevel, filepath.FromSlash(path))
		if gap, is := gaps[path]; is {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			all = append(all, unconverted{Path: path, Filter: gap.Filter, Why: gap.Why()})
			continue
		}
		info, err := os.Lstat(file)
		if err != nil || info.Size() > convert.PointerSize {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil || !convert.IsPointer(text) || convert.LeavesPointers(ctx, git, now[path]) {
			continue
		}
		if convert.Stored(ctx, git, text) {
			here = append(here, path)
		} else {
			all = append(all, unconverted{Path: path, Filter: now[path], Why: "its content is not in this repository's LFS storage", lfs: true})
		}
	}
	return all, writeContent(ctx, git, at, source, here)
}

// withPointers keeps a git-lfs from fetching content: one file that lacks it would end the whole checkout.
var withPointers = []string{"GIT_LFS_SKIP_SMUDGE=1"}

// writeContent puts content in the place of pointers.
func writeContent(ctx context.Context, git *gitcmd.Git, at gitcmd.Repository, source string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for _, path := range paths { // git leaves its own output alone
		if err := os.Remove(filepath.Join(at.TopLevel, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	_, err := git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"restore", "--source=" + source, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	return err
}

// TellUnconverted names such files, and the commands that bring them.
func TellUnconverted(out io.Writer, dir string, all []unconverted) {
	const most = 20
	var absent, pointers []string
	reason := ""
	for _, u := range all {
		if u.lfs {
			pointers = append(pointers, u.Path)
		} else {
			absent, reason = append(absent, u.Path), u.Why
		}
	}
	list := func(paths []string) string {
		var shown []string
		for _, p := range paths[:min(len(paths), most)] {
			shown = append(shown, safetext.Show(p))
		}
		text := strings.Join(shown, ", ")
		if more := len(paths) - most; more > 0 {
			text += " and " + conversation.Count(more, "file") + " more"
		}
		return text
	}
	command := "git -C " + safetext.Escape(dir)
	if len(absent) > 0 {
		args := ""
		for _, p := range absent[:min(len(absent), most)] {
			args += " " + safetext.Escape(p)
		}
		if len(absent) > most {
			args = " ."
		}
		fmt.Fprintf(out, "Not written, since jp does not run their filter: %s. The newest %s.   %s checkout --%s   writes them with your own git\n",
			list(absent), safetext.Show(reason), command, args)
	}
	if len(pointers) > 0 {
		fmt.Fprintf(out, "Pointers without their content: %s.   %s lfs pull   brings what the server has\n", list(pointers), command)
	}
}
