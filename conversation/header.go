package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Span is the place of the event's text in a stored message, in bytes. A negative At means that there is no
// text.
type Span struct{ At, Len int }

// NoText is the span of an event without text.
var NoText = Span{At: -1}

// timeFormat is RFC 3339 in UTC with nine digits.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

// EncodeHeader returns the event as one line of canonical JSON without its
// text, which stands at span in the message.
func EncodeHeader(e *Event, span Span) ([]byte, error) {
	w := &writer{out: make([]Field, 0, 12)}
	w.add("v", strconv.AppendInt(nil, int64(max(e.Version, 1)), 10))
	w.add("type", appendString(nil, string(e.Type())))
	w.add("turn", strconv.AppendInt(nil, int64(e.Turn), 10))
	w.add("seq", strconv.AppendInt(nil, int64(e.Seq), 10))
	w.add("time", appendString(nil, e.Time.UTC().Format(timeFormat)))
	if span.At >= 0 {
		w.add("text", fmt.Appendf(nil, "[%d,%d]", span.At, span.Len))
	}
	envelope(w, e)
	e.Body.fields(w)
	w.out = append(w.out, e.extra...)
	if w.err != nil {
		return nil, fmt.Errorf("encode %s %d: %w", e.Type(), e.Seq, w.err)
	}
	slices.SortFunc(w.out, byKey)
	return appendObject(make([]byte, 0, 256), w.out), nil
}

// envelope visits the fields that any event may have.
func envelope(c codec, e *Event) {
	c.flag("lossy", &e.Lossy)
	c.value("payload", &e.Payloads)
	c.value("git", &e.Git)
	c.ref("was", &e.Was)
	c.value("needs", &e.Needs)
}

// DecodeHeader reads the output of [EncodeHeader]. The event has no text yet.
func DecodeHeader(line []byte) (*Event, Span, error) {
	if bytes.IndexByte(line, '\n') >= 0 || bytes.IndexByte(line, '\r') >= 0 {
		return nil, NoText, fmt.Errorf("%w: header: %w: more than one line", ErrDamaged, ErrJSON)
	}
	r, err := newReader(line)
	if err != nil {
		return nil, NoText, fmt.Errorf("%w: header: %w", ErrDamaged, err)
	}
	defer r.free()
	e := &Event{}
	var kind, when string
	var text []int
	r.num("v", &e.Version)
	r.str("type", &kind)
	r.num("turn", &e.Turn)
	r.num("seq", &e.Seq)
	r.str("time", &when)
	r.span("text", &text)
	envelope(r, e)
	if e.Version < 1 || kind == "" || e.Seq < 0 || e.Turn < 0 {
		return nil, NoText, fmt.Errorf("%w: header has no v, type, seq or turn", ErrDamaged)
	}
	if e.Time, err = parseTime(when); err != nil {
		return nil, NoText, err
	}
	span, err := parseSpan(text)
	if err != nil {
		return nil, NoText, err
	}
	if e.Body = newBody(Type(kind)); e.Body == nil || e.Version > Version {
		e.Body = &Unknown{Name: Type(kind)}
	}
	if _, is := e.Body.(*ChatResponse); is {
		var part string // decides which field is the text, so it is read first
		r.str("part", &part)
		e.Body = &ChatResponse{Part: Part(part)}
	}
	e.Body.fields(r)
	if r.err != nil {
		return nil, NoText, fmt.Errorf("decode %s %d: %w", kind, e.Seq, r.err)
	}
	e.extra = r.rest()
	return e, span, nil
}

// parseTime reads RFC 3339 as UTC, in the years that can be written again.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	at = at.UTC()
	if err != nil || at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}, fmt.Errorf("%w: time %.40q", ErrDamaged, text)
	}
	return at, nil
}

// span reads an array of two numbers, which nearly every header has, without
// the cost of reading any JSON.
func (r *reader) span(name string, p *[]int) {
	if at, length, ok := twoNumbers(r.take(name)); ok {
		*p = []int{at, length}
		return
	}
	r.value(name, p)
}

// twoNumbers reads "[a,b]" with numbers of up to nine digits.
func twoNumbers(raw []byte) (a, b int, ok bool) {
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return 0, 0, false
	}
	one, two, ok := bytes.Cut(raw[1:len(raw)-1], []byte{','})
	a, ok1 := digits(one)
	b, ok2 := digits(two)
	return a, b, ok && ok1 && ok2
}

func digits(raw []byte) (n int, ok bool) {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(raw) > 0 && len(raw) < 10
}

func parseSpan(text []int) (Span, error) {
	switch {
	case text == nil:
		return NoText, nil
	case len(text) != 2 || text[0] < 0 || text[1] < 0:
		return NoText, fmt.Errorf("%w: text span %v", ErrDamaged, text)
	}
	return Span{At: text[0], Len: text[1]}, nil
}

