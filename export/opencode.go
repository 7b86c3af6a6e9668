package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"jp/conversation"
	"jp/provider"
)

// opencode writes the format of the commands opencode export and opencode import: one document with all
// messages. A part of an answer is a text, or a call with its result.
//
// opencode itself keeps sessions in a database that it may be writing to, and whose tables
// change. So the file lies beside that, and opencode brings it in.
type opencode struct{}

func (opencode) name() string { return "opencode" }

// target is Anthropic, as for Claude Code. opencode sends reasoning to the model that it is of.
func (opencode) target(events []*conversation.Event) provider.Target { return claude{}.target(events) }

func (opencode) folder(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "opencode")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", "opencode")
}

func (opencode) file(s *session) string {
	return filepath.Join("from-jp", opencodeID("ses", s)+".json")
}

func (opencode) resume(s *session, path string) [][]string {
	return [][]string{{"opencode", "import", path}, {"opencode", "--session", opencodeID("ses", s)}}
}

// opencodeID is an id of a session, or of something in it. Ids of one kind sort as their places
// do, and in front of those that opencode makes.
func opencodeID(kind string, s *session, place ...int) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(fmt.Sprint(kind, " ", s.id, " ", place)))
	var end [14]byte
	for i := range end {
		end[i] = digits[int(sum[i])%len(digits)]
	}
	at := 0
	if len(place) > 0 {
		at = place[len(place)-1] + 1
	}
	return fmt.Sprintf("%s_%012x%s", kind, at, end[:])
}

type opencodeTime struct {
	Created   int64 `json:"created,omitempty"`
	Updated   int64 `json:"updated,omitempty"`
	Completed int64 `json:"completed,omitempty"`
	Start     int64 `json:"start,omitempty"`
	End       int64 `json:"end,omitempty"`
}

type opencodeTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Cache     struct {
		Read  int `json:"read"`
		Write int `json:"write"`
	} `json:"cache"`
}

type opencodeModel struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

type opencodeInfo struct {
	ID      string       `json:"id"`
	Slug    string       `json:"slug"`
	Project string       `json:"projectID"`
	Dir     string       `json:"directory"`
	Title   string       `json:"title"`
	Version string       `json:"version"`
	Time    opencodeTime `json:"time"`
}

// An opencodeMessage is a message of opencode: a request of the user, or an answer of the model.
type opencodeMessage struct {
	ID      string         `json:"id"`
	Session string         `json:"sessionID"`
	Role    string         `json:"role"`
	Time    opencodeTime   `json:"time"`
	Agent   string         `json:"agent"`
	Model   *opencodeModel `json:"model,omitempty"` // of a request

	*opencodeAnswer
}

type opencodeAnswer struct {
	Parent string `json:"parentID"`
	opencodeModel
	Mode   string            `json:"mode"`
	Path   map[string]string `json:"path"`
	Cost   int               `json:"cost"`
	Tokens opencodeTokens    `json:"tokens"`
	Finish string            `json:"finish,omitempty"`
}

type opencodePart struct {
	ID        string          `json:"id"`
	Session   string          `json:"sessionID"`
	Message   string          `json:"messageID"`
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Synthetic bool            `json:"synthetic,omitempty"`
	Metadata  any             `json:"metadata,omitempty"`
	Time      *opencodeTime   `json:"time,omitempty"`
	Mime      string          `json:"mime,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	URL       string          `json:"url,omitempty"`
	Call      string          `json:"callID,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	State     *opencodeResult `json:"state,omitempty"`
}

// An opencodeResult is a call's arguments, and its result.
type opencodeResult struct {
	Status      string          `json:"status"`
	Input       json.RawMessage `json:"input"`
	Output      *string         `json:"output,omitempty"`
	Error       *string         `json:"error,omitempty"`
	Title       *string         `json:"title,omitempty"`
	Metadata    struct{}        `json:"metadata"`
	Time        opencodeTime    `json:"time"`
	Attachments []opencodePart  `json:"attachments,omitempty"`
}

var opencodeFinishes = map[conversation.Finish]string{
	conversation.FinishToolCalls: "tool-calls", conversation.FinishStop: "stop", conversation.FinishLength: "length",
	conversation.FinishFiltered: "content-filter", conversation.FinishRefusal: "content-filter",
}

func (opencode) write(out *bufio.Writer, s *session) error {
	w := &opencodeWriter{lineWriter: lineWriter{out: out}, session: s, id: opencodeID("ses", s), at: s.began.UnixMilli()}
	for _, x := range s.steps {
		if x.role == conversation.RoleAssistant && x.model != "" {
			w.model.Provider, w.model.Model, _ = strings.Cut(x.model, "/")
		}
	}
	ended := w.at
	for _, x := range s.steps {
		ended = max(ended, x.at.UnixMilli())
	}
	w.word(`{"info":`)
	w.line(opencodeInfo{
		ID: w.id, Slug: "jp", Project: "global", Dir: s.dir, Title: or(s.title, "A conversation of jp"), Version: "0.0.0",
		Time: opencodeTime{Created: w.at, Updated: ended},
	})
	w.word(`,"messages":[` + "\n")
	for i := 0; i < len(s.steps); {
		end := i + 1
		for end < len(s.steps) && s.steps[end].message == s.steps[i].message && s.steps[end].answer == s.steps[i].answer {
			end++
		}
		if s.steps[i].role != conversation.RoleAssistant {
			w.request(s.steps[i:end])
			i = end
			continue
		}
		results := end
		for results < len(s.steps) && s.steps[results].role == conversation.RoleTool {
			results++
		}
		w.answer(s.steps[i:end], s.steps[end:results])
		i = results
	}
	w.word("]}\n")
	return w.err
}

