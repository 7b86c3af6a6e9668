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

// A BufferReader says what an editor has of a file of the workspace, with changes that are not saved. It
// reports false where it does not know.
type BufferReader func(ctx context.Context, path string) (text string, known bool)

// mostBuffer is the longest file that is compared with its buffer, in bytes.
const mostBuffer = 4 << 20

// buffered is a tool that names its files, beside an editor that may have other texts for them.
type buffered struct {
	tool.Tool
	root string
	read BufferReader
}

// Buffered lets a tool know of an editor's changes that are not saved: a file that has some is not
// changed, and of a file that is read the model gets both texts. Tools that name no files stay as they are.
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

// unsaved is the editor's text of a file, where it is not what the file has. A file outside of the workspace, one of git's
// own and one that is no text are not asked about.
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

// plainLines is a text without what editors change of their own when they read and write a file.
func plainLines(text string) string {
	return strings.TrimRight(strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n"), "\n")
}
