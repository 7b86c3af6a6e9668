package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A codec visits the fields of a body: one description of each type serves
// writing, reading, showing and finding its text.
type codec interface {
	str(name string, p *string)           // absent if empty
	num(name string, p *int)              // absent if 0
	num64(name string, p *int64)          // absent if 0
	seq(name string, p *int)              // a seq, always there
	flag(name string, p *bool)            // absent if false
	must(name string, p *bool)            // always there
	ref(name string, p **int)             // a seq, absent if nil
	raw(name string, p *raw)              // any JSON, absent if empty
	moment(name string, p **OptionalTime) // a time or null, absent if nil
	value(name string, p any)             // pointer to a nested value, absent if empty; a map if nil
	text(name string, p *string)          // the event's text
	jsonText(name string, p textValue)    // the event's text, which is JSON
	question(name string, q *Question)    // a question, whose text is the event's
}

// textValue tells which field of a body is its text.
type textValue interface {
	get() string
	set(string)
}

type plainText string

func (t *plainText) get() string  { return string(*t) }
func (t *plainText) set(s string) { *t = plainText(s) }

type stringJSON string

func (t *stringJSON) get() string  { return string(*t) }
func (t *stringJSON) set(s string) { *t = stringJSON(s) }

type rawJSON json.RawMessage

func (t *rawJSON) get() string  { return string(*t) }
func (t *rawJSON) set(s string) { *t = rawJSON(s) }

// silent ignores every field. Codecs embed it for the kinds of field that they ignore.
type silent struct{}

func (silent) str(string, *string)           {}
func (silent) num(string, *int)              {}
func (silent) num64(string, *int64)          {}
func (silent) seq(string, *int)              {}
func (silent) flag(string, *bool)            {}
func (silent) must(string, *bool)            {}
func (silent) ref(string, **int)             {}
func (silent) raw(string, *raw)              {}
func (silent) moment(string, **OptionalTime) {}
func (silent) value(string, any)             {}
func (silent) text(string, *string)          {}
func (silent) jsonText(string, textValue)    {}
func (silent) question(string, *Question)    {}

type textFinder struct {
	silent
	found textValue
}

func (f *textFinder) text(_ string, p *string)       { f.found = (*plainText)(p) }
func (f *textFinder) jsonText(_ string, p textValue) { f.found = p }
func (f *textFinder) question(_ string, q *Question) { f.found = (*plainText)(&q.Text) }

func textOf(b Body) textValue {
	var f textFinder
	b.fields(&f)
	return f.found
}

// writer collects the fields of a header: everything but the text.
type writer struct {
	out []Field
	err error
}

func (w *writer) add(name string, value []byte) {
	w.out = append(w.out, Field{Key: name, Raw: value})
}

func (w *writer) str(name string, p *string) {
	if *p != "" {
		w.add(name, appendString(nil, *p))
	}
}

func (w *writer) num(name string, p *int) {
	if *p != 0 {
		w.add(name, strconv.AppendInt(nil, int64(*p), 10))
	}
}

func (w *writer) seq(name string, p *int) {
	w.add(name, strconv.AppendInt(nil, int64(*p), 10))
}

func (w *writer) num64(name string, p *int64) {
	if *p != 0 {
		w.add(name, strconv.AppendInt(nil, *p, 10))
	}
}

func (w *writer) flag(name string, p *bool) {
	if *p {
		w.add(name, []byte("true"))
	}
}

func (w *writer) must(name string, p *bool) {
	w.add(name, strconv.AppendBool(nil, *p))
}

func (w *writer) ref(name string, p **int) {
	if *p != nil {
		w.add(name, strconv.AppendInt(nil, int64(**p), 10))
	}
}

func (w *writer) raw(name string, p *raw) {
	if len(*p) > 0 {
		w.json(name, *p)
	}
}

func (w *writer) json(name string, value []byte) {
	canonical, err := Canonical(value)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write field %s: %w", name, err)
	}
	w.add(name, canonical)
}

func (w *writer) moment(name string, p **OptionalTime) {
	if *p != nil {
		value, _ := (*p).MarshalJSON()
		w.add(name, value)
	}
}

func (w *writer) maybeTime(name string, p **time.Time) {
	if *p != nil {
		w.time(name, *p)
	}
}

func (w *writer) time(name string, t *time.Time) {
	value, err := t.MarshalJSON()
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write field %s: %w", name, err)
	}
	w.add(name, value)
}

