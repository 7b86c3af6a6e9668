package backup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/safefile"
)

// Options have the place of a store, and its bounds.
type Options struct {
	Dir      string              // of the repository's backups
	Format   gitcmd.ObjectFormat // of the repository
	Top      string              // the working tree
	File     int64               // greatest size of a file
	First    int64               // of new content in the first moment of a working tree
	Step     int64               // and in a later one
	Total    int64               // of all packs; the newest turn of each conversation stays
	Days     int                 // how long a moment stays
	Include  []string            // patterns of more files, for the maker of requests
	Excluded func(path string) bool
	Volatile bool             // no flush
	Now      func() time.Time // nil: time.Now
}

// A Store is the backups of one repository. It may be used by several goroutines, beside other processes.
type Store struct {
	opts Options
	mu   sync.Mutex
	db   *odb.Store // nil before it is opened
	last *Moment    // of this working tree, made by this process
	made int64      // bytes of packs since the last check of the bounds; -1 before the first
}

// New gives the store of a folder, without reading or making files.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{opts: o, made: -1}
}

// Include are the patterns of the options.
func (s *Store) Include() []string { return s.opts.Include }

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.opts.Dir }

// A Record is a line of the log: a moment, or the changes behind one.
type Record struct {
	Conversation string    `json:"conversation"`
	Turn         int       `json:"turn"`
	Part         bool      `json:"part,omitempty"`  // of single paths
	Call         int       `json:"call"`            // seq of the call's request; -1: jp itself put files back
	Event        int       `json:"event,omitempty"` // of changes that jp itself made, or of a lost call: the seq of the event that records them
	Worktree     string    `json:"worktree"`
	Time         time.Time `json:"time"`
	At           int64     `json:"at"`   // nanoseconds of the file system's clock, before the first look
	Pack         string    `json:"pack"` // that has the list
	Bytes        int64     `json:"bytes,omitempty"`
	List         string    `json:"list,omitempty"`    // of a moment
	Changes      string    `json:"changes,omitempty"` // of changes: two lists, before and after
	After        string    `json:"after,omitempty"`
}

// A Moment has the files before a program's run.
type Moment struct {
	Record
	Entries []Entry // sorted by path
	Fresh   int64   // bytes that were read for it
}

// at is the entry of a path, or nil.
func (m *Moment) at(path string) *Entry {
	if i, listed := slices.BinarySearchFunc(m.Entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) }); listed {
		return &m.Entries[i]
	}
	return nil
}

// Had reports whether a file was there.
func (m *Moment) Had(path string) bool {
	e := m.at(path)
	return e != nil && e.There()
}

const logName = "log"

// open opens the object folder. If it is missing, open makes it if make is set, and else returns nil.
func (s *Store) open(make bool) (*odb.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db != nil {
		return s.db, nil
	}
	head := filepath.Join(s.opts.Dir, "HEAD")
	if _, err := os.Stat(head); errors.Is(err, fs.ErrNotExist) {
		if !make {
			return nil, nil
		}
		if err := s.create(head); err != nil {
			return nil, err
		}
	}
	durability := odb.Full
	if s.opts.Volatile {
		durability = odb.Off
	}
	db, err := odb.Open(s.opts.Dir, odb.Options{Format: s.opts.Format, MaxObject: 1 << 40, Durability: durability})
	if err == nil {
		s.db = db
	}
	return db, err
}

