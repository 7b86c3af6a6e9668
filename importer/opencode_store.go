package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"jp/importer/sqlite"
)

func newOpencode() opencode { return opencode{&shelf{index: indexOpencode}} }

// dataFolder is the folder for programs' data.
func dataFolder(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".local", "share")
}

func (opencode) Folder(getenv func(string) string) string {
	return filepath.Join(dataFolder(getenv), "opencode")
}

// Files are the sessions of the databases, and those of the earlier folder that the databases lack.
func (o opencode) Files(folder, tree string) (files []string, err error) {
	databases, err := filepath.Glob(filepath.Join(folder, "opencode*.db"))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, file := range databases {
		names, _, err := o.list(file, tree, seen)
		if err != nil {
			return nil, err
		}
		files = append(files, names...)
	}
	old, err := filepath.Glob(filepath.Join(folder, "storage", "session", "*", "*.json"))
	for _, file := range old {
		if id := strings.TrimSuffix(filepath.Base(file), ".json"); !seen[id] {
			seen[id] = true
			files = append(files, file)
		}
	}
	return files, err
}

// Open opens an export, a session of a database, or one of the earlier folder, by its file
// or by the folder of its messages.
func (o opencode) Open(path string) (io.ReadSeekCloser, error) {
	file, session := splitSession(path)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return openFolder(file)
	}
	if session != "" || isDatabase(file) {
		return o.shelf.open(file, session)
	}
	if project := filepath.Dir(file); filepath.Base(filepath.Dir(project)) == "session" {
		return openFolderOf(file)
	}
	return Open(path)
}

// An opencodeIndex has the places of the rows of each session.
type opencodeIndex struct {
	sessions       []opencodeRow
	messages       map[string]rowRefs // by session
	partsOf        map[string]rowRefs // by message
	message, part  *sqlite.Table
	ofMessage      int // columns
	ofPart         int
	damaged        int
	sizeOfMessages map[string]int64
}

type opencodeRow struct {
	storedSession
	revert string
}

// Threads are a session of a database, and those of its sub-agents.
func (o opencode) Threads(session io.ReadSeeker, path string) ([]Thread, error) {
	own := Thread{Decode: func(s *Session, yield func(Record) error) error { return o.Decode(session, s, yield) }}
	threads := []Thread{own}
	file, id := splitSession(path)
	if id == "" {
		return threads, nil
	}
	c, err := o.take(file)
	if err != nil {
		return nil, err
	}
	defer o.release(c)
	below := map[string][]string{}
	for _, s := range c.stored() {
		below[s.parent] = append(below[s.parent], s.id)
	}
	const most = 1 << 12 // sub-agents of a session
	seen := map[string]bool{id: true}
	keys := []string{""}
	for n := 0; n < len(keys) && len(keys) < most; n++ {
		parent := keys[n]
		for _, child := range below[cmp.Or(parent, id)] {
			if seen[child] {
				continue
			}
			seen[child] = true
			thread, ok, err := o.child(file, child)
			if err != nil {
				return nil, err
			}
			if ok {
				thread.Parent = parent
				threads, keys = append(threads, thread), append(keys, child)
			}
		}
	}
	return threads, nil
}

// child is the thread of a sub-agent. ok is false if it is empty.
func (o opencode) child(file, id string) (Thread, bool, error) {
	in, err := o.shelf.open(file, id)
	if err != nil {
		return Thread{}, false, err
	}
	defer in.Close()
	s, ok, err := identify(o, in, id)
	return Thread{Key: id, Child: true, Started: s.Started, Decode: func(s *Session, yield func(Record) error) error {
		in, err := o.shelf.open(file, id)
		if err != nil {
			return err
		}
		defer in.Close()
		return o.Decode(in, s, yield)
	}}, ok, err
}

func (x *opencodeIndex) size(session int) int64 { return x.sizeOfMessages[x.sessions[session].id] }

func (x *opencodeIndex) stored() (all []storedSession) {
	for _, s := range x.sessions {
		all = append(all, s.storedSession)
	}
	return all
}

