package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// Newest finds the newest moment of a working tree, or of one of several, in all stores below a folder, those
// of lost repositories too. Both results are nil without one.
func Newest(folder string, tops ...string) (*Store, *Moment, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	var store *Store
	var found Record
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		s := New(Options{Dir: dir, Format: gitcmd.SHA1})
		if config, err := os.ReadFile(filepath.Join(dir, "config")); err == nil && strings.Contains(string(config), "sha256") {
			s.opts.Format = gitcmd.SHA256
		}
		records, err := s.Records()
		if err != nil {
			continue // of the others
		}
		for _, r := range records {
			if r.List != "" && !r.Part && slices.Contains(tops, r.Worktree) && r.Time.After(found.Time) {
				store, found = s, r
			}
		}
	}
	if store == nil {
		return nil, nil, nil
	}
	m, err := store.MomentOf(found)
	return store, m, err
}

// Before finds the newest moment before a call of a conversation, or before an earlier one, also one of
// single paths if part is set. It is nil without one.
func (s *Store) Before(conversation string, call int, part bool) (*Moment, error) {
	lines, err := s.lines()
	for _, line := range slices.Backward(lines) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.Conversation == conversation && r.List != "" && (part || !r.Part) && r.Call <= call {
			return s.MomentOf(r)
		}
	}
	return nil, err
}

// Last finds the last moment of a working tree before a call of a conversation, or else the newest one of the
// working tree in all stores below a folder.
func (s *Store) Last(folder, conversation string, call int) (*Store, *Moment, error) {
	if m, err := s.Before(conversation, call, false); m != nil || err != nil {
		return s, m, err
	}
	return Newest(folder, s.opts.Top)
}

// WriteTo writes the files of a moment into a folder, and gives the entries without a copy. It leaves
// existing files.
func (s *Store) WriteTo(m *Moment, root *os.Root) (written, without []Entry, err error) {
	for _, e := range m.Entries {
		switch {
		case e.OnlyMode():
			continue
		case !e.Kept():
			without = append(without, e)
			continue
		case e.IsFolder():
			err = root.MkdirAll(e.Path, 0o777)
		default:
			err = s.writeTo(e, root)
		}
		switch {
		case errors.Is(err, fs.ErrExist), errors.Is(err, unix.ENOTDIR):
			continue
		case err != nil:
			return written, without, err
		}
		written = append(written, e)
	}
	return written, without, nil
}

func (s *Store) writeTo(e Entry, root *os.Root) error {
	data, err := s.Blob(e.OID)
	if err == nil {
		err = root.MkdirAll(path.Dir(e.Path), 0o777)
	}
	if err != nil {
		return err
	}
	if e.Mode&unix.S_IFMT == unix.S_IFLNK {
		return root.Symlink(string(data), e.Path)
	}
	f, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(fs.FileMode(e.Mode&0o777)), f.Close())
}