// create makes the folders and files, with HEAD as the last one.
func (s *Store) create(head string) error {
	for _, dir := range []string{filepath.Join("objects", "pack"), "refs"} {
		if err := os.MkdirAll(filepath.Join(s.opts.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if s.opts.Format == gitcmd.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	if err := safefile.Replace(filepath.Join(s.opts.Dir, "config"), []byte(config), safefile.Options{Volatile: s.opts.Volatile}); err != nil {
		return err
	}
	if err := safefile.Replace(head, []byte("ref: refs/heads/none\n"), safefile.Options{Volatile: s.opts.Volatile}); err != nil {
		return err
	}
	for _, dir := range []string{"objects", "", "..", filepath.Join("..", "..")} {
		if err := s.flush(filepath.Join(s.opts.Dir, dir)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) flush(path string) error {
	if s.opts.Volatile {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	return safefile.LockFile(ctx, filepath.Join(s.opts.Dir, "lock"))
}

// Close frees the files.
func (s *Store) Close() error {
	if s == nil || s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Records are the lines of the log, oldest first, without a line that a crash cut off.
func (s *Store) Records() ([]Record, error) {
	lines, err := s.lines()
	var records []Record
	for _, line := range lines {
		var r Record
		if json.Unmarshal(line, &r) == nil {
			records = append(records, r)
		}
	}
	return records, err
}

func (s *Store) lines() ([][]byte, error) {
	text, err := os.ReadFile(filepath.Join(s.opts.Dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	end := bytes.LastIndexByte(text, '\n')
	if err != nil || end < 0 {
		return nil, err
	}
	return bytes.Split(text[:end], []byte{'\n'}), nil
}

func (s *Store) add(r Record) (err error) {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(s.opts.Dir, logName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 { // a crash may have cut the last line off
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if s.opts.Volatile {
		return nil
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if info.Size() == 0 {
		return s.flush(s.opts.Dir)
	}
	return nil
}

// newest is the last readable moment of this working tree, or nil.
func (s *Store) newest(db *odb.Store) (*Moment, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last != nil {
		return last, nil
	}
	lines, err := s.lines()
	for _, line := range slices.Backward(lines) {
		var r Record
		if json.Unmarshal(line, &r) != nil || r.List == "" || r.Part || r.Worktree != s.opts.Top {
			continue
		}
		if m, err := s.moment(db, r); err == nil {
			return m, nil
		}
		break // its content is read again
	}
	return nil, err
}

func (s *Store) moment(db *odb.Store, r Record) (*Moment, error) {
	entries, err := s.list(db, r.Pack, r.List)
	return &Moment{Record: r, Entries: entries}, err
}

func (s *Store) list(db *odb.Store, pack, oid string) ([]Entry, error) {
	var entries []Entry
	found := false
	err := odb.Packs{Store: db}.Read(pack, func(o odb.OID) bool { return string(o) == oid }, func(_ odb.OID, data []byte) (err error) {
		found = true
		entries, err = decode(data)
		return err
	})
	if err == nil && !found {
		err = errList
	}
	return entries, err
}

// A Change is a path that differs from a moment.
type Change struct{ Before, After Entry }

// Path is the changed path.
func (c *Change) Path() string { return c.Before.Path }

// String describes the change.
func (c *Change) String() string {
	switch was, is := &c.Before, &c.After; {
	case !was.There():
		return "new"
	case !is.There():
		return "deleted"
	case was.OnlyMode() || was.OID == is.OID && was.Kept() && was.kind() == is.kind():
		return fmt.Sprintf("mode %04o", is.Mode&0o7777)
	}
	return "changed"
}

// ChangesOf are the changes of a record.
func (s *Store) ChangesOf(r Record) ([]Change, error) {
	db, err := s.open(false)
	if err != nil || db == nil || r.Changes == "" {
		return nil, err
	}
	before, err := s.list(db, r.Pack, r.Changes)
	if err != nil {
		return nil, err
	}
	after, err := s.list(db, r.Pack, r.After)
	if err != nil || len(after) != len(before) {
		return nil, errors.Join(err, errList)
	}
	changes := make([]Change, len(before))
	for i := range before {
		changes[i] = Change{before[i], after[i]}
	}
	return changes, nil
}

// Changes are all readable changes of a conversation: of the last run of each call by the seq of its request,
// and those that jp itself made, or that were found after a lost call, by the seq of their event.
func (s *Store) Changes(conversation string) (calls, events map[int][]Change, err error) {
	calls, events = map[int][]Change{}, map[int][]Change{}
	records, err := s.Records()
	for _, r := range records {
		if r.Conversation != conversation || r.Changes == "" {
			continue
		}
		changes, err := s.ChangesOf(r)
		switch {
		case err != nil:
		case r.Event > 0:
			events[r.Event] = changes
		default:
			calls[r.Call] = changes
		}
	}
	return calls, events, err
}

// MomentOf reads the list of a moment's record.
func (s *Store) MomentOf(r Record) (*Moment, error) {
	db, err := s.open(false)
	if err != nil || db == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return s.moment(db, r)
}

// Blob reads the content of a file, or the target of a link.
func (s *Store) Blob(oid string) ([]byte, error) {
	db, err := s.open(false)
	if err != nil || db == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	_, data, err := db.ReadObject(odb.OID(oid))
	if err != nil {
		return nil, fmt.Errorf("read a backup: %w", err)
	}
	return data, nil
}

// Size is how many bytes the store has, with its log.
func (s *Store) Size() (total int64) {
	if s == nil {
		return 0
	}
	_ = filepath.WalkDir(s.opts.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// isPack reports whether a file's name is that of a pack or its index, and gives the pack.
func isPack(name string) (pack string, is bool) {
	pack, suffix, _ := strings.Cut(name, ".")
	return pack, strings.HasPrefix(pack, "pack-") && (suffix == "pack" || suffix == "idx")
}
