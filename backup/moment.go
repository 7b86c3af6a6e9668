package backup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitstore/odb"
)

// A Request has the paths of a moment, and its call.
type Request struct {
	Conversation string
	Turn, Call   int
	At           int64                  // the file system's clock in nanoseconds, before the paths were listed
	Paths        []string               // files; those that are gone by now are left out
	Folders      []string               // those without entries
	Closed       []string               // those that are only named, each with a slash at its end
	Modes        map[string]uint32      // of files whose content is in a tree, and to which a checkout would give another mode
	Part         bool                   // the paths are only some of those outside of trees
	Found        []string               // of the moment that is compared, in a tree since then: also unchanged ones are changes
	Untouched    func(path string) bool // since the moment that is compared; nil: all are looked at
}

func (s *Store) record(r Request) Record {
	return Record{Conversation: r.Conversation, Turn: r.Turn, Call: r.Call, Part: r.Part, Worktree: s.opts.Top, Time: s.opts.Now().UTC(), At: r.At}
}

// Make makes a moment durable. With an error the store stays as it was. A request without paths writes
// nothing.
func (s *Store) Make(ctx context.Context, r Request) (m *Moment, err error) {
	if len(r.Paths)+len(r.Folders)+len(r.Closed)+len(r.Modes) == 0 {
		return &Moment{Record: s.record(r)}, nil
	}
	err = s.write(ctx, func(db *odb.Store) error {
		base, err := s.newest(db)
		if err != nil {
			return err
		}
		if m, err = s.make(ctx, db, r, base); err != nil {
			return err
		}
		if err := s.add(m.Record); err != nil {
			return err
		}
		if !r.Part {
			s.mu.Lock()
			s.last = m
			s.mu.Unlock()
		}
		return s.bound(db, m.Bytes)
	})
	return m, err
}

// write opens the store, and keeps other processes from writing meanwhile.
func (s *Store) write(ctx context.Context, do func(*odb.Store) error) error {
	db, err := s.open(true)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return do(db)
}

func (s *Store) make(ctx context.Context, db *odb.Store, r Request, base *Moment) (*Moment, error) {
	m := &Moment{Record: s.record(r)}
	unread := s.lookAt(m, r, base)
	known, limit := map[string]bool{}, s.opts.First
	if base != nil {
		for i := 0; i < len(base.Entries) && len(unread) > 0; i++ {
			known[base.Entries[i].OID] = true
		}
		if !r.Part {
			limit = s.opts.Step
		}
	}
	pack, err := odb.Packs{Store: db}.BeginStored()
	if err != nil {
		return nil, err
	}
	defer pack.Discard()
	look := s.look()
	defer look.Close()
	for _, i := range unread {
		e := &m.Entries[i]
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if m.Fresh+e.Size > limit {
			e.Why = WhyLimit
			continue
		}
		data := look.read(e)
		if e.OID == "" || known[e.OID] {
			continue
		}
		known[e.OID], m.Fresh = true, m.Fresh+int64(len(data))
		if _, err := pack.Add("blob", data); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(m.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	if base != nil && slices.Equal(base.Entries, m.Entries) {
		m.List, m.Pack = base.List, base.Pack
		return m, nil
	}
	list := encode(m.Entries)
	m.List = s.opts.Format.Name("blob", list)
	if _, err := pack.Add("blob", list); err != nil {
		return nil, err
	}
	m.Bytes = pack.Size()
	m.Pack, err = pack.Complete()
	return m, err
}

// lookAt fills the entries of a moment, and gives those whose content has to be read, small ones first.
func (s *Store) lookAt(m *Moment, r Request, base *Moment) (unread []int) {
	var before []Entry
	if base != nil {
		before = base.Entries
	}
	look := s.look()
	defer look.Close()
	slices.Sort(r.Paths)
	known := cursor{entries: before}
	m.Entries = make([]Entry, 0, len(r.Paths)+len(r.Folders)+len(r.Closed)+len(r.Modes))
	for _, path := range r.Paths {
		e := look.at(path)
		if !e.There() || e.IsFolder() {
			continue
		}
		switch was := known.find(path); {
		case e.IsSpecial():
			e.Why = WhySpecial
		case s.opts.Excluded != nil && s.opts.Excluded(path):
			e.Why = WhyExcluded
		case e.Size > s.opts.File:
			e.Why = WhyLarge
		case was != nil && was.OID != "" && was.sameFile(&e) && was.Ctime+grain < base.At:
			e.OID = was.OID
		default:
			unread = append(unread, len(m.Entries))
		}
		m.Entries = append(m.Entries, e)
	}
	for _, path := range r.Folders {
		if e := look.at(path); e.IsFolder() {
			m.Entries = append(m.Entries, e)
		}
	}
	for _, path := range r.Closed {
		if e := look.closed(path); e.There() {
			m.Entries = append(m.Entries, e)
		}
	}
	read := map[string]bool{} // an untracked file may be in a tree
	for i := 0; i < len(m.Entries) && len(r.Modes) > 0; i++ {
		read[m.Entries[i].Path] = true
	}
	for path, mode := range r.Modes {
		if !read[path] {
			m.Entries = append(m.Entries, Entry{Path: path, Mode: mode, Why: whyTracked})
		}
	}
	slices.SortStableFunc(unread, func(a, b int) int { return cmp.Compare(m.Entries[a].Size, m.Entries[b].Size) })
	return unread
}

// OnlyCompare is the event of a comparison that is not kept.
const OnlyCompare = -1

// Compare finds the differences from a moment, at its paths and those of the request, and keeps them durably,
// without copies of content. The event is the one that records the changes, 0 for the response of the call,
// [OnlyCompare] for none. If an earlier event of a lost call records the same changes, Compare returns none.
// With an error it returns the changes, too.
func (s *Store) Compare(ctx context.Context, m *Moment, r Request, event int) ([]Change, error) {
	changes := s.changes(m, r)
	if event == OnlyCompare {
		return changes, nil
	}
	if len(changes) == 0 || event > 0 && slices.Equal(changes, s.recorded(r, event)) {
		return nil, nil
	}
	return changes, s.write(ctx, func(db *odb.Store) error {
		pack, err := odb.Packs{Store: db}.BeginStored()
		if err != nil {
			return err
		}
		defer pack.Discard()
		before, after := make([]Entry, len(changes)), make([]Entry, len(changes))
		for i, c := range changes {
			before[i], after[i] = c.Before, c.After
		}
		record := s.record(r)
		record.Event = event
		changed, err := pack.Add("blob", encode(before))
		if err != nil {
			return err
		}
		left, err := pack.Add("blob", encode(after))
		if err != nil {
			return err
		}
		record.Changes, record.After, record.Bytes = string(changed), string(left), pack.Size()
		if record.Pack, err = pack.Complete(); err != nil {
			return fmt.Errorf("keep the changes: %w", err)
		}
		return s.add(record)
	})
}

// recorded are the newest changes of a lost call in the record of an event before another one.
func (s *Store) recorded(r Request, before int) []Change {
	records, _ := s.Records()
	for _, rec := range slices.Backward(records) {
		switch ours := rec.Conversation == r.Conversation && rec.Call == r.Call; {
		case ours && rec.List != "": // the call ran again
			return nil
		case ours && rec.Event > 0 && rec.Event < before:
			changes, _ := s.ChangesOf(rec) // else they are recorded once more
			return changes
		}
	}
	return nil
}

// changes are the differences between a moment and now, sorted by path.
func (s *Store) changes(m *Moment, r Request) (changes []Change) {
	look := s.look()
	defer look.Close()
	compare := func(was *Entry) {
		now := *was
		if r.Untouched == nil || !r.Untouched(was.Path) {
			now = s.since(look, was, m.At)
		}
		if !was.Same(&now) || was.OID != "" && slices.Contains(r.Found, was.Path) {
			changes = append(changes, Change{*was, now})
		}
	}
	for i := range m.Entries {
		compare(&m.Entries[i])
	}
	seen := map[string]bool{} // of other paths than those of the moment
	others := func(paths []string, compare func(path string)) {
		slices.Sort(paths)
		known := cursor{entries: m.Entries}
		for _, path := range paths {
			if known.find(path) == nil && !seen[path] {
				seen[path] = true
				compare(path)
			}
		}
	}
	others(r.Paths, func(path string) {
		if e := look.at(path); e.There() && !e.IsFolder() {
			compare(&Entry{Path: path})
		}
	})
	others(slices.Concat(r.Folders, r.Closed), func(path string) { compare(&Entry{Path: path}) })
	others(slices.Collect(maps.Keys(r.Modes)), func(path string) { // others had the mode that a checkout gives
		compare(&Entry{Path: path, Mode: unix.S_IFREG | checkoutMode(r.Modes[path]), Why: whyTracked})
	})
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path(), b.Path()) })
	return changes
}