// An opencodeWriter writes the messages of a session.
type opencodeWriter struct {
	lineWriter
	session  *session
	id       string
	model    opencodeModel // of the newest answer: opencode goes on with it
	at       int64         // of the newest message
	messages int
	asked    string // the newest request
}

func (w *opencodeWriter) word(text string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(text)
	}
}

// put writes a message, and gives its parts their ids.
func (w *opencodeWriter) put(m opencodeMessage, parts []opencodePart) {
	for i := range parts {
		w.name(&parts[i], m.ID, i)
	}
	if w.messages > 0 {
		w.word(",")
	}
	w.messages++
	w.line(struct {
		Info  opencodeMessage `json:"info"`
		Parts []opencodePart  `json:"parts"`
	}{m, parts})
}

func (w *opencodeWriter) name(p *opencodePart, message string, place ...int) {
	p.ID, p.Session, p.Message = opencodeID("prt", w.session, append([]int{w.messages}, place...)...), w.id, message
	if p.State != nil {
		for i := range p.State.Attachments {
			w.name(&p.State.Attachments[i], message, append(place, i)...)
		}
	}
}

// message begins one. opencode sorts messages by their times.
func (w *opencodeWriter) message(role string, at time.Time) opencodeMessage {
	w.at = max(w.at, at.UnixMilli())
	return opencodeMessage{
		ID: opencodeID("msg", w.session, w.messages), Session: w.id, Role: role, Time: opencodeTime{Created: w.at}, Agent: "build",
	}
}

// request is the user's message. Words of jp are hidden from the user.
func (w *opencodeWriter) request(steps []step) {
	for len(steps) > 0 { // steps of one message may be of several events
		own, end := steps[0].own, 1
		for end < len(steps) && steps[end].own == own && steps[end].seq == steps[0].seq {
			end++
		}
		m := w.message("user", steps[0].at)
		m.Model, w.asked = &w.model, m.ID
		var parts []opencodePart
		for _, x := range steps[:end] {
			p := opencodeContent(x.Block)
			p.Synthetic = own && p.Type == "text"
			parts = append(parts, p)
		}
		w.put(m, parts)
		steps = steps[end:]
	}
}

// opencodeContent is the user's text or attachment.
func opencodeContent(b provider.Block) opencodePart {
	switch {
	case b.Kind != provider.BlockFile:
		return opencodePart{Type: "text", Text: &b.Text}
	case isPicture(b):
		return opencodePart{Type: "file", Mime: b.Media(), Filename: b.Name, URL: "data:" + b.Media() + ";base64," + base64.StdEncoding.EncodeToString(b.Data)}
	}
	words := b.InWords()
	return opencodePart{Type: "text", Text: &words}
}

// answer is the model's message, with the results of its calls.
func (w *opencodeWriter) answer(steps, results []step) {
	m := w.message("assistant", steps[0].at)
	last := steps[len(steps)-1]
	of := &opencodeAnswer{
		Parent: or(w.asked, opencodeID("msg", w.session)), opencodeModel: w.model, Mode: "build",
		Path: map[string]string{"cwd": w.session.dir, "root": w.session.dir}, Finish: opencodeFinishes[last.end.Finish],
	}
	if name, model, ok := strings.Cut(last.model, "/"); ok {
		of.opencodeModel = opencodeModel{name, model}
	}
	if u := last.end.Usage; u != nil {
		of.Tokens.Input, of.Tokens.Output = u.Input-u.CacheRead-u.CacheWrite, u.Output
		of.Tokens.Cache.Read, of.Tokens.Cache.Write = u.CacheRead, u.CacheWrite
	}
	m.opencodeAnswer, m.Time.Completed = of, max(w.at, last.at.UnixMilli())
	var parts []opencodePart
	for _, x := range steps {
		at := max(w.at, x.at.UnixMilli())
		p := opencodePart{Type: "text", Text: &x.Text, Time: &opencodeTime{Start: at, End: at}}
		switch x.Kind {
		case provider.BlockReasoning:
			var item struct{ Thinking, Signature, Data string }
			_ = json.Unmarshal(x.Item, &item) // without a signature the text is useless
			signed := map[string]string{"signature": item.Signature}
			if item.Data != "" {
				signed = map[string]string{"redactedData": item.Data}
			}
			p.Type, p.Text, p.Metadata = "reasoning", &item.Thinking, map[string]any{"anthropic": signed}
		case provider.BlockToolCall:
			p = opencodePart{Type: "tool", Call: x.ID, Tool: x.Name, State: w.result(x, m.Time.Completed, results)}
		}
		parts = append(parts, p)
	}
	w.put(m, parts)
}

// result is a call's result. It is later than the answer.
func (w *opencodeWriter) result(call step, answered int64, results []step) *opencodeResult {
	start := max(w.at, call.at.UnixMilli())
	r := &opencodeResult{Status: "completed", Input: call.Arguments, Time: opencodeTime{Start: start}}
	text, end, failed := "", answered+1, false
	for _, x := range results {
		if x.ID != call.ID {
			continue
		}
		end, failed = max(end, x.at.UnixMilli()), failed || x.IsError
		p := opencodeContent(x.Block)
		if p.Type == "file" && !x.IsError {
			r.Attachments = append(r.Attachments, p)
			continue
		}
		words := p.Filename
		if p.Text != nil {
			words = *p.Text
		}
		if text != "" && words != "" {
			text += "\n"
		}
		text += words
	}
	r.Time.End = end
	if failed {
		r.Status, r.Error, r.Attachments = "error", &text, nil
	} else {
		title := ""
		r.Output, r.Title = &text, &title
	}
	return r
}
