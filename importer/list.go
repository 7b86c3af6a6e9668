package importer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/conversation"
)

// A Found is a session of this machine.
type Found struct {
	Format   string          `json:"format"`
	File     string          `json:"file"`
	Session  string          `json:"session"`
	ID       conversation.ID `json:"id"`
	Started  time.Time       `json:"started"`
	Dir      string          `json:"dir"`
	Bytes    int64           `json:"bytes"`
	Request  string          `json:"request"`
	Imported bool            `json:"imported"`
}

// headBytes is how much of a file is read to list it.
const headBytes = 1 << 20

// List finds the sessions of a format that ran in the repository's working tree, oldest
// first. It reads the beginning of each file.
func List(ctx context.Context, r *repo.Repo, f Format) (found []Found, err error) {
	files, err := f.Files(f.Folder(r.Env.Get), r.At.TopLevel)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entry, ok := look(f, path)
		if !ok || !within(entry.Dir, r.At.TopLevel) {
			continue
		}
		_, err := r.Store.Head(ctx, entry.ID)
		entry.Imported = err == nil
		found = append(found, entry)
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.File, b.File)) })
	return found, nil
}

// look reads the beginning of a file. ok is false if it is no session.
func look(f Format, path string) (entry Found, ok bool) {
	file, err := open(f, path)
	if err != nil {
		return entry, false
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return entry, false
	}
	head := io.NewSectionReader(readerAt{file}, 0, headBytes)
	s, ok, err := identify(f, head, path)
	if err != nil || !ok || s.parent != "" {
		return entry, false // a sub-agent comes along with its session
	}
	err = f.Begin(head, new(Session), func(rec Record) error {
		if rec.Kind != KindRequest {
			return nil
		}
		entry.Request = rec.Text
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return entry, false
	}
	entry.Format, entry.File, entry.Session, entry.ID = f.Name(), path, s.ID, IDOf(f.Name(), s.ID, s.Started)
	entry.Started, entry.Dir, entry.Bytes = s.Started, s.Dir, size
	return entry, true
}

// within reports whether a folder is the tree or below it.
func within(dir, tree string) bool {
	rel, err := filepath.Rel(tree, dir)
	return err == nil && filepath.IsAbs(dir) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// A readerAt reads a file at offsets. Each read moves the file's own offset.
type readerAt struct{ io.ReadSeeker }

func (r readerAt) ReadAt(p []byte, at int64) (int, error) {
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