// since is the present entry of a path. It reads the content only if the path may have changed since a
// moment.
func (s *Store) since(look look, was *Entry, at int64) Entry {
	if strings.HasSuffix(was.Path, "/") {
		return look.closed(was.Path)
	}
	now := look.at(was.Path)
	switch {
	case was.sameFile(&now) && was.Ctime+grain < at:
		now.OID, now.Why = was.OID, was.Why
	case was.Why == whyTracked && now.IsFile():
		now.Why = whyTracked
	case now.IsLink() || now.IsFile() && now.Size <= s.opts.File && (was.OID != "" || !was.There() || was.IsFolder()):
		look.read(&now)
	}
	return now
}

// Now is the present entry of a path, with the OID of its content of any size.
func (s *Store) Now(path string) Entry {
	look := s.look()
	defer look.Close()
	if strings.HasSuffix(path, "/") {
		return look.closed(path)
	}
	e := look.at(path)
	if e.IsLink() || e.IsFile() {
		look.read(&e)
	}
	return e
}

// Unchanged reports which files have the content and mode of a moment, which may be nil.
func (s *Store) Unchanged(m *Moment) func(path string) bool {
	return func(path string) bool {
		if m == nil {
			return false
		}
		was := m.at(path)
		if was == nil || was.OID == "" {
			return false
		}
		now := s.Now(path)
		return was.Same(&now)
	}
}

// Mode is the present mode of a path, 0 if it is missing.
func (s *Store) Mode(path string) uint32 {
	look := s.look()
	defer look.Close()
	e := look.at(path)
	return e.Mode
}

// Uncopied are those of some files that a moment would name without a copy.
func (s *Store) Uncopied(paths []string) (all []Entry) {
	look := s.look()
	defer look.Close()
	for _, path := range paths {
		if e := look.at(path); e.IsSpecial() || e.IsFile() && (e.Size > s.opts.File || s.opts.Excluded != nil && s.opts.Excluded(path)) {
			all = append(all, e)
		}
	}
	return all
}
