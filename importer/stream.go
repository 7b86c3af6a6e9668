package importer

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"

	"jp/agent/problem"
	"jp/conversation"
	"jp/importer/sqlite"
)

// A library is a [Format] of which one file holds many sessions.
type library interface {
	Opener
	// Sessions are the arguments of Open for the sessions of a file that ran in a working tree.
	Sessions(file, tree string) ([]string, error)
}

// Sessions are the sessions of the paths that the user named: each path itself, and of a
// database those that ran in the working tree.
func Sessions(f Format, paths []string, tree string) (all []string, err error) {
	l, ok := f.(library)
	if !ok {
		return paths, nil
	}
	for _, path := range paths {
		names, err := l.Sessions(path, tree)
		if err != nil {
			return nil, problem.New(problem.ExitNotFound, "not_found", "cannot read the sessions: %v.", err)
		}
		all = append(all, names...)
	}
	return all, nil
}

// sessionMark separates a file and the session in it.
const sessionMark = "#"

// splitSession takes a path apart that may name a session in a file.
func splitSession(path string) (file, session string) {
	if _, err := os.Lstat(path); err == nil {
		return path, ""
	}
	if at := strings.LastIndex(path, sessionMark); at > 0 {
		return path[:at], path[at+1:]
	}
	return path, ""
}

// A storedSession is one of a database. Its parent is the session whose sub-agent it is.
type storedSession struct{ id, dir, parent string }

// A stream is a session of a database or a folder, in the form in which its agent writes
// a session to one file. It is made while it is read.
type stream struct {
	parts   iter.Seq2[[]byte, error]
	size    int64 // about
	release func()

	next func() ([]byte, error, bool)
	stop func()
	rest []byte
	at   int64
	end  bool
}

func (s *stream) Read(p []byte) (int, error) {
	if s.end {
		return 0, io.EOF
	}
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.parts)
	}
	for len(s.rest) == 0 {
		part, err, ok := s.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, io.EOF
		}
		s.rest = part
	}
	n := copy(p, s.rest)
	s.rest, s.at = s.rest[n:], s.at+int64(n)
	return n, nil
}

// Seek goes to a place. A place further back is read from the beginning.
func (s *stream) Seek(offset int64, whence int) (int64, error) {
	switch {
	case whence == io.SeekEnd && offset == 0:
		s.end = true
		return s.size, nil
	case whence != io.SeekStart || offset < 0:
		return 0, errors.New("a stream has no such place")
	}
	s.end = false
	if offset < s.at {
		s.rewind()
	}
	_, err := io.CopyN(io.Discard, s, offset-s.at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return offset, err
}

func (s *stream) rewind() {
	if s.stop != nil {
		s.stop()
	}
	s.next, s.stop, s.rest, s.at = nil, nil, nil, 0
}

func (s *stream) Close() error {
	s.rewind()
	if s.release != nil {
		s.release()
		s.release = nil
	}
	return nil
}

// An index has the places of the rows of a database's sessions.
type index interface {
	stored() []storedSession
	// parts is a session in the form of a file, and size its approximate size.
	parts(session int) iter.Seq2[[]byte, error]
	size(session int) int64
}

// A shelf keeps the newest copy of a database, for all sessions that are read from it.
type shelf struct {
	index func(*sqlite.DB) (index, error)

	mu    sync.Mutex
	file  string
	stamp string
	copy  *copied
}

// A copied database is closed when its last reader has ended, and the shelf has another one.
type copied struct {
	index
	db    *sqlite.DB
	users int
}

// take opens a database, or uses the copy if the database is still as it was.
func (s *shelf) take(file string) (*copied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp := stampOf(file) + stampOf(file+"-wal")
	if s.copy == nil || s.file != file || s.stamp != stamp {
		db, err := sqlite.Open(file)
		if err != nil {
			return nil, err
		}
		x, err := s.index(db)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file, err), db.Close())
		}
		s.drop(s.copy)
		s.file, s.stamp, s.copy = file, stamp, &copied{db: db, index: x, users: 1}
	}
	s.copy.users++
	return s.copy, nil
}

func (s *shelf) release(c *copied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

func (s *shelf) drop(c *copied) {
	if c == nil {
		return
	}
	if c.users--; c.users == 0 {
		_ = c.db.Close() // it has no name, and was only read
	}
}

// list names the sessions of a database that ran in a working tree, and notes all in seen.
func (s *shelf) list(file, tree string, seen map[string]bool) (names []string, all int, err error) {
	c, err := s.take(file)
	if err != nil {
		return nil, 0, err
	}
	defer s.release(c)
	sessions, known := c.stored(), map[string]bool{}
	for _, session := range sessions {
		known[session.id] = true
	}
	for _, session := range sessions {
		if !seen[session.id] && !known[session.parent] && within(session.dir, tree) { // a sub-agent's comes with its parent

			names = append(names, file+sessionMark+session.id)
		}
		seen[session.id] = true
		all++
	}
	return names, all, nil
}

// Sessions implements library.
func (s *shelf) Sessions(path, tree string) ([]string, error) {
	file, session := splitSession(path)
	if session != "" || !isDatabase(file) {
		return []string{path}, nil
	}
	names, all, err := s.list(file, tree, map[string]bool{})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has %s, and none ran in this working tree%s", file, conversation.Count(all, "session"), s.example(file))
	}
	return names, err
}

// example is a sentence that names the last session of a database, and its folder. It may be "".
func (s *shelf) example(file string) string {
	c, err := s.take(file)
	if err != nil {
		return ""
	}
	defer s.release(c)
	all := c.stored()
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	return fmt.Sprintf(". %s%s%s names the last one, of %s", file, sessionMark, bounded(last.id), bounded(last.dir))
}

// open opens a session of a database. Without a name, it is the only one that there is.
func (s *shelf) open(file, name string) (io.ReadSeekCloser, error) {
	c, err := s.take(file)
	if err != nil {
		return nil, err
	}
	all := c.stored()
	for i, session := range all {
		if session.id == name || name == "" && len(all) == 1 {
			return &stream{parts: c.parts(i), size: c.size(i), release: func() { s.release(c) }}, nil
		}
	}
	s.release(c)
	if name == "" {
		return nil, fmt.Errorf("%s has %s%s", file, conversation.Count(len(all), "session"), s.example(file))
	}
	return nil, fmt.Errorf("%s has no session %s", file, bounded(name))
}

func stampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return "none "
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
}

// isDatabase reports whether a file begins as a SQLite database does. An empty one may be
// in its log only.
func isDatabase(file string) bool {
	f, err := Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(sqlite.Magic))
	n, err := io.ReadFull(f, head)
	return string(head) == sqlite.Magic || n == 0 && errors.Is(err, io.EOF) && stampOf(file+"-wal") != "none "
}

// maxRows bounds the memory that the rows of a database take.
const maxRows = 1 << 21

var errManyRows = fmt.Errorf("it has over %d rows of sessions", maxRows)

// A row of a database, in the order in which it is read.
type rowRef struct {
	at  int64
	id  string
	row int64
}

// rowRefs are sorted by their times, and then by their ids.
type rowRefs []rowRef

func (r rowRefs) Len() int      { return len(r) }
func (r rowRefs) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r rowRefs) Less(i, j int) bool {
	return r[i].at < r[j].at || r[i].at == r[j].at && r[i].id < r[j].id
}

// byTime sorts the results of an answer, of which there are few.
func byTime(results []Record) {
	for i := range results {
		for j := i; j > 0 && results[j].At.Before(results[j-1].At); j-- {
			results[j], results[j-1] = results[j-1], results[j]
		}
	}
}
