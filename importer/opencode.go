package importer

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// opencode reads the sessions of opencode in the form of its command export: one document
// with all messages and their parts. The sessions of its database, and of the folder that
// earlier versions had, are read as if they were exported.
type opencode struct{ *shelf }

func (opencode) Name() string { return "opencode" }

func (o opencode) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	return o.Begin(file, s, yield)
}

func (opencode) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := &opencodeDecoder{session: s, yield: yield}
	err := pieces(file, func(path string) bool { return slices.Contains(opencodeOpened, path) }, d.piece)
	if errors.Is(err, errDocument) { // the part before the damage counts
		count(&s.Refused, refusedJSON)
		err = d.endMessage()
	}
	if err != nil {
		return err
	}
	return d.finish()
}

var opencodeOpened = []string{"", "messages", "messages/*", "messages/*/parts"}

type opencodeTime struct {
	Created   float64 `json:"created"`
	Completed float64 `json:"completed"`
	Start     float64 `json:"start"`
	End       float64 `json:"end"`
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

type opencodeSession struct {
	ID     string          `json:"id"`
	Dir    string          `json:"directory"`
	Revert *opencodeRevert `json:"revert"`
}

// An opencodeRevert is the place from which on the user discarded the session.
type opencodeRevert struct {
	Message string `json:"messageID"`
	Part    string `json:"partID"`
}

type opencodeMessage struct {
	ID       string          `json:"id"`
	Session  string          `json:"sessionID"`
	Role     string          `json:"role"`
	Time     opencodeTime    `json:"time"`
	Provider string          `json:"providerID"`
	Model    string          `json:"modelID"`
	Finish   string          `json:"finish"`
	Tokens   *opencodeTokens `json:"tokens"`
	Summary  json.RawMessage `json:"summary"` // of an answer: true if it is one of a compaction
	Error    *struct {
		Name string `json:"name"`
	} `json:"error"`
}

type opencodePart struct {
	ID        string
	Type      string
	Text      string
	Prompt    string
	Synthetic bool
	Ignored   bool
	Time      *opencodeTime
	Call      string
	Tool      string
	Tokens    *opencodeTokens
	State     opencodeState
}

// An opencodeState is the outcome of a call.
type opencodeState struct {
	Status      string
	Input       []byte
	Raw         string
	Output      string
	Error       string
	Metadata    []byte
	Time        opencodeTime
	Attachments []json.RawMessage
}

// read reads a part. Of its large parts it reads only the needed ones. Input and Metadata are those of the
// value.
func (p *opencodePart) read(value []byte) (ok bool) {
	var time, tokens, state []byte
	ok = fields(value, func(key, value []byte) {
		switch string(key) {
		case "id":
			p.ID = textOf(value)
		case "type":
			p.Type = textOf(value)
		case "text":
			p.Text = textOf(value)
		case "prompt":
			p.Prompt = textOf(value)
		case "synthetic":
			p.Synthetic = value[0] == 't'
		case "ignored":
			p.Ignored = value[0] == 't'
		case "callID":
			p.Call = textOf(value)
		case "tool":
			p.Tool = textOf(value)
		case "time":
			time = value
		case "tokens":
			tokens = value
		case "state":
			state = value
		}
	})
	return ok && p.Type != "" && optional(time, &p.Time) && optional(tokens, &p.Tokens) && p.State.read(state)
}

func (s *opencodeState) read(value []byte) (ok bool) {
	if len(value) == 0 || string(value) == "null" {
		return true
	}
	var time, attachments []byte
	ok = fields(value, func(key, value []byte) {
		switch string(key) {
		case "status":
			s.Status = textOf(value)
		case "input":
			s.Input = value
		case "raw":
			s.Raw = textOf(value)
		case "output":
			s.Output = textOf(value)
		case "error":
			s.Error = textOf(value)
		case "metadata":
			s.Metadata = value
		case "time":
			time = value
		case "attachments":
			attachments = value
		}
	})
	return ok && optional(time, &s.Time) && optional(attachments, &s.Attachments)
}

func optional(value []byte, into any) (ok bool) {
	return len(value) == 0 || json.Unmarshal(value, into) == nil
}

// opencodeKept are parts outside of the dialogue.
var opencodeKept = []string{"step-start", "step-finish", "snapshot", "patch", "retry", "agent", "compaction"}

var opencodeFinishes = map[string]conversation.Finish{
	"stop": conversation.FinishStop, "tool-calls": conversation.FinishToolCalls, "length": conversation.FinishLength, "content-filter": conversation.FinishFiltered,
}

type opencodeDecoder struct {
	session *Session
	yield   func(Record) error
	revert  *opencodeRevert
	back    bool // the user discarded the rest

	message *opencodeMessage // nil outside of messages, and in a damaged one
	words   []string         // of a request
	fresh   bool
	counted bool     // a step had its count of tokens
	results []Record // of the step
	// Behind an incomplete part, records are held until another message follows, since opencode may still be
	// writing the part, and would change it.
	waiting bool
	held    []Record
	bytes   int
}

func (d *opencodeDecoder) piece(p piece) error {
	s := d.session
	switch {
	case p.end && p.path == "messages/*":
		return d.endMessage()
	case p.end:
		return nil
	case p.path == "damaged": // of a database
		var n int
		if json.Unmarshal(p.value, &n) == nil && n > 0 {
			merge(&s.Refused, map[string]int{refusedPage: n})
		}
		return nil
	case p.refused != "":
	case len(p.value) > 0 && p.value[0] == '"': // the reason for the missing value
		if json.Unmarshal(p.value, &p.refused) != nil || !slices.Contains([]string{refusedLarge, refusedDeep, refusedJSON}, p.refused) {
			p.refused = refusedJSON
		}
	}
	if p.refused != "" {
		count(&s.Refused, p.refused)
		return nil
	}
	switch p.path {
	case "info":
		var info opencodeSession
		if !d.take(p.value, &info) {
			return nil
		}
		s.ID, s.Dir, d.revert = info.ID, info.Dir, info.Revert
	case "messages/*/info":
		var info opencodeMessage
		if !d.take(p.value, &info) {
			return nil
		}
		return d.beginMessage(&info)
	case "messages/*/parts/*":
		if d.message == nil {
			count(&s.Refused, refusedAlone)
			return nil
		}
		var part opencodePart
		if !part.read(p.value) {
			count(&s.Refused, refusedJSON)
			return nil
		}
		return d.part(&part)
	case "", "messages", "messages/*", "messages/*/parts":
		count(&s.Refused, refusedJSON) // another type
	default:
		count(&s.Unknown, kindName(p.path))
	}
	return nil
}

func (d *opencodeDecoder) take(value []byte, into any) bool {
	if value[0] != '{' || json.Unmarshal(value, into) != nil {
		count(&d.session.Refused, refusedJSON)
		return false
	}
	return true
}

func (d *opencodeDecoder) beginMessage(m *opencodeMessage) error {
	s := d.session
	if m.Role != "user" && m.Role != "assistant" {
		count(&s.Unknown, kindName("message", m.Role))
		return nil
	}
	if err := d.release(); err != nil {
		return err
	}
	d.message, d.fresh, d.counted = m, true, false
	if s.ID == "" {
		s.ID = m.Session
	}
	if at := parseMillis(m.Time.Created); s.Started.IsZero() {
		s.Started = at
	}
	if d.revert != nil && d.revert.Message == m.ID && d.revert.Part == "" {
		d.back = true
	}
	return nil
}

func (d *opencodeDecoder) part(p *opencodePart) error {
	if d.revert != nil && d.revert.Part != "" && d.revert.Part == p.ID {
		d.back = true
	}
	switch {
	case d.back:
		count(&d.session.LeftOut, "taken back")
		return nil
	case slices.Contains(opencodeKept, p.Type):
		count(&d.session.LeftOut, kindName(p.Type))
	case p.Type == "file":
		count(&d.session.LeftOut, "attachment")
		return nil
	case d.message.Role == "user":
		d.word(p)
		return nil
	case string(d.message.Summary) == "true":
		count(&d.session.LeftOut, "summary of a compaction")
		return nil
	}
	return d.output(p)
}

// word collects the words of a request.
func (d *opencodeDecoder) word(p *opencodePart) {
	switch {
	case p.Type == "subtask": // a command whose words another agent of opencode answers
		d.words = append(d.words, p.Prompt)
	case p.Type != "text":
		if !slices.Contains(opencodeKept, p.Type) {
			count(&d.session.Unknown, kindName("part", p.Type))
		}
	case p.Synthetic || p.Ignored:
		count(&d.session.LeftOut, "words of the agent")
	case strings.TrimSpace(p.Text) != "":
		d.words = append(d.words, p.Text)
	}
}

func (d *opencodeDecoder) output(p *opencodePart) error {
	m := d.message
	rec := Record{Text: p.Text, Fresh: d.fresh, Finish: opencodeFinishes[m.Finish]}
	if m.Model != "" {
		rec.Model = strings.TrimPrefix(m.Provider+"/"+m.Model, "/")
	}
	switch p.Type {
	case "step-start":
		d.fresh = true
		return d.answered()
	case "step-finish":
		d.counted = true
		if err := d.usage(p.Tokens); err != nil {
			return err
		}
		return d.answered()
	case "text", "reasoning":
		if rec.Kind = KindText; p.Type == "reasoning" {
			rec.Kind = KindReasoning
		}
		if p.Text == "" {
			return nil
		}
		if rec.At = parseMillis(m.Time.Created); p.Time != nil {
			if at := parseMillis(p.Time.Start); !at.IsZero() {
				rec.At = at
			}
			d.waiting = d.waiting || p.Time.End == 0 && d.open()
		}
		if d.knew(rec.At) { // earlier versions kept more than one answer in a message
			if err := d.answered(); err != nil {
				return err
			}
			rec.Fresh = true
		}
	case "tool":
		rec.Kind, rec.Text, rec.CallID, rec.Key, rec.Tool, rec.Arguments = KindCall, "", p.Call, p.ID, p.Tool, string(p.State.Input)
		var task struct {
			Session string `json:"sessionId"`
		}
		if p.Tool == "task" && json.Unmarshal(p.State.Metadata, &task) == nil {
			rec.Child = task.Session
		}
		if p.State.Status == "pending" {
			if d.waiting = d.waiting || d.open(); p.State.Raw != "" {
				rec.Arguments = p.State.Raw
			}
		}
		d.result(p)
	default:
		if !slices.Contains(opencodeKept, p.Type) {
			count(&d.session.Unknown, kindName("part", p.Type))
		}
		return nil
	}
	d.fresh = false
	return d.give(rec)
}

// knew reports whether the model had all results of the step at a time.
func (d *opencodeDecoder) knew(at time.Time) bool {
	for _, r := range d.results {
		if r.At.IsZero() || r.At.After(at) {
			return false
		}
	}
	return len(d.results) > 0
}

// open reports whether opencode may still be writing the message.
func (d *opencodeDecoder) open() bool { return d.message.Time.Completed == 0 && d.message.Error == nil }

// result keeps the result of a call until all calls of the step are given.
func (d *opencodeDecoder) result(p *opencodePart) {
	rec := Record{Kind: KindResult, At: parseMillis(p.State.Time.End), CallID: p.Call, Key: p.ID}
	switch p.State.Status {
	case "completed":
		rec.Text, rec.Edits = p.State.Output, opencodeEdits.of(p.Tool, p.State.Input)
		if patch := fieldOf(p.State.Input, "patchText"); p.Tool == "apply_patch" && patch != nil {
			rec.Edits = patchEdits(textOf(patch))
		}
	case "error":
		rec.Text, rec.Failed = p.State.Error, true
	case "pending", "running":
		return
	default:
		count(&d.session.Unknown, kindName("status of a tool", p.State.Status))
		return
	}
	for range p.State.Attachments {
		count(&d.session.LeftOut, "attachment")
	}
	const most = 1 << 12 // calls of one step
	if len(d.results) == most {
		count(&d.session.Refused, refusedMany)
		return
	}
	d.results = append(d.results, rec)
}

func (d *opencodeDecoder) usage(t *opencodeTokens) error {
	if t == nil || min(t.Input, t.Output, t.Reasoning, t.Cache.Read, t.Cache.Write) < 0 {
		return nil
	}
	u := &conversation.Usage{Input: t.Input + t.Cache.Read + t.Cache.Write, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
	if u.Input == 0 && u.Output == 0 {
		return nil
	}
	return d.give(Record{Kind: KindUsage, Usage: u})
}

// answered gives the results of a step in the order in which they came.
func (d *opencodeDecoder) answered() error {
	results := d.results
	d.results = nil
	byTime(results)
	for _, r := range results {
		if err := d.give(r); err != nil {
			return err
		}
	}
	return nil
}

func (d *opencodeDecoder) endMessage() error {
	m := d.message
	if m == nil {
		return nil
	}
	defer func() { d.message, d.words = nil, nil }()
	at := parseMillis(m.Time.Created)
	if m.Role == "user" {
		text := strings.Join(d.words, "\n")
		if text == "" || d.back {
			return nil
		}
		return d.give(Record{Kind: KindRequest, At: at, Text: text})
	}
	if !d.counted && !d.back {
		if err := d.usage(m.Tokens); err != nil {
			return err
		}
	}
	if err := d.answered(); err != nil {
		return err
	}
	switch {
	case m.Error == nil || d.back:
		return nil
	case m.Error.Name == "MessageAbortedError":
		return d.give(Record{Kind: KindStopped})
	}
	count(&d.session.LeftOut, "error of the provider")
	return nil
}

// give yields a record, or holds it.
func (d *opencodeDecoder) give(r Record) error {
	if !d.waiting {
		return d.yield(r)
	}
	d.held = append(d.held, r)
	if d.bytes += len(r.Text) + len(r.Arguments) + 1<<8; d.bytes > maxRecord {
		return d.release()
	}
	return nil
}

// release yields the held records, since another message follows.
func (d *opencodeDecoder) release() error {
	held := d.held
	d.waiting, d.held, d.bytes = false, nil, 0
	for _, r := range held {
		if err := d.yield(r); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the session. Of the held records, the results of calls yielded before are complete.
func (d *opencodeDecoder) finish() error {
	calls := map[string]bool{}
	for _, r := range d.held {
		switch {
		case r.Kind == KindCall:
			calls[r.CallID] = true
		case r.Kind == KindResult && !calls[r.CallID]:
			if err := d.yield(r); err != nil {
				return err
			}
			continue
		case r.Kind == KindUsage:
			continue
		}
		count(&d.session.LeftOut, "not complete yet")
	}
	return nil
}

// parseMillis is parseTime for milliseconds.
func parseMillis(ms float64) time.Time {
	if ms < 1e12 || ms > 7e12 { // 2001, 2191
		return time.Time{}
	}
	at := time.UnixMilli(int64(ms)).UTC()
	if at.Year() < 2002 {
		return time.Time{}
	}
	return at
}
