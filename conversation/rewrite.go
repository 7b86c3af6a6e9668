package conversation

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Rewriter changes a text of an event. name is the name of the text at its place: a key of an object, a
// field, "" if it has none. It returns text itself if it changes nothing, and the same for the same
// arguments.
type Rewriter func(name, text string) string

// Rewrite gives every text of the event to f, before the event is stored, and reports whether any has
// changed: the event's own text, arguments, names, ids that a model makes up, paths, the content of payloads.
// JSON stays JSON: its strings and keys are changed one by one. The links between events stay: seqs, hashes,
// ids of git and of conversations, and the words of the format.
//
// An opaque provider state that holds a text to change is dropped, and so is one whose event has changed: it
// is only valid unchanged.
func (e *Event) Rewrite(f Rewriter) (changed bool) {
	w := &rewriter{to: f}
	if b, is := e.Body.(*Instructions); is {
		w.instructions(b)
	} else {
		e.Body.fields(w)
	}
	w.envelope(e)
	state := &rewriter{to: f}
	state.json("", (*raw)(&e.Provider))
	if w.changed || state.changed {
		e.Provider = nil
		e.Payloads = slices.DeleteFunc(slices.Clone(e.Payloads), func(p Payload) bool { return p.Name == PayloadProvider })
	}
	return w.changed || state.changed
}

// fixed are the fields outside of rewriting, by the names under which they are stored: words of the format,
// hashes, ids of git and of conversations.
var fixed = map[string]bool{
	"part": true, "finish": true, "prefix": true, "by": true, "signal": true, "phase": true, "outcome": true, "kind": true, "child": true,
	"parent": true, "source": true, "title_source": true, "cost_usd": true, "usage": true, "truncated": true, "status": true, "before": true, "after": true,
	"head_was": true, "head_is": true, "oid": true, "sha256": true, "digest": true, "jp": true,
}

// rewriter is the codec that changes texts in place.
type rewriter struct {
	silent
	to      Rewriter
	changed bool
}

func (w *rewriter) str(name string, p *string) {
	if *p == "" || fixed[name] {
		return
	}
	if text := w.to(name, *p); text != *p {
		*p, w.changed = text, true
	}
}

// instructions changes a text piece by piece, and updates the place of each file's text.
func (w *rewriter) instructions(b *Instructions) {
	w.value("files", &b.Files)
	if b.check() != nil {
		w.text("", &b.Content)
		return
	}
	was, now, at := b.Content, "", 0
	files := slices.Clone(b.Files)
	piece := func(to int) {
		text := was[at:to]
		w.text("", &text)
		now, at = now+text, to
	}
	for i, f := range files {
		if !f.Given() {
			continue
		}
		piece(f.From)
		files[i].From = len(now)
		piece(f.To)
		files[i].To = len(now)
	}
	piece(len(was))
	b.Files, b.Content = files, now
}

// text passes no name: the names of events' texts are the format's.
func (w *rewriter) text(_ string, p *string) { w.str("", p) }

func (w *rewriter) raw(name string, p *raw) { w.json(name, p) }

func (w *rewriter) jsonText(name string, p textValue) {
	value := raw(p.get())
	if w.json("", &value) {
		p.set(string(value))
	}
}

func (w *rewriter) question(_ string, q *Question) {
	w.text("", &q.Text)
	w.json("", &q.Default)
	w.value("answer_type", &q.AnswerType)
}

// json changes the strings of a JSON value, or else the text as a whole.
func (w *rewriter) json(name string, p *raw) (changed bool) {
	if len(*p) == 0 {
		return false
	}
	value, ok := rewriteJSON(name, *p, w.to)
	if !ok {
		value = []byte(w.to(name, string(*p)))
	}
	if changed = !bytes.Equal(value, *p); changed {
		*p, w.changed = value, true
	}
	return changed
}

// value changes the texts of a nested value. The caller and others may share its parts, so it copies lists
// and maps that change.
func (w *rewriter) value(name string, p any) {
	if fixed[name] {
		return
	}
	v := reflect.ValueOf(p).Elem()
	if next, changed := w.nested(name, v); changed {
		v.Set(next)
		w.changed = true
	}
}

