package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a TOML file with the places of its keys. Offsets are bytes.
type document struct {
	data    []byte
	values  map[string]any
	entries []entry // in file order
	excess  *entry  // the first that is too many or too long
	counted int     // bytes before which there are
	lines   int     // so many line ends
}

// entry is a table header or a key with its value.
type entry struct {
	path   []string
	base   int  // how many parts of path come from the table around it
	header bool // [table]; else key = value
	array  bool // [[table]]
	inline bool // inside an inline table
	table  bool // the value is an inline table
	from   int  // of the header's or the key's first byte
	value  int  // of the value's first byte
	to     int  // after the value's last byte, or after the header's last key
}

// Bounds beyond which reading a file takes seconds: keys and headers in one
// file, parts of one key with its tables'.
const (
	maxEntries = 10_000
	maxParts   = 32
)

// parseDocument reads all of data. An error carries line and column.
func parseDocument(o Origin, data []byte) (*document, *Error) {
	doc := &document{data: data, values: map[string]any{}}
	p := unstable.Parser{}
	p.Reset(data)
	var table []string
	for doc.excess == nil && p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.KeyValue {
			doc.addKeyValue(e, table, false)
			continue
		}
		header := headerEntry(e)
		table = header.path
		doc.add(header)
	}
	if doc.excess != nil {
		o.Line = doc.line(doc.excess.from)
		return nil, &Error{Origin: o, Text: fmt.Sprintf("more than %d keys, or %d parts in one", maxEntries, maxParts), kind: ErrSyntax}
	}
	if err := toml.Unmarshal(data, &doc.values); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			o.Line, o.Column = decode.Position()
		}
		return nil, &Error{Origin: o, Text: strings.TrimPrefix(err.Error(), "toml: "), kind: ErrSyntax}
	}
	return doc, nil
}

func headerEntry(n *unstable.Node) entry {
	e := entry{header: true, array: n.Kind == unstable.ArrayTable}
	for it := n.Key(); it.Next(); {
		key := it.Node()
		if len(e.path) == 0 {
			e.from = int(key.Raw.Offset)
		}
		e.path = append(e.path, string(key.Data))
		e.to = int(key.Raw.Offset + key.Raw.Length)
	}
	return e
}

// add keeps e, within the bounds.
func (d *document) add(e entry) bool {
	if len(e.path) > maxParts || len(d.entries) == maxEntries {
		d.excess = &e
		return false
	}
	d.entries = append(d.entries, e)
	return true
}

// addKeyValue adds n, a key of the table at base, and the keys of its inline tables.
func (d *document) addKeyValue(n *unstable.Node, base []string, inline bool) {
	e := entry{base: len(base), inline: inline, from: int(n.Raw.Offset), to: int(n.Raw.Offset + n.Raw.Length)}
	e.path = append(e.path, base...)
	end := e.from
	for it := n.Key(); it.Next(); {
		key := it.Node()
		e.path = append(e.path, string(key.Data))
		end = int(key.Raw.Offset + key.Raw.Length)
	}
	e.value = e.to - len(bytes.TrimLeft(d.data[end:e.to], " \t="))
	e.table = n.Value().Kind == unstable.InlineTable
	if !d.add(e) || !e.table {
		return
	}
	for it := n.Value().Children(); it.Next(); {
		d.addKeyValue(it.Node(), e.path, true)
	}
}

// line gives the number of the line that holds the byte at offset. Asked in
// file order it reads the file once.
func (d *document) line(offset int) int {
	if offset < d.counted {
		d.counted, d.lines = 0, 0
	}
	d.lines += bytes.Count(d.data[d.counted:offset], []byte("\n"))
	d.counted = offset
	return 1 + d.lines
}

// under tells whether path is base or lies below it.
func under(path, base []string) bool {
	if len(path) < len(base) {
		return false
	}
	for i := range base {
		if path[i] != base[i] {
			return false
		}
	}
	return true
}
