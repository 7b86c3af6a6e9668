package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/conversation"
)

// gemini reads the chats of the Gemini CLI: one JSON record a line. A message with the id of an earlier one
// replaces it. Earlier versions wrote one document.
type gemini struct{}

func (gemini) Name() string { return "gemini" }

func (gemini) Folder(getenv func(string) string) string {
	home := getenv("GEMINI_CLI_HOME")
	if home == "" {
		home = getenv("HOME")
	}
	return filepath.Join(home, ".gemini", "tmp")
}

// Files are in a folder for each project, which has the name of the project in a file, or
// in its own name as a hash.
func (gemini) Files(folder, tree string) (files []string, err error) {
	all, err := filepath.Glob(filepath.Join(folder, "*", "chats", "session-*.json*"))
	for _, file := range all {
		if within(geminiDir(file, tree), tree) {
			files = append(files, file)
		}
	}
	return files, err
}

// geminiDir is the folder in which a chat ran. The file of the chat lacks it.
func geminiDir(file, tree string) string {
	project := filepath.Dir(filepath.Dir(file))
	if root, err := Open(filepath.Join(project, ".project_root")); err == nil {
		defer root.Close()
		const most = 4 << 10
		if text, err := io.ReadAll(io.LimitReader(root, most)); err == nil && filepath.IsAbs(string(text)) {
			return strings.TrimSpace(string(text))
		}
	}
	sum := sha256.Sum256([]byte(tree))
	if filepath.Base(project) == hex.EncodeToString(sum[:]) {
		return tree
	}
	return ""
}

// Open opens a chat, with a record in front for the folder in which it ran.
func (gemini) Open(path string) (io.ReadSeekCloser, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	tree, err := os.Getwd()
	if err != nil {
		tree = ""
	}
	dir := geminiDir(path, tree)
	for dir == "" && filepath.Dir(tree) != tree { // the hash of a folder can only be compared
		tree = filepath.Dir(tree)
		dir = geminiDir(path, tree)
	}
	if dir == "" {
		return file, nil
	}
	return withFront(file, map[string]any{"$set": map[string]any{"directories": []string{dir}}})
}

// A fronted file has a record in front.
type fronted struct {
	*io.SectionReader
	front []byte
	file  *os.File
}

func withFront(file *os.File, record any) (io.ReadSeekCloser, error) {
	front, err := json.Marshal(record)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f := &fronted{front: append(front, '\n'), file: file}
	f.SectionReader = io.NewSectionReader(frontedAt{f}, 0, int64(len(f.front))+info.Size())
	return f, nil
}

func (f *fronted) Close() error { return f.file.Close() }

type frontedAt struct{ *fronted }

func (f frontedAt) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(f.front)) {
		return f.file.ReadAt(p, at-int64(len(f.front)))
	}
	n := copy(p, f.front[at:])
	if n == len(p) {
		return n, nil
	}
	m, err := f.file.ReadAt(p[n:], 0)
	return n + m, err
}

