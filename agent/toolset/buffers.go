package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/internal/safetext"
	"jp/tool"
)

// A BufferReader gives an editor's unsaved text of a file of the workspace. It reports false if that is
// unknown.
type BufferReader func(ctx context.Context, path string) (text string, known bool)

// mostBuffer is the longest file that is compared with its buffer, in bytes.
const mostBuffer = 4 << 20

// buffered is a tool that names its files, beside an editor that may have other texts for them.
type buffered struct {
	tool.Tool
	root string
	read BufferReader
}

// Buffered lets a tool know of an editor's unsaved changes: it leaves a file with such changes alone, and
// when it reads one the model gets both texts. Tools without file names stay as they are.
func Buffered(t tool.Tool, root string, read BufferReader) tool.Tool {
	def := t.Definition()
	if def.Paths == nil || def.Effect == tool.Reads && def.Name != "fs_read_file" || !strings.HasPrefix(def.Name, "fs_") {
		return t
	}
	return buffered{t, root, read}
}

// Prepare makes the tool ready, if it has to be.
func (b buffered) Prepare(ctx context.Context) error {
	if p, is := b.Tool.(tool.Preparer); is {
		return p.Prepare(ctx)
	}
	return nil
}

// Run implements [tool.Tool].
func (b buffered) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	paths, _ := b.Definition().Paths(call.Arguments)
	if b.Definition().Effect == tool.Reads {
		result, err := b.Tool.Run(ctx, call)
		for _, path := range paths {
			if text, differs := b.unsaved(ctx, path); err == nil && !result.IsError && differs {
				result.Content = fmt.Appendf(result.Content, "\n\nThe user's editor has changes of %s that are not saved. There the whole file is:\n%s", safetext.Show(path), text)
			}
		}
		return result, err
	}
	for _, path := range paths {
		if _, differs := b.unsaved(ctx, path); differs {
			return tool.Result{
				Content: fmt.Appendf(nil, "%s has changes in the user's editor that are not saved, so nothing was changed. Ask the user to save them or to take them back, and call this again then.", safetext.Show(path)),
				IsError: true, Effect: "not changed: unsaved in the editor", WrittenFiles: []string{},
			}, nil
		}
	}
	return b.Tool.Run(ctx, call)
}

// unsaved is the editor's text of a file, if it differs from the file's. It skips files outside of the
// workspace, git's own, and binary ones.
func (b buffered) unsaved(ctx context.Context, path string) (text string, differs bool) {
	if slices.Contains(strings.Split(path, "/"), ".git") {
		return "", false
	}
	root, err := os.OpenRoot(b.root)
	if err != nil {
		return "", false
	}
	defer root.Close()
	file, err := root.Open(path)
	var disk []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", false
	default:
		defer file.Close()
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostBuffer {
			return "", false
		}
		if disk, err = io.ReadAll(io.LimitReader(file, mostBuffer)); err != nil || !utf8.Valid(disk) {
			return "", false
		}
	}
	text, known := b.read(ctx, path)
	return text, known && plainLines(text) != plainLines(string(disk))
}

// plainLines is a text without the changes that editors make on their own when they read and write a file.
func plainLines(text string) string {
	return strings.TrimRight(strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n"), "\n")
}
