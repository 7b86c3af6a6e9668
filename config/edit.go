package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
)

// edit replaces the bytes [from, to) by text.
type edit struct {
	from, to int
	text     string
}

// setInDocument gives data with path set to value (TOML). Each way of writing it is
// tried until one, read back, says the same as before but for that key.
func setInDocument(o Origin, data []byte, path []string, value string) ([]byte, error) {
	doc, err := parseDocument(o, data)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(doc.entries, func(e entry) bool { return e.array }) {
		return nil, valueError(o, joinKey(path), "cannot be set in a file that has arrays of tables")
	}
	want, ok := withValue(doc.values, path, parsedValue(value))
	if !ok {
		return nil, valueError(o, joinKey(path), "cannot be set: a part of it is not a table in the file")
	}
	for _, way := range []func([]string, string) (edit, bool){
		doc.replaceValue, doc.besideSibling, doc.insideInline, doc.belowHeader, doc.atTop, doc.newTable, doc.dottedAtTop,
	} {
		e, ok := way(path, value)
		if !ok {
			continue
		}
		edited := slices.Concat(data[:e.from], []byte(e.text), data[e.to:])
		if after, err := parseDocument(o, edited); err == nil && reflect.DeepEqual(after.values, want) {
			return edited, nil
		}
	}
	return nil, valueError(o, joinKey(path), "cannot be set without rewriting the file; edit it by hand")
}

func parsedValue(text string) any {
	doc, err := parseDocument(Origin{}, []byte("v = "+text))
	if err != nil {
		return nil
	}
	return doc.values["v"]
}

// withValue copies the tables along path and sets the last key.
func withValue(table map[string]any, path []string, value any) (map[string]any, bool) {
	out := make(map[string]any, len(table)+1)
	for k, v := range table {
		out[k] = v
	}
	if len(path) == 1 {
		out[path[0]] = value
		return out, value != nil
	}
	below, isTable := out[path[0]].(map[string]any)
	if _, exists := out[path[0]]; exists && !isTable {
		return nil, false
	}
	set, ok := withValue(below, path[1:], value)
	out[path[0]] = set
	return out, ok
}

func (d *document) replaceValue(path []string, value string) (edit, bool) {
	for _, e := range d.entries {
		if !e.header && slices.Equal(e.path, path) {
			return edit{e.value, e.to, value}, true
		}
	}
	return edit{}, false
}

// besideSibling adds a line after the last key of the same table.
func (d *document) besideSibling(path []string, value string) (edit, bool) {
	parent := path[:len(path)-1]
	for _, e := range slices.Backward(d.entries) {
		if e.header || e.inline || !slices.Equal(e.path[:len(e.path)-1], parent) {
			continue
		}
		start := 1 + bytes.LastIndexByte(d.data[:e.from], '\n')
		return d.lineAfter(e.to, string(d.data[start:e.from])+joinKey(path[e.base:])+" = "+value), true
	}
	return edit{}, false
}

// insideInline adds the key before the closing brace of the nearest inline table.
func (d *document) insideInline(path []string, value string) (edit, bool) {
	for _, e := range slices.Backward(d.entries) {
		if !e.table || !under(path, e.path) {
			continue
		}
		key := joinKey(path[len(e.path):]) + " = " + value
		inside := bytes.TrimRight(d.data[e.value:e.to-1], " \t\r\n")
		if string(inside) == "{" {
			return edit{e.value, e.to, "{ " + key + " }"}, true
		}
		at := e.value + len(inside)
		return edit{at, at, ", " + key}, true
	}
	return edit{}, false
}

// belowHeader adds a line after the header of the key's table.
func (d *document) belowHeader(path []string, value string) (edit, bool) {
	for _, e := range d.entries {
		if e.header && slices.Equal(e.path, path[:len(path)-1]) {
			return d.lineAfter(e.to, joinKey(path[len(path)-1:])+" = "+value), true
		}
	}
	return edit{}, false
}

// atTop adds a key of the root: after the line that shows it commented out, else
// before everything.
func (d *document) atTop(path []string, value string) (edit, bool) {
	if len(path) != 1 {
		return edit{}, false
	}
	line := joinKey(path) + " = " + value
	offset := 0
	for text := range bytes.Lines(d.data[:d.firstHeader()]) {
		if shown, ok := strings.CutPrefix(string(text), "# "+joinKey(path)); ok && strings.HasPrefix(strings.TrimSpace(shown), "=") {
			return d.lineAfter(offset, line), true
		}
		offset += len(text)
	}
	return edit{0, 0, line + d.newline()}, true
}

// newTable adds a header and the key at the end.
func (d *document) newTable(path []string, value string) (edit, bool) {
	if len(path) == 1 {
		return edit{}, false
	}
	nl, end := d.newline(), len(d.data)
	text := "[" + joinKey(path[:len(path)-1]) + "]" + nl + joinKey(path[len(path)-1:]) + " = " + value + nl
	if end > 0 {
		text = nl + text
	}
	if end > 0 && d.data[end-1] != '\n' {
		text = nl + text
	}
	return edit{end, end, text}, true
}

func (d *document) dottedAtTop(path []string, value string) (edit, bool) {
	return edit{0, 0, joinKey(path) + " = " + value + d.newline()}, true
}

// lineAfter adds a line after the one that holds the byte at offset.
func (d *document) lineAfter(offset int, line string) edit {
	rest := bytes.IndexByte(d.data[offset:], '\n')
	if rest < 0 {
		return edit{len(d.data), len(d.data), d.newline() + line + d.newline()}
	}
	at := offset + rest + 1
	return edit{at, at, line + d.newline()}
}

func (d *document) firstHeader() int {
	for _, e := range d.entries {
		if e.header {
			return 1 + bytes.LastIndexByte(d.data[:e.from], '\n')
		}
	}
	return len(d.data)
}

// newline is the line end that the file uses.
func (d *document) newline() string {
	if bytes.Contains(d.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