// indexOpencode reads the places of all rows, without their texts.
func indexOpencode(db *sqlite.DB) (index, error) {
	x := &opencodeIndex{messages: map[string]rowRefs{}, partsOf: map[string]rowRefs{}, sizeOfMessages: map[string]int64{}}
	var err error
	if x.message, err = db.Table("message"); err != nil {
		return nil, fmt.Errorf("table message: %w", err)
	}
	if x.part, err = db.Table("part"); err != nil {
		return nil, fmt.Errorf("table part: %w", err)
	}
	x.ofMessage, x.ofPart = x.message.Column("data"), x.part.Column("data")
	session, err := db.Table("session")
	if err != nil {
		return nil, fmt.Errorf("table session: %w", err)
	}
	known := map[string]bool{}
	id, dir, parent, revert := session.Column("id"), session.Column("directory"), session.Column("parent_id"), session.Column("revert")
	err = x.scan(session, func(r *sqlite.Row) error {
		name, failed := r.Text(id)
		if failed != nil || name == "" || known[name] {
			x.damaged++
			return nil
		}
		known[name] = true
		s := opencodeRow{storedSession: storedSession{id: name}}
		s.dir, _ = r.Text(dir)       // by default the session has no folder
		s.parent, _ = r.Text(parent) // by default it is a session of its own
		if r.Size(revert) < 1<<16 {
			s.revert, _ = r.Text(revert)
		}
		x.sessions = append(x.sessions, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := x.collect(x.message, "session_id", x.messages, func(of string, size int64) { x.sizeOfMessages[of] += size }); err != nil {
		return nil, err
	}
	if err := x.collect(x.part, "message_id", x.partsOf, func(string, int64) {}); err != nil {
		return nil, err
	}
	for _, m := range x.messages {
		sort.Sort(m)
	}
	for _, p := range x.partsOf {
		sort.Sort(p)
	}
	return x, nil
}

func (x *opencodeIndex) scan(t *sqlite.Table, do func(*sqlite.Row) error) error {
	damaged, err := t.Scan(do)
	x.damaged += damaged
	return err
}

func (x *opencodeIndex) collect(t *sqlite.Table, of string, into map[string]rowRefs, sized func(string, int64)) error {
	id, parent, created, data, n := t.Column("id"), t.Column(of), t.Column("time_created"), t.Column("data"), 0
	if of == "message_id" {
		created = -1 // the ids of parts are in their order
	}
	return x.scan(t, func(r *sqlite.Row) error {
		name, err := r.Text(id)
		if err != nil || name == "" || len(name) > 256 {
			x.damaged++
			return nil
		}
		above, err := r.Text(parent)
		if err != nil || above == "" || len(above) > 256 {
			x.damaged++
			return nil
		}
		if n++; n > maxRows {
			return errManyRows
		}
		at, _ := r.Int(created)
		into[above] = append(into[above], rowRef{at: at, id: name, row: r.ID})
		sized(above, r.Size(data))
		return nil
	})
}

// parts is a session as opencode exports it.
func (x *opencodeIndex) parts(session int) iter.Seq2[[]byte, error] {
	s := x.sessions[session]
	return func(yield func([]byte, error) bool) {
		info := map[string]any{"id": s.id, "directory": s.dir}
		if s.revert != "" && json.Valid([]byte(s.revert)) {
			info["revert"] = json.RawMessage(s.revert)
		}
		w := exportWriter{yield: yield}
		w.begin(info, x.damaged)
		messages, parts := x.message.Reader(), x.part.Reader()
		for _, m := range x.messages[s.id] {
			w.message(rowValue(messages, m, x.ofMessage, "id", m.id, "sessionID", s.id))
			for _, p := range x.partsOf[m.id] {
				w.part(rowValue(parts, p, x.ofPart, "id", p.id))
				if w.failed {
					return
				}
			}
			if w.endMessage(); w.failed {
				return
			}
		}
		w.end()
	}
}

// rowValue is the JSON of a row with its ids, or the reason for its absence.
func rowValue(from *sqlite.Reader, ref rowRef, column int, ids ...string) (value []byte, err error) {
	row, err := from.Get(ref.row)
	if err == nil {
		value, err = row.Bytes(column)
	}
	switch {
	case errors.Is(err, sqlite.ErrLarge):
		return refusal(refusedLarge), nil
	case errors.Is(err, sqlite.ErrDamaged):
		return refusal(refusedJSON), nil
	case err != nil:
		return nil, err
	}
	return object(value, ids...), nil
}

// balanced reports whether a value ends with its brackets, so that it can stand in a document, and whether it
// is too deep for one. Reading the document shows whether the value is valid.
func balanced(value []byte) (ends, deep bool) {
	depth := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false, true
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i == len(value)-1, false
			}
		case '"':
			i = stringEnd(value, i)
		}
	}
	return false, false
}

func refusal(reason string) []byte { return []byte(`"` + reason + `"`) }

// object is a JSON object with more members in front, or the reason why it is refused.
func object(value []byte, members ...string) []byte {
	value = bytes.TrimSpace(value)
	if len(value) > maxRecord {
		return refusal(refusedLarge)
	}
	switch ends, deep := balanced(value); {
	case deep:
		return refusal(refusedDeep)
	case len(value) < 2 || value[0] != '{' || !ends:
		return refusal(refusedJSON)
	}
	out := []byte{'{'}
	for i := 0; i+1 < len(members); i += 2 {
		name, _ := json.Marshal(members[i])
		word, _ := json.Marshal(members[i+1])
		out = append(append(append(append(out, name...), ':'), word...), ',')
	}
	rest := bytes.TrimLeft(value[1:], " \t\r\n")
	if rest[0] == '}' && len(out) > 1 {
		out = out[:len(out)-1]
	}
	return append(out, rest...)
}

// An exportWriter writes the document of an export.
type exportWriter struct {
	yield    func([]byte, error) bool
	failed   bool
	messages int
	parts    int
}

func (w *exportWriter) put(parts ...[]byte) {
	for _, p := range parts {
		if w.failed = w.failed || !w.yield(p, nil); w.failed {
			return
		}
	}
}

