package importer

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// upstream reads the conversations of the jp of dcdpr: a folder for each, with one JSON array of
// events. Texts of tools are in base64 there.
type upstream struct{}

// Files of a conversation.
const (
	upstreamEvents = "events.json"
	upstreamConfig = "base_config.json"
)

func (upstream) Name() string { return "jp-upstream" }

func (upstream) Folder(getenv func(string) string) string {
	if dir := getenv("JP_USER_DATA_DIR"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jp")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", "jp")
}

// Files are those in the working tree, and then those that the user's own folder has besides.
func (upstream) Files(folder, tree string) (files []string, err error) {
	own := filepath.Join(tree, ".jp")
	stores := []string{filepath.Join(own, "conversations")}
	if id, err := os.ReadFile(filepath.Join(own, ".id")); err == nil {
		dirs, _ := os.ReadDir(filepath.Join(folder, "workspace")) // the folder is optional
		for _, d := range dirs {
			if name := d.Name(); strings.HasSuffix(name, "-"+strings.TrimSpace(string(id))) {
				stores = append(stores, filepath.Join(folder, "workspace", name, "conversations"))
			}
		}
	}
	seen := map[string]bool{}
	for _, store := range stores {
		for _, dir := range []string{store, filepath.Join(store, ".archive")} {
			for _, file := range upstreamIn(dir) {
				if name := filepath.Base(filepath.Dir(file)); !seen[name] {
					seen[name] = true
					files = append(files, file)
				}
			}
		}
	}
	return files, nil
}

// upstreamIn are the conversations in a folder of them.
func upstreamIn(dir string) (files []string) {
	entries, _ := os.ReadDir(dir) // the folder is optional
	for _, e := range entries {
		file := filepath.Join(dir, e.Name(), upstreamEvents)
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files
}

// Sessions implements library: a folder may be a conversation, or have many.
func (upstream) Sessions(path, _ string) ([]string, error) {
	for _, dir := range []string{path, filepath.Join(path, "conversations"), filepath.Join(path, ".jp", "conversations")} {
		if _, err := os.Lstat(filepath.Join(path, upstreamEvents)); err == nil {
			break
		}
		if files := upstreamIn(dir); len(files) > 0 {
			return files, nil
		}
	}
	return []string{path}, nil
}

// An upstreamFront has the data of a conversation outside of its events.
type upstreamFront struct {
	ID, Dir, Model string
}

// Open opens a conversation, by its folder or the file of its events.
func (upstream) Open(path string) (io.ReadSeekCloser, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, upstreamEvents)
	}
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if at, err := filepath.Abs(dir); err == nil {
		dir = at
	}
	var front upstreamFront
	if number, _, _ := strings.Cut(filepath.Base(dir), "-"); number != "" && strings.Trim(number, "0123456789") == "" {
		front.ID = "jp-c" + number
	}
	if root, _, ok := strings.Cut(dir, "/.jp/conversations/"); ok {
		front.Dir = root
	} else if root, err := os.Getwd(); err == nil { // the user's own folder does not name the directory
		front.Dir = root
	}
	if config, err := Open(filepath.Join(dir, upstreamConfig)); err == nil {
		text, _ := io.ReadAll(io.LimitReader(config, maxRecord)) // without it the model is unknown
		_ = config.Close()
		front.Model = upstreamModel(text)
	}
	return withFront(file, front)
}

// upstreamModel is the model of a configuration, "" if it has none.
func upstreamModel(config json.RawMessage) string {
	id := fieldOf(fieldOf(fieldOf(config, "assistant"), "model"), "id")
	var parts struct{ Provider, Name string }
	if json.Unmarshal(id, &parts) == nil && parts.Provider != "" && parts.Name != "" {
		return parts.Provider + "/" + parts.Name
	}
	return textOf(id)
}

// An upstreamEvent is one entry of the array.
type upstreamEvent struct {
	Type      string
	Timestamp string
	Content   string
	Message   string
	Reasoning string
	Data      json.RawMessage
	ID, Name  string
	Arguments json.RawMessage
	IsError   bool `json:"is_error"`
	Delta     json.RawMessage
}

// Decode implements [Format].
func (f upstream) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	return f.Begin(file, s, yield)
}