func (w *rewriter) nested(name string, v reflect.Value) (next reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		if text := w.to(name, v.String()); !fixed[name] && text != v.String() {
			return reflect.ValueOf(text).Convert(v.Type()), true
		}
	case reflect.Pointer:
		if !v.IsNil() {
			if inner, changed := w.nested(name, v.Elem()); changed {
				next = reflect.New(v.Type().Elem())
				next.Elem().Set(inner)
				return next, true
			}
		}
	case reflect.Slice:
		return w.list(name, v)
	case reflect.Map:
		return w.entries(v)
	case reflect.Struct:
		return w.members(v)
	}
	return v, false
}

func (w *rewriter) list(name string, v reflect.Value) (next reflect.Value, changed bool) {
	if v.Type() == reflect.TypeFor[raw]() {
		value := slices.Clone(v.Bytes())
		if text, ok := rewriteJSON(name, value, w.to); ok && !bytes.Equal(text, value) {
			return reflect.ValueOf(raw(text)), true
		}
		return v, false
	}
	next = v
	for i := range v.Len() {
		item, itemChanged := w.nested(name, v.Index(i))
		if !itemChanged {
			continue
		}
		if !changed {
			next, changed = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
			reflect.Copy(next, v)
		}
		next.Index(i).Set(item)
	}
	return next, changed
}

func (w *rewriter) entries(v reflect.Value) (next reflect.Value, changed bool) {
	if v.IsNil() {
		return v, false
	}
	next = reflect.MakeMap(v.Type())
	for key, value := range v.Seq2() {
		newKey, keyChanged := w.nested("", key)
		newValue, valueChanged := w.nested(key.String(), value)
		next.SetMapIndex(newKey, newValue)
		changed = changed || keyChanged || valueChanged
	}
	return next, changed
}

func (w *rewriter) members(v reflect.Value) (next reflect.Value, changed bool) {
	next = v
	for i, field := range reflect.VisibleFields(v.Type()) {
		if !field.IsExported() {
			continue
		}
		name := fieldName(field)
		if fixed[name] {
			continue
		}
		member, memberChanged := w.nested(name, v.Field(i))
		if !memberChanged {
			continue
		}
		if !changed {
			next, changed = reflect.New(v.Type()).Elem(), true
			next.Set(v)
		}
		next.Field(i).Set(member)
	}
	return next, changed
}

// fieldName is the name under which a field is stored.
func fieldName(field reflect.StructField) string {
	if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
		return name
	}
	return strings.ToLower(field.Name)
}

// envelope changes the fields that events of every type have.
func (w *rewriter) envelope(e *Event) {
	w.str("subject", &e.Subject)
	w.str("model", &e.Model)
	if e.Git != nil {
		git := *e.Git
		w.str("branch", &git.Branch)
		w.str("branch", &git.BranchWas)
		w.str("worktree", &git.Worktree)
		e.Git = &git
	}
	if len(e.Payloads) > 0 {
		e.Payloads = slices.Clone(e.Payloads)
	}
	for i := range e.Payloads {
		w.payload(&e.Payloads[i])
	}
	if len(e.extra) > 0 {
		e.extra = slices.Clone(e.extra)
	}
	for i := range e.extra {
		value := raw(e.extra[i].Raw)
		w.json(e.extra[i].Key, &value)
		e.extra[i].Raw = value
	}
}

// payload changes the content of new payload that is text.
func (w *rewriter) payload(p *Payload) {
	w.str("name", &p.Name)
	if p.Name == PayloadProvider || !p.IsText() {
		return
	}
	if p.MediaType == "application/json" {
		data := raw(p.Data)
		w.json("", &data)
		p.Data = data
		return
	}
	if text := w.to("", string(p.Data)); text != string(p.Data) {
		p.Data, w.changed = []byte(text), true
	}
}

// IsText reports whether the payload is new and holds text.
func (p *Payload) IsText() bool {
	return len(p.Data) > 0 && utf8.Valid(p.Data) && bytes.IndexByte(p.Data, 0) < 0
}