type geminiLine struct {
	geminiMessage
	Session     string            `json:"sessionId"`
	StartTime   string            `json:"startTime"`
	Directories []string          `json:"directories"`
	Messages    []json.RawMessage `json:"messages"`
	Rewind      string            `json:"$rewindTo"`
	Set         *struct {
		Session     string            `json:"sessionId"`
		StartTime   string            `json:"startTime"`
		Directories []string          `json:"directories"`
		Messages    []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	Calls     []geminiCall    `json:"toolCalls"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Tokens *struct {
		Input    int `json:"input"`
		Output   int `json:"output"`
		Cached   int `json:"cached"`
		Thoughts int `json:"thoughts"`
	} `json:"tokens"`
}

type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    json.RawMessage `json:"result"`
	Status    string          `json:"status"`
	Timestamp string          `json:"timestamp"`
}

// A geminiPart is a part of a message or of a result.
type geminiPart struct {
	Text     string          `json:"text"`
	Thought  bool            `json:"thought"`
	Inline   json.RawMessage `json:"inlineData"`
	File     json.RawMessage `json:"fileData"`
	Call     *geminiCall     `json:"functionCall"`
	Response *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// Decode reads the file twice, since only its end tells which messages are the session.
func (gemini) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	d := geminiDecoder{session: s, yield: yield}
	whole, err := isGeminiDocument(file)
	if err != nil {
		return err
	}
	if whole {
		return d.document(file)
	}
	places, err := d.places(file)
	if err != nil {
		return err
	}
	return d.at(file, places)
}

// Begin reads the file once, ignoring replacements.
func (gemini) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := geminiDecoder{session: s, yield: yield}
	in := bufio.NewReaderSize(file, geminiHead)
	head, err := in.Peek(geminiHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if geminiDocument(head) {
		return d.document(in)
	}
	return linesOf(in).each(s, func(line []byte) error {
		var l geminiLine
		if json.Unmarshal(line, &l) != nil {
			count(&s.Refused, refusedJSON)
			return nil
		}
		d.about(&l)
		for _, m := range l.all() {
			if err := d.raw(m); err != nil {
				return err
			}
		}
		if l.ID == "" {
			return nil
		}
		return d.message(&l.geminiMessage)
	})
}

// all are the messages of a record that has many.
func (l *geminiLine) all() []json.RawMessage {
	if l.Set != nil && l.Set.Messages != nil {
		return l.Set.Messages
	}
	return l.Messages
}

const geminiHead = 4 << 10

// geminiDocument reports whether a file is one document, by how it begins: a record a line
// would have its end in the line.
func geminiDocument(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte(`{"$set":{"directories":`)) { // the record in front
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	line, _, more := bytes.Cut(head, []byte("\n"))
	return more && bytes.Equal(bytes.TrimSpace(line), []byte("{"))
}

func isGeminiDocument(file io.ReadSeeker) (bool, error) {
	head := make([]byte, geminiHead)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return geminiDocument(head[:n]), err
}

type geminiDecoder struct {
	session *Session
	yield   func(Record) error
	begun   time.Time // of the session
}

func (d *geminiDecoder) about(l *geminiLine) {
	s := d.session
	session, start, dirs := l.Session, l.StartTime, l.Directories
	if l.Set != nil {
		session, start, dirs = l.Set.Session, l.Set.StartTime, l.Set.Directories
	}
	if s.ID == "" {
		s.ID = session
	}
	if s.Dir == "" && len(dirs) > 0 {
		s.Dir = dirs[0]
	}
	if d.begun.IsZero() {
		d.begun = parseTime(start)
	}
}

// A geminiPlace is the place of the newest version of a message.
type geminiPlace struct {
	line  int64
	index int32 // in the messages of the record, -1 for the record itself
}

// places reads which messages are the session.
func (d *geminiDecoder) places(file io.ReadSeeker) ([]geminiPlace, error) {
	s := d.session
	var places []geminiPlace
	position := map[claudeID]int{}
	drop := func(from int) {
		merge(&s.LeftOut, map[string]int{"taken back": len(places) - from})
		places = places[:from]
		for id, at := range position {
			if at >= from {
				delete(position, id)
			}
		}
	}
	put := func(id string, p geminiPlace) {
		key := claudeIDOf(id)
		if at, known := position[key]; known {
			places[at] = p
			count(&s.LeftOut, "earlier version of a message")
			return
		}
		if len(places) >= maxLinks {
			count(&s.Refused, "over 1048576 messages")
			return
		}
		position[key] = len(places)
		places = append(places, p)
	}
	in := linesOf(file)
	err := in.each(s, func(line []byte) error {
		id, rewind := "", ""
		fields(line, func(key, value []byte) {
			switch string(key) {
			case "id":
				_ = json.Unmarshal(value, &id)
			case "$rewindTo":
				_ = json.Unmarshal(value, &rewind)
			}
		})
		switch {
		case rewind != "":
			drop(position[claudeIDOf(rewind)]) // an unknown one takes all back
			return nil
		case id != "":
			put(id, geminiPlace{in.at, -1})
			return nil
		}
		var l geminiLine
		if json.Unmarshal(line, &l) != nil {
			count(&s.Refused, refusedJSON)
			return nil
		}
		d.about(&l)
		if l.Set == nil && l.Session == "" && l.Messages == nil {
			count(&s.Unknown, "record without an id")
			return nil
		}
		count(&s.LeftOut, "state")
		if l.Set != nil && l.Set.Messages != nil {
			clear(position) // the record repeats unchanged messages
			places = places[:0]
		}
		for i, raw := range l.all() {
			var m struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(raw, &m) != nil || m.ID == "" {
				count(&s.Refused, refusedJSON)
				continue
			}
			put(m.ID, geminiPlace{in.at, int32(i)})
		}
		return nil
	})
	return places, err
}

// at gives the messages at their places.
func (d *geminiDecoder) at(file io.ReadSeeker, places []geminiPlace) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in, read := linesOf(file), int64(-1)
	var l geminiLine
	for _, p := range places {
		if p.line != read {
			if p.line < in.end || p.line > in.end+1<<20 {
				if _, err := file.Seek(p.line, io.SeekStart); err != nil {
					return err
				}
				in.in.Reset(file)
			} else if _, err := in.in.Discard(int(p.line - in.end)); err != nil {
				return err
			}
			in.end, read = p.line, p.line
			line, refused, err := in.next()
			if err != nil {
				return err
			}
			l = geminiLine{}
			if refused != "" || json.Unmarshal(line, &l) != nil {
				count(&d.session.Refused, refusedJSON)
				read = -1
				continue
			}
		}
		if p.index < 0 {
			if err := d.message(&l.geminiMessage); err != nil {
				return err
			}
		} else if all := l.all(); int(p.index) < len(all) {
			if err := d.raw(all[p.index]); err != nil {
				return err
			}
		}
	}
	return nil
}

// document reads a chat of earlier versions.
func (d *geminiDecoder) document(file io.Reader) error {
	s := d.session
	seen := map[claudeID]bool{}
	err := pieces(file, func(path string) bool { return path == "" || path == "messages" }, func(p piece) error {
		switch {
		case p.end:
			return nil
		case p.refused != "":
			count(&s.Refused, p.refused)
			return nil
		case p.path != "messages/*":
			var l geminiLine
			if name, _, _ := strings.Cut(p.path, "/"); name == "$set" || name == "sessionId" || name == "startTime" || name == "directories" {
				if json.Unmarshal([]byte(`{"`+name+`":`+string(p.value)+"}"), &l) == nil {
					d.about(&l)
				}
			}
			count(&s.LeftOut, "state")
			return nil
		}
		var m geminiMessage
		if json.Unmarshal(p.value, &m) != nil || m.ID == "" {
			count(&s.Refused, refusedJSON)
			return nil
		}
		if id := claudeIDOf(m.ID); seen[id] {
			count(&s.Refused, refusedDuplicate)
			return nil
		} else if len(seen) < maxLinks {
			seen[id] = true
		}
		return d.message(&m)
	})
	if errors.Is(err, errDocument) {
		count(&s.Refused, refusedJSON)
		return nil
	}
	return err
}

func (d *geminiDecoder) raw(message json.RawMessage) error {
	var m geminiMessage
	if json.Unmarshal(message, &m) != nil || m.ID == "" {
		count(&d.session.Refused, refusedJSON)
		return nil
	}
	return d.message(&m)
}

func (d *geminiDecoder) message(m *geminiMessage) error {
	s := d.session
	at := parseTime(m.Timestamp)
	if s.Started.IsZero() {
		if s.Started = d.begun; d.begun.IsZero() {
			s.Started = at
		}
	}
	switch m.Type {
	case "info", "error", "warning":
		count(&s.LeftOut, "words of the agent")
		return nil
	case "user", "gemini":
	default:
		count(&s.Unknown, kindName("message", m.Type))
		return nil
	}
	parts, ok := geminiParts(m.Content)
	if !ok {
		count(&s.Refused, refusedJSON)
		return nil
	}
	if m.Type == "gemini" {
		return d.answer(m, at, parts)
	}
	text := d.texts(parts)
	trimmed := strings.TrimSpace(text)
	for _, begin := range []string{"/", "?", "<session_context>", "<hook_context>"} { // as the Gemini CLI does
		if strings.HasPrefix(trimmed, begin) {
			trimmed = ""
		}
	}
	if trimmed == "" {
		count(&s.LeftOut, "words of the agent")
		return nil
	}
	return d.yield(Record{Kind: KindRequest, At: at, Text: text})
}

// answer gives an answer: thoughts, text, calls, and then the results.
func (d *geminiDecoder) answer(m *geminiMessage, at time.Time, parts []geminiPart) error {
	rec := Record{At: at, Fresh: true}
	if m.Model != "" {
		rec.Model = "google/" + m.Model
	}
	give := func(r Record) error {
		rec.Fresh = rec.Fresh && r.Kind != KindCall && r.Text == ""
		return d.yield(r)
	}
	for _, t := range m.Thoughts {
		r := rec
		r.Kind, r.Text = KindReasoning, strings.TrimSpace(t.Subject+"\n"+t.Description)
		if err := give(r); err != nil {
			return err
		}
	}
	calls := m.Calls
	for i, p := range parts {
		r := rec
		switch {
		case p.Thought:
			if len(m.Thoughts) > 0 {
				continue
			}
			r.Kind, r.Text = KindReasoning, p.Text
		case p.Call != nil:
			if len(m.Calls) == 0 {
				call := *p.Call
				if call.ID == "" {
					call.ID = m.ID + "/" + string(rune('a'+i%26))
				}
				calls = append(calls, call)
			}
			continue
		default:
			r.Kind, r.Text = KindText, d.texts([]geminiPart{p})
		}
		if err := give(r); err != nil {
			return err
		}
	}
	for _, c := range calls {
		r := rec
		r.Kind, r.CallID, r.Tool, r.Arguments = KindCall, c.ID, c.Name, string(c.Args)
		if err := give(r); err != nil {
			return err
		}
	}
	if t := m.Tokens; t != nil && min(t.Input, t.Output, t.Cached, t.Thoughts) >= 0 {
		u := &conversation.Usage{Input: t.Input, Output: t.Output + t.Thoughts, CacheRead: t.Cached}
		if err := d.yield(Record{Kind: KindUsage, Usage: u}); err != nil {
			return err
		}
	}
	return d.results(calls)
}

func (d *geminiDecoder) results(calls []geminiCall) error {
	var results []Record
	for _, c := range calls {
		r := Record{Kind: KindResult, At: parseTime(c.Timestamp), CallID: c.ID, Failed: c.Status == "error" || c.Status == "cancelled"}
		if len(c.Result) == 0 || string(c.Result) == "null" {
			if !r.Failed {
				continue // still empty
			}
			r.Text = c.Status
		} else {
			r.Text, r.Failed = d.result(c.Result, r.Failed)
		}
		if !r.Failed {
			r.Edits = geminiEdits.of(c.Name, c.Args)
		}
		const most = 1 << 12 // calls of one answer
		if len(results) == most {
			count(&d.session.Refused, refusedMany)
			break
		}
		results = append(results, r)
	}
	byTime(results)
	for _, r := range results {
		if err := d.yield(r); err != nil {
			return err
		}
	}
	return nil
}

// result is the result of a tool: an object, or parts around one.
func (d *geminiDecoder) result(value json.RawMessage, failed bool) (string, bool) {
	parts, ok := geminiParts(value)
	if !ok {
		count(&d.session.Unknown, "content of a result")
		return "", failed
	}
	var texts []string
	for _, p := range parts {
		if p.Response == nil {
			if text := d.texts([]geminiPart{p}); text != "" {
				texts = append(texts, text)
			}
			continue
		}
		var object struct {
			Output json.RawMessage `json:"output"`
			Error  json.RawMessage `json:"error"`
		}
		response := p.Response.Response
		if json.Unmarshal(response, &object) == nil {
			switch {
			case len(object.Error) > 0:
				response, failed = object.Error, true
			case len(object.Output) > 0:
				response = object.Output
			}
		}
		var text string
		if json.Unmarshal(response, &text) != nil {
			text = string(response)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), failed
}

// texts are the words of parts.
func (d *geminiDecoder) texts(parts []geminiPart) string {
	var texts []string
	for _, p := range parts {
		switch {
		case p.Inline != nil || p.File != nil:
			count(&d.session.LeftOut, "attachment")
		case p.Response != nil || p.Call != nil:
			count(&d.session.LeftOut, "part of a tool call")
		case strings.TrimSpace(p.Text) != "":
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// geminiParts reads a content: a text, a part, or a list of both.
func geminiParts(content json.RawMessage) (parts []geminiPart, ok bool) {
	if len(content) == 0 || string(content) == "null" {
		return nil, true
	}
	values := []json.RawMessage{content}
	if content[0] == '[' && json.Unmarshal(content, &values) != nil {
		return nil, false
	}
	for _, v := range values {
		var p geminiPart
		if json.Unmarshal(v, &p.Text) != nil && json.Unmarshal(v, &p) != nil {
			return nil, false
		}
		parts = append(parts, p)
	}
	return parts, true
}