// Begin implements [Format].
func (upstream) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	in := bufio.NewReaderSize(file, maxPath+(64<<10))
	d := upstreamDecoder{session: s, yield: yield, edits: map[string][]Edit{}}
	if first, err := in.Peek(1); err == nil && first[0] == '{' {
		line, err := in.ReadSlice('\n')
		var front upstreamFront
		if err != nil || json.Unmarshal(line, &front) != nil {
			return nil // it is something else
		}
		s.ID, s.Dir, d.model = front.ID, front.Dir, front.Model
	}
	err := pieces(in, func(path string) bool { return path == "" }, d.piece)
	if err == errDocument { // the part before the damage counts
		count(&s.Refused, refusedJSON)
		return nil
	}
	return err
}

type upstreamDecoder struct {
	session *Session
	yield   func(Record) error
	model   string
	edits   map[string][]Edit // of calls without a result
}

func (d *upstreamDecoder) piece(p piece) error {
	switch {
	case p.refused != "":
		count(&d.session.Refused, p.refused)
		return nil
	case p.end || p.path != "*":
		return nil
	}
	var e upstreamEvent
	if json.Unmarshal(p.value, &e) != nil {
		count(&d.session.Refused, refusedJSON)
		return nil
	}
	rec := Record{At: upstreamTime(e.Timestamp), Model: d.model}
	switch e.Type {
	case "turn_start":
		return nil
	case "chat_request":
		rec.Kind, rec.Text = KindRequest, e.Content
	case "chat_response":
		rec.Kind, rec.Text = KindText, e.Message
		switch {
		case e.Reasoning != "":
			rec.Kind, rec.Text = KindReasoning, e.Reasoning
		case len(e.Data) > 0:
			rec.Text = string(indented(e.Data))
		}
	case "tool_call_request":
		arguments := decoded(e.Arguments)
		rec.Kind, rec.CallID, rec.Tool, rec.Arguments = KindCall, e.ID, e.Name, string(arguments)
		if edits := upstreamEdits(e.Name, arguments); edits != nil && len(d.edits) < maxOpen {
			d.edits[e.ID] = edits
		}
	case "tool_call_response":
		rec.Kind, rec.CallID, rec.Text, rec.Failed = KindResult, e.ID, plain(e.Content), e.IsError
		if !e.IsError {
			rec.Edits = d.edits[e.ID]
		}
		delete(d.edits, e.ID)
	case "config_delta":
		if model := upstreamModel(e.Delta); model != "" {
			d.model = model
		}
		count(&d.session.LeftOut, e.Type)
		return nil
	case "inquiry_request", "inquiry_response", "compaction":
		count(&d.session.LeftOut, e.Type)
		return nil
	default:
		count(&d.session.Unknown, kindName(e.Type))
		return nil
	}
	if d.session.Started.IsZero() {
		d.session.Started = rec.At
	}
	return d.yield(rec)
}

// upstreamTime reads a time of UTC.
func upstreamTime(text string) time.Time {
	if at, err := time.Parse("2006-01-02 15:04:05.999999999", text); err == nil {
		text = at.Format(time.RFC3339Nano)
	}
	return parseTime(text)
}

// plain is a text that is in base64. Any other text stays.
func plain(text string) string {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(data) {
		return string(data)
	}
	return text
}

// decoded are arguments with all their texts as they were.
func decoded(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return nil
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		if value[i] != '"' {
			b.WriteByte(value[i])
			i++
			continue
		}
		end := min(stringEnd(value, i)+1, len(value))
		text := value[i:end]
		rest := strings.TrimLeft(string(value[end:]), " \t\r\n")
		if !strings.HasPrefix(rest, ":") { // a key stays
			if quoted, err := json.Marshal(plain(textOf(text))); err == nil {
				text = quoted
			}
		}
		b.Write(text)
		i = end
	}
	return json.RawMessage(b.String())
}

// upstreamEdits are the edits of a call, nil for tools that do not edit.
func upstreamEdits(tool string, arguments json.RawMessage) []Edit {
	var a struct {
		Path     string
		Content  *string
		Patterns []struct{ Old, New string }
	}
	if json.Unmarshal(arguments, &a) != nil || a.Path == "" {
		return nil
	}
	switch {
	case tool == "fs_create_file":
		if a.Content == nil {
			a.Content = new(string)
		}
		return []Edit{{Path: a.Path, After: a.Content}}
	case tool == "fs_delete_file":
		return []Edit{{Path: a.Path, Removed: true}}
	case tool == "fs_modify_file" && len(a.Patterns) > 0:
		e := Edit{Path: a.Path}
		for _, p := range a.Patterns {
			e.Replaced = append(e.Replaced, Replacement{Old: p.Old, New: p.New})
		}
		return []Edit{e}
	}
	return nil
}