func (w *writer) value(name string, p any) {
	if isEmpty(reflect.ValueOf(p).Elem()) {
		return
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil && w.err == nil {
		w.err = fmt.Errorf("write field %s: %w", name, err)
		return
	}
	w.json(name, buf.Bytes())
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

func (w *writer) text(string, *string)       {}
func (w *writer) jsonText(string, textValue) {}

// storedQuestion is a question without its text, or (to be shown) with it.
type storedQuestion struct {
	Text       string          `json:"text,omitempty"`
	AnswerType AnswerType      `json:"answer_type"`
	Default    json.RawMessage `json:"default,omitempty"`
}

func (w *writer) question(name string, q *Question) {
	w.value(name, &storedQuestion{AnswerType: q.AnswerType, Default: q.Default})
}

// viewer is a writer that shows the text as a field, too.
type viewer struct{ writer }

// value shows of payload also whether it is here.
func (v *viewer) value(name string, p any) {
	payloads, ok := p.(*[]Payload)
	if !ok {
		v.writer.value(name, p)
		return
	}
	shown := make([]shownPayload, len(*payloads))
	for i, p := range *payloads {
		shown[i] = shownPayload{p, p.Absent}
	}
	v.writer.value(name, &shown)
}

type shownPayload struct {
	Payload
	Absent bool `json:"absent,omitempty"`
}

func (v *viewer) text(name string, p *string) {
	if name == "" {
		name = "text"
	}
	v.add(name, appendString(nil, *p))
}

func (v *viewer) jsonText(name string, p textValue) {
	text := p.get()
	if CheckJSON([]byte(text)) != nil {
		v.add(name, appendString(nil, text))
		return
	}
	v.json(name, []byte(text))
}

func (v *viewer) question(name string, q *Question) {
	v.value(name, &storedQuestion{Text: q.Text, AnswerType: q.AnswerType, Default: q.Default})
}

// reader fills a body from the fields of a header and remembers which of them
// it used.
type reader struct {
	in   []Field
	used []bool
	err  error

	fields [16]Field // buffer of in and used, enough for most headers
	flags  [16]bool
}

// readers keeps the memory of readers. Results of a reader never share it.
var readers = sync.Pool{New: func() any { return new(reader) }}

// newReader takes a header apart. The reader is its caller's to free.
func newReader(header []byte) (*reader, error) {
	r := readers.Get().(*reader)
	fields, err := parseObject(header, r.fields[:0])
	if err != nil {
		r.free()
		return nil, err
	}
	r.in = fields
	if r.used = r.flags[:min(len(fields), len(r.flags))]; len(fields) > len(r.flags) {
		r.used = make([]bool, len(fields))
	}
	return r, nil
}

func (r *reader) free() {
	*r = reader{}
	readers.Put(r)
}

func (r *reader) take(name string) []byte {
	for i := range r.in {
		if r.in[i].Key == name {
			r.used[i] = true
			return r.in[i].Raw
		}
	}
	return nil
}

// rest returns the fields that the decoder did not ask for.
func (r *reader) rest() []Field {
	var rest []Field
	for i, used := range r.used {
		if !used {
			rest = append(rest, r.in[i])
		}
	}
	return rest
}

func (r *reader) bad(name string, value []byte) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: field %s is %.40q", ErrDamaged, name, value)
	}
}

func (r *reader) str(name string, p *string) {
	value := r.take(name)
	if value == nil {
		return
	}
	s := scanner{in: value}
	text, err := s.str()
	if err != nil {
		r.bad(name, value)
		return
	}
	*p = text
}

func (r *reader) num(name string, p *int) {
	n := int64(*p)
	r.num64(name, &n)
	*p = int(n)
}

func (r *reader) seq(name string, p *int) { r.num(name, p) }

func (r *reader) num64(name string, p *int64) {
	value := r.take(name)
	if value == nil {
		return
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		r.bad(name, value)
		return
	}
	*p = n
}

func (r *reader) flag(name string, p *bool) {
	switch value := r.take(name); string(value) {
	case "true":
		*p = true
	case "false", "":
	default:
		r.bad(name, value)
	}
}

func (r *reader) must(name string, p *bool) { r.flag(name, p) }

func (r *reader) ref(name string, p **int) {
	for _, f := range r.in {
		if f.Key == name {
			n := 0
			r.num(name, &n)
			*p = &n
		}
	}
}

func (r *reader) raw(name string, p *raw) {
	if value := r.take(name); value != nil {
		*p = append(raw(nil), value...)
	}
}

func (r *reader) moment(name string, p **OptionalTime) {
	value := r.take(name)
	if value == nil {
		return
	}
	*p = new(OptionalTime)
	if err := (*p).UnmarshalJSON(value); err != nil {
		r.bad(name, value)
	}
}

func (r *reader) time(name string, p *time.Time) {
	if value := r.take(name); value != nil && p.UnmarshalJSON(value) != nil {
		r.bad(name, value)
	}
}

func (r *reader) maybeTime(name string, p **time.Time) {
	var t time.Time
	if r.time(name, &t); r.take(name) != nil {
		*p = &t
	}
}

func (r *reader) value(name string, p any) {
	value := r.take(name)
	if value == nil {
		return
	}
	if usage, is := p.(**Usage); is && readUsage(value, usage) {
		return
	}
	if err := json.Unmarshal(value, p); err != nil {
		r.bad(name, value)
	}
}

// readUsage reads the usual usage of a call's end without the cost of reading any JSON. For other JSON it is
// false, and sets nothing.
func readUsage(value []byte, p **Usage) bool {
	r, err := newReader(value)
	if err != nil {
		return false
	}
	defer r.free()
	var u Usage
	r.num("input", &u.Input)
	r.num("output", &u.Output)
	r.num("cache_read", &u.CacheRead)
	r.num("cache_write", &u.CacheWrite)
	r.str("cost_usd", &u.CostUSD)
	r.num64("duration_ms", &u.DurationMS)
	if r.err != nil || slices.Contains(r.used, false) {
		return false
	}
	*p = &u
	return true
}

func (r *reader) text(string, *string)       {}
func (r *reader) jsonText(string, textValue) {}

func (r *reader) question(name string, q *Question) {
	var stored storedQuestion
	r.value(name, &stored)
	q.AnswerType, q.Default = stored.AnswerType, stored.Default
}
