package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"jp/importer/sqlite"
)

// goose reads the sessions of goose: a line about the session, and then one message a line.
// The sessions of its database are read as if they were such files.
type goose struct{ *shelf }

func newGoose() goose { return goose{&shelf{index: indexGoose}} }

func (goose) Name() string { return "goose" }

func (goose) Folder(getenv func(string) string) string {
	if dir := getenv("GOOSE_PATH_ROOT"); dir != "" {
		return filepath.Join(dir, "data", "sessions")
	}
	return filepath.Join(dataFolder(getenv), "goose", "sessions")
}

// Files are the sessions of the database, and the files of earlier versions that it lacks.
func (g goose) Files(folder, tree string) (files []string, err error) {
	seen := map[string]bool{}
	if file := filepath.Join(folder, "sessions.db"); isDatabase(file) {
		if files, _, err = g.list(file, tree, seen); err != nil {
			return nil, err
		}
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	for _, file := range old {
		if !seen[strings.TrimSuffix(filepath.Base(file), ".jsonl")] {
			files = append(files, file)
		}
	}
	return files, err
}

// Open opens a file, or a session of the database.
func (g goose) Open(path string) (io.ReadSeekCloser, error) {
	file, session := splitSession(path)
	if session == "" && !isDatabase(file) {
		return Open(path)
	}
	return g.shelf.open(file, session)
}

// A gooseHead is the line about the session.
type gooseHead struct {
	ID       string `json:"id"`
	Dir      string `json:"working_dir"`
	Provider string `json:"provider_name,omitempty"`
	Model    string `json:"model_name,omitempty"`
	Damaged  int    `json:"damaged,omitempty"` // of its database
}

type gooseIndex struct {
	sessions []gooseHead
	messages map[string][]int64 // rows by session, in the order of the session
	sizes    map[string]int64
	table    *sqlite.Table
	damaged  int
}

func (x *gooseIndex) size(session int) int64 { return x.sizes[x.sessions[session].ID] }

func (x *gooseIndex) stored() (all []storedSession) {
	for _, s := range x.sessions {
		all = append(all, storedSession{id: s.ID, dir: s.Dir})
	}
	return all
}

func indexGoose(db *sqlite.DB) (index, error) {
	sessions, err := db.Table("sessions")
	if err != nil {
		return nil, fmt.Errorf("table sessions: %w", err)
	}
	x := &gooseIndex{messages: map[string][]int64{}, sizes: map[string]int64{}}
	if x.table, err = db.Table("messages"); err != nil {
		return nil, fmt.Errorf("table messages: %w", err)
	}
	known := map[string]bool{}
	id, dir, provider, model := sessions.Column("id"), sessions.Column("working_dir"), sessions.Column("provider_name"), sessions.Column("model_config_json")
	damaged, err := sessions.Scan(func(r *sqlite.Row) error {
		var h gooseHead
		var failed error
		if h.ID, failed = r.Text(id); failed != nil || h.ID == "" || known[h.ID] {
			x.damaged++
			return nil
		}
		known[h.ID] = true
		h.Dir, _ = r.Text(dir) // by default the session has no folder
		h.Provider, _ = r.Text(provider)
		var config struct {
			Model string `json:"model_name"`
		}
		if text, err := r.Bytes(model); err == nil && json.Unmarshal(text, &config) == nil {
			h.Model = config.Model
		}
		x.sessions = append(x.sessions, h)
		return nil
	})
	x.damaged += damaged
	if err != nil {
		return nil, err
	}
	of, content, n := x.table.Column("session_id"), x.table.Column("content_json"), 0
	damaged, err = x.table.Scan(func(r *sqlite.Row) error {
		session, err := r.Text(of)
		if err != nil || len(session) > 256 {
			x.damaged++
			return nil
		}
		if n++; n > maxRows {
			return errManyRows
		}
		x.messages[session] = append(x.messages[session], r.ID)
		x.sizes[session] += r.Size(content)
		return nil
	})
	x.damaged += damaged
	return x, err
}

// parts is a session as earlier versions wrote it to a file.
func (x *gooseIndex) parts(session int) iter.Seq2[[]byte, error] {
	head := x.sessions[session]
	return func(yield func([]byte, error) bool) {
		head.Damaged = x.damaged
		line, err := json.Marshal(head)
		if !yield(append(line, '\n'), err) {
			return
		}
		t, reader := x.table, x.table.Reader()
		id, role, created, content, metadata := t.Column("message_id"), t.Column("role"), t.Column("created_timestamp"), t.Column("content_json"), t.Column("metadata_json")
		for _, at := range x.messages[head.ID] {
			row, err := reader.Get(at)
			if err != nil {
				if !yield([]byte("{\n"), nil) { // is refused as invalid JSON
					return
				}
				continue
			}
			var m gooseMessage
			m.ID, _ = row.Text(id)
			m.Role, _ = row.Text(role)
			at, _ := row.Int(created)
			m.Created = float64(at)
			value, err := row.Bytes(content)
			m.Content = rowJSON(value, err)
			if value, err = row.Bytes(metadata); err == nil && len(value) > 0 {
				m.Metadata = rowJSON(value, nil)
			}
			line, err := json.Marshal(m)
			if !yield(append(line, '\n'), err) {
				return
			}
		}
	}
}

// rowJSON is a JSON value of a row, or the reason why it is refused.
func rowJSON(value []byte, err error) json.RawMessage {
	switch {
	case err != nil || len(value) > maxRecord:
		return refusal(refusedLarge)
	case tooDeep(value):
		return refusal(refusedDeep)
	case !json.Valid(value):
		return refusal(refusedJSON)
	}
	return value
}

type gooseMessage struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Created  float64         `json:"created"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

type goosePart struct {
	Type     string        `json:"type"`
	Text     string        `json:"text"`
	Thinking string        `json:"thinking"`
	ID       string        `json:"id"`
	Call     gooseOutcome  `json:"toolCall"`
	Result   *gooseOutcome `json:"toolResult"`
}

// A gooseOutcome is a value, or an error in its place.
type gooseOutcome struct {
	Status string          `json:"status"`
	Value  json.RawMessage `json:"value"`
	Error  string          `json:"error"`
}

// gooseKept are parts outside of the dialogue, and parts that events cannot hold.
var gooseKept = []string{
	"image", "redactedThinking", "toolConfirmationRequest", "actionRequired", "contextLengthExceeded", "summarizationRequested", "systemNotification",
}

func (g goose) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	return g.Begin(file, s, yield)
}

func (goose) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := gooseDecoder{session: s, yield: yield, unread: map[string]bool{}, edits: map[string][]Edit{}}
	return linesOf(file).each(s, d.line)
}

// maxOpen bounds the calls of which something is kept until their results come.
const maxOpen = 1 << 8

type gooseDecoder struct {
	session *Session
	yield   func(Record) error
	model   string
	answer  string // id of the newest answer
	begun   bool
	unread  map[string]bool   // ids of calls that goose failed to read
	edits   map[string][]Edit // of calls without a result
}

func (d *gooseDecoder) line(line []byte) error {
	s := d.session
	var m gooseMessage
	if json.Unmarshal(line, &m) != nil {
		count(&s.Refused, refusedJSON)
		return nil
	}
	if m.Role == "" {
		d.head(line)
		return nil
	}
	at := parseMillis(m.Created)
	if m.Created < 1e10 { // seconds
		at = parseMillis(m.Created * 1000)
	}
	if s.Started.IsZero() {
		s.Started = at
	}
	var parts []goosePart
	var reason string
	switch {
	case json.Unmarshal(m.Content, &reason) == nil:
		count(&s.Refused, reasonOf(reason))
		return nil
	case json.Unmarshal(m.Content, &parts) != nil:
		count(&s.Refused, refusedJSON)
		return nil
	}
	var visible struct {
		User *bool `json:"userVisible"`
	}
	if json.Unmarshal(m.Metadata, &visible) == nil && visible.User != nil && !*visible.User {
		count(&s.LeftOut, "words of the agent")
		return nil
	}
	rec := Record{At: at, Fresh: m.ID == "" || m.ID != d.answer}
	switch m.Role {
	case "user":
		return d.user(rec, parts)
	case "assistant":
		d.answer, rec.Model = m.ID, d.model
		return d.assistant(rec, parts)
	}
	count(&s.Unknown, kindName("message", m.Role))
	return nil
}

// reasonOf bounds a reason that a file gives.
func reasonOf(reason string) string {
	if reason == refusedLarge || reason == refusedDeep {
		return reason
	}
	return refusedJSON
}

// head reads the line about the session, which is the first one.
func (d *gooseDecoder) head(line []byte) {
	s := d.session
	var h gooseHead
	if d.begun || json.Unmarshal(line, &h) != nil {
		count(&s.Refused, refusedJSON)
		return
	}
	d.begun = true
	s.ID, s.Dir = h.ID, h.Dir
	if h.Model != "" {
		d.model = strings.TrimPrefix(h.Provider+"/"+h.Model, "/")
	}
	if h.Damaged > 0 {
		merge(&s.Refused, map[string]int{refusedPage: h.Damaged})
	}
}

// user gives a user's message: results of tools, and then words.
func (d *gooseDecoder) user(rec Record, parts []goosePart) error {
	var words []string
	for _, p := range parts {
		switch {
		case p.Type == "toolResponse" && d.unread[p.ID]:
			delete(d.unread, p.ID)
			count(&d.session.LeftOut, "call that goose could not read")
		case p.Type == "toolResponse" && p.Result != nil:
			result := Record{Kind: KindResult, At: rec.At, CallID: p.ID}
			if result.Text, result.Failed = d.result(*p.Result); !result.Failed {
				result.Edits = d.edits[p.ID]
			}
			delete(d.edits, p.ID)
			if err := d.yield(result); err != nil {
				return err
			}
		case p.Type == "text":
			if strings.TrimSpace(p.Text) != "" {
				words = append(words, p.Text)
			}
		default:
			d.miss(p.Type)
		}
	}
	if len(words) == 0 {
		return nil
	}
	return d.yield(Record{Kind: KindRequest, At: rec.At, Text: strings.Join(words, "\n")})
}

func (d *gooseDecoder) assistant(rec Record, parts []goosePart) error {
	for _, p := range parts {
		part := rec
		switch p.Type {
		case "text":
			part.Kind, part.Text = KindText, p.Text
		case "thinking":
			part.Kind, part.Text = KindReasoning, p.Thinking
		case "reasoning":
			part.Kind, part.Text = KindReasoning, p.Text
		case "toolRequest", "frontendToolRequest":
			var call struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if p.Call.Status == "error" || json.Unmarshal(p.Call.Value, &call) != nil {
				count(&d.session.LeftOut, "call that goose could not read")
				if len(d.unread) < maxOpen {
					d.unread[p.ID] = true
				}
				continue
			}
			if edits := gooseEdits.of(call.Name, call.Arguments); edits != nil && len(d.edits) < maxOpen {
				d.edits[p.ID] = edits
			}
			part.Kind, part.CallID, part.Tool, part.Arguments = KindCall, p.ID, call.Name, string(call.Arguments)
			if part.Arguments == "null" {
				part.Arguments = ""
			}
		default:
			d.miss(p.Type)
			continue
		}
		if err := d.yield(part); err != nil {
			return err
		}
		rec.Fresh = false
	}
	return nil
}

func (d *gooseDecoder) miss(kind string) {
	if slices.Contains(gooseKept, kind) {
		count(&d.session.LeftOut, kindName(kind))
	} else {
		count(&d.session.Unknown, kindName("part", kind))
	}
}

// result is the result of a tool: parts, or an object around them.
func (d *gooseDecoder) result(o gooseOutcome) (text string, failed bool) {
	if o.Status == "error" {
		return o.Error, true
	}
	var object struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"isError"`
	}
	content := o.Value
	if json.Unmarshal(content, &object) == nil {
		content = object.Content
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Resource struct {
			Text string `json:"text"`
		} `json:"resource"`
	}
	if len(content) > 0 && json.Unmarshal(content, &parts) != nil {
		d.miss("content of a result")
		return "", object.IsError
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "resource" && p.Resource.Text != "":
			texts = append(texts, p.Resource.Text)
		case p.Type != "text":
			count(&d.session.LeftOut, "attachment")
		}
	}
	return strings.Join(texts, "\n"), object.IsError
}