// ViewJSON is the event as jp shows it to programs: one line of JSON in which
// the text is a field and JSON stays JSON. id names the conversation.
func ViewJSON(e *Event, id ID, incomplete bool) ([]byte, error) {
	v := &viewer{}
	if id != "" {
		v.add("conversation", appendString(nil, string(id)))
	} else {
		v.add("conversation", []byte("null"))
	}
	v.add("seq", strconv.AppendInt(nil, int64(e.Seq), 10))
	v.add("turn", strconv.AppendInt(nil, int64(e.Turn), 10))
	v.add("type", appendString(nil, string(e.Type())))
	v.add("role", appendString(nil, string(e.Role())))
	v.add("time", appendString(nil, e.Time.UTC().Format(time.RFC3339Nano)))
	v.str("commit", &e.Commit)
	v.str("tree", &e.Tree)
	v.flag("incomplete", &incomplete)
	envelope(v, e)
	e.Body.fields(v)
	for _, f := range e.extra {
		if !slices.ContainsFunc(v.out, func(shown Field) bool { return shown.Key == f.Key }) {
			v.out = append(v.out, f)
		}
	}
	if v.err != nil {
		return nil, fmt.Errorf("show %s %d: %w", e.Type(), e.Seq, v.err)
	}
	return appendObject(nil, v.out), nil
}

// Approval is which tool runs were allowed before they were asked for: all of
// them ("*" alone), or those of the named tools.
type Approval []string

// ApproveAll allows every tool run.
func ApproveAll() Approval { return Approval{"*"} }

// Allows reports whether runs of the tool were approved.
func (a Approval) Allows(tool string) bool {
	return slices.Contains(a, tool) || a.All()
}

// All reports whether every run was approved.
func (a Approval) All() bool { return len(a) == 1 && a[0] == "*" }

// and is both approvals together.
func (a Approval) and(b Approval) Approval {
	if a.All() || b.All() {
		return ApproveAll()
	}
	return append(a[:len(a):len(a)], b...)
}

// Behind adds the approval to a subject. A line that is too wide for both loses its own end: a reader of
// git's log has to see the approval.
func (a Approval) Behind(line string) string {
	words := a.words()
	if words == "" {
		return line
	}
	return Shorten(tidy(line), SubjectColumns-columns(words)) + words
}

// words describe an approval in a subject, "" if there is none.
func (a Approval) words() string {
	if len(a) == 0 {
		return ""
	}
	what := "all tools (-y)"
	if !a.All() {
		what = strings.Join(a, ", ")
	}
	return Shorten(", approved in advance: "+tidy(what), SubjectColumns*2/3)
}

// MarshalJSON writes "all" or the names.
func (a Approval) MarshalJSON() ([]byte, error) {
	if a.All() {
		return []byte(`"all"`), nil
	}
	return json.Marshal([]string(a))
}

// UnmarshalJSON reads the output of MarshalJSON.
func (a *Approval) UnmarshalJSON(value []byte) error {
	if string(value) == `"all"` {
		*a = ApproveAll()
		return nil
	}
	return json.Unmarshal(value, (*[]string)(a))
}

// MarshalJSON writes the moment as RFC 3339, or null.
func (m OptionalTime) MarshalJSON() ([]byte, error) {
	if m.Time.IsZero() {
		return []byte("null"), nil
	}
	return appendString(nil, m.Time.UTC().Format(time.RFC3339Nano)), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (m *OptionalTime) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		*m = OptionalTime{}
		return nil
	}
	var text string
	err := json.Unmarshal(value, &text)
	if err == nil {
		m.Time, err = parseTime(text)
	}
	return err
}

// storedChange is a file change with null for an absent file.
type storedChange struct {
	Path   string  `json:"path"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// MarshalJSON writes ids, or null for an absent file.
func (c FileChange) MarshalJSON() ([]byte, error) {
	s := storedChange{Path: c.Path}
	if c.Before != "" {
		s.Before = &c.Before
	}
	if c.After != "" {
		s.After = &c.After
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (c *FileChange) UnmarshalJSON(value []byte) error {
	var s storedChange
	if err := json.Unmarshal(value, &s); err != nil {
		return err
	}
	*c = FileChange{Path: s.Path}
	if s.Before != nil {
		c.Before = *s.Before
	}
	if s.After != nil {
		c.After = *s.After
	}
	return nil
}

// HeaderSeq finds the seq in the header of an event without reading the rest. It
// is a hint: who acts on the event decodes it.
func HeaderSeq(line []byte) (seq int, ok bool) {
	depth, key := 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
			key = line[i] == '{'
		case '}', ']':
			depth--
		case ',':
			key = true
		case ':':
			key = false
		case '"':
			end := stringEnd(line, i)
			if depth == 1 && key && string(line[i:end]) == `"seq"` {
				return leadingInt(bytes.TrimLeft(line[end:], " :"))
			}
			i = end - 1
		}
	}
	return 0, false
}

// stringEnd is the end of the JSON string that begins at i.
func stringEnd(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

func leadingInt(text []byte) (n int, ok bool) {
	for _, b := range text {
		if b < '0' || b > '9' || n > 1<<40 {
			break
		}
		n, ok = n*10+int(b-'0'), true
	}
	return n, ok
}