func (w *exportWriter) begin(info map[string]any, damaged int) {
	head, err := json.Marshal(map[string]any{"info": info, "damaged": damaged})
	if err != nil {
		w.fail(err)
		return
	}
	// The members are in the order of their names, so the info precedes the messages.
	w.put(head[:len(head)-1], []byte(`,"messages":[`))
}

func (w *exportWriter) fail(err error) {
	if !w.failed {
		w.failed = true
		w.yield(nil, err)
	}
}

func (w *exportWriter) message(info []byte, err error) {
	if err != nil {
		w.fail(err)
		return
	}
	comma := []byte(",")
	if w.messages == 0 {
		comma = nil
	}
	w.messages, w.parts = w.messages+1, 0
	w.put(comma, []byte(`{"info":`), info, []byte(`,"parts":[`))
}

func (w *exportWriter) part(part []byte, err error) {
	if err != nil {
		w.fail(err)
		return
	}
	if w.parts++; w.parts > 1 {
		w.put([]byte(","))
	}
	w.put(part)
}

func (w *exportWriter) endMessage() { w.put([]byte("]}")) }
func (w *exportWriter) end()        { w.put([]byte("]}")) }

// openFolderOf opens a session of the earlier folder by its file.
func openFolderOf(file string) (io.ReadSeekCloser, error) {
	storage, err := os.OpenRoot(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	if err != nil {
		return nil, err
	}
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	info, err := readIn(storage, filepath.Join("session", filepath.Base(filepath.Dir(file)), filepath.Base(file)))
	if err != nil {
		return nil, errors.Join(err, storage.Close())
	}
	var s opencodeSession
	if json.Unmarshal(info, &s) != nil || s.ID != id {
		return nil, errors.Join(fmt.Errorf("%s is no session of opencode", file), storage.Close())
	}
	return openStorage(storage, s)
}

// openFolder opens a session of the earlier folder by the folder of its messages.
func openFolder(dir string) (io.ReadSeekCloser, error) {
	dir = filepath.Clean(dir)
	if filepath.Base(filepath.Dir(dir)) != "message" {
		return nil, fmt.Errorf("%s is a folder, and no folder storage/message/SESSION of opencode", dir)
	}
	storage, err := os.OpenRoot(filepath.Dir(filepath.Dir(dir)))
	if err != nil {
		return nil, err
	}
	s := opencodeSession{ID: filepath.Base(dir)}
	if projects, err := storage.Open("session"); err == nil {
		defer projects.Close()
		names, _ := projects.Readdirnames(1 << 12) // without them, the folder of the session stays unknown
		for _, project := range names {
			var known opencodeSession
			info, err := readIn(storage, filepath.Join("session", project, s.ID+".json"))
			if err == nil && json.Unmarshal(info, &known) == nil && known.ID == s.ID {
				s = known
			}
		}
	}
	return openStorage(storage, s)
}

// readIn reads a regular file of a folder. Links cannot lead out of the folder.
func readIn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxRecord+1))
}

// filesIn are the JSON files of a folder.
func filesIn(root *os.Root, dir string) (files rowRefs, err error) {
	d, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1 << 10)
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && e.Type().IsRegular() {
				files = append(files, rowRef{id: name})
			}
		}
		if len(files) > maxRows {
			return nil, errManyRows
		}
		if errors.Is(err, io.EOF) || len(entries) == 0 && err == nil {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	sort.Sort(files)
	return files, nil
}

// openStorage is a session of the earlier folder as opencode exports it.
func openStorage(storage *os.Root, s opencodeSession) (io.ReadSeekCloser, error) {
	dir := filepath.Join("message", s.ID)
	messages, err := filesIn(storage, dir)
	if err != nil {
		return nil, errors.Join(err, storage.Close())
	}
	size := int64(0)
	for i, m := range messages {
		var head struct {
			Time opencodeTime `json:"time"`
		}
		text, err := readIn(storage, filepath.Join(dir, m.id+".json"))
		if err == nil && len(text) <= maxRecord && json.Unmarshal(text, &head) == nil {
			messages[i].at = int64(head.Time.Created)
		}
		size += int64(len(text))
	}
	sort.Sort(messages)
	value := func(path string, ids ...string) ([]byte, error) {
		text, err := readIn(storage, path)
		if err != nil {
			return refusal(refusedJSON), nil // it was there, and is gone, or is a link out of the folder
		}
		return object(text, ids...), nil
	}
	parts := func(yield func([]byte, error) bool) {
		w := exportWriter{yield: yield}
		w.begin(map[string]any{"id": s.ID, "directory": s.Dir, "revert": s.Revert}, 0)
		for _, m := range messages {
			w.message(value(filepath.Join(dir, m.id+".json"), "id", m.id, "sessionID", s.ID))
			below, err := filesIn(storage, filepath.Join("part", m.id))
			if err != nil {
				w.fail(err)
			}
			for _, p := range below {
				if w.part(value(filepath.Join("part", m.id, p.id+".json"), "id", p.id)); w.failed {
					return
				}
			}
			if w.endMessage(); w.failed {
				return
			}
		}
		w.end()
	}
	return &stream{parts: parts, size: size, release: func() { _ = storage.Close() }}, nil
}
