package wirecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// A kind is the type of a JSON value.
type kind string

const (
	absent  kind = "absent"
	null    kind = "null"
	boolean kind = "a boolean"
	number  kind = "a number"
	text    kind = "a string"
	list    kind = "a list"
	object  kind = "an object"
)

// A node is a JSON value that knows its place in the body.
type node struct {
	path  string
	kind  kind
	text  string   // of a string its characters, of a number or boolean its literal
	keys  []string // of an object, in the order of the body, as often as they stand there
	items []*node  // the values of an object, or the items of a list
	fault string   // fault in the characters of a string or of the keys
}

var (
	errNotJSON = errors.New("is not one JSON value")
	errTooDeep = errors.New("is nested too deep to be a request")
)

// maxDepth is how deep values may be nested.
const maxDepth = 512

func parse(data []byte) (*node, error) {
	if !json.Valid(data) {
		return nil, errNotJSON
	}
	d := &reader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	d.dec.UseNumber()
	return d.value("", 0)
}

// A reader turns tokens into nodes and keeps sight of the bytes they came from.
type reader struct {
	data []byte
	dec  *json.Decoder
}

// token is the next token with the bytes that spell it.
func (r *reader) token() (json.Token, []byte, error) {
	from := r.dec.InputOffset()
	t, err := r.dec.Token()
	if err != nil {
		return nil, nil, fmt.Errorf("read JSON: %w", err)
	}
	return t, bytes.TrimLeft(r.data[from:r.dec.InputOffset()], " \t\r\n,:"), nil
}

func (r *reader) value(path string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	t, raw, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{path: path}
	switch t := t.(type) {
	case nil:
		n.kind = null
	case bool:
		n.kind, n.text = boolean, string(raw)
	case json.Number:
		n.kind, n.text = number, string(t)
	case string:
		n.kind, n.text, n.fault = text, t, faultOf(raw, t)
	case json.Delim:
		return n, r.children(n, t, depth)
	}
	return n, nil
}

// children reads the content of the brackets.
func (r *reader) children(n *node, open json.Delim, depth int) error {
	n.kind = object
	if open == '[' {
		n.kind = list
	}
	for r.dec.More() {
		path := fmt.Sprintf("%s[%d]", n.path, len(n.items))
		if n.kind == object {
			t, raw, err := r.token()
			if err != nil {
				return err
			}
			key, _ := t.(string)
			n.keys = append(n.keys, key)
			if f := faultOf(raw, key); f != "" {
				n.fault = f
			}
			path = strings.TrimPrefix(n.path+"."+key, ".")
		}
		item, err := r.value(path, depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, _, err := r.token()
	return err
}

// faultOf describes the fault in the characters of a string: raw is its spelling, decoded the decoder's
// result. The decoder puts U+FFFD in place of unreadable characters, so more of them than in the spelling is
// a fault.
func faultOf(raw []byte, decoded string) string {
	if !utf8.Valid(raw) {
		return "is not UTF-8"
	}
	if strings.ContainsRune(decoded, 0) {
		return "holds a NUL"
	}
	spelled := bytes.Count(raw, []byte("\uFFFD")) + escapes(raw, "fffd")
	if strings.Count(decoded, "\uFFFD") > spelled {
		return "holds a lone surrogate"
	}
	return ""
}

// escapes counts one \u escape, in any case, in the spelling of a string.
func escapes(raw []byte, hex string) int {
	count := 0
	for i := 0; i < len(raw)-1; i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] == 'u' && i+6 <= len(raw) && strings.EqualFold(string(raw[i+2:i+6]), hex) {
			count++
		}
		i++
	}
	return count
}

// is reports whether the node has one of the kinds.
func (n *node) is(kinds ...kind) bool { return slices.Contains(kinds, n.kind) }

// has reports whether the object has a value, even null, for a key.
func (n *node) has(key string) bool { return n.kind == object && slices.Contains(n.keys, key) }

// get is the value of the first of the keys that the object has, else a node
// of kind absent.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		if n.has(key) {
			return n.items[slices.Index(n.keys, key)]
		}
	}
	return &node{path: strings.TrimPrefix(n.path+"."+keys[0], "."), kind: absent}
}

// str is the string at a key, or "".
func (n *node) str(keys ...string) string {
	if v := n.get(keys...); v.kind == text {
		return v.text
	}
	return ""
}

// blank reports whether a string has only white space.
func (n *node) blank() bool { return n.kind == text && strings.TrimSpace(n.text) == "" }

// canonical spells the value with sorted keys and without white space, leaving out
// the named keys at every depth.
func (n *node) canonical(without ...string) string {
	var b strings.Builder
	n.spell(&b, without)
	return b.String()
}

func (n *node) spell(b *strings.Builder, without []string) {
	switch n.kind {
	case text:
		b.WriteString(quote(n.text))
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			comma(b, i)
			item.spell(b, without)
		}
		b.WriteByte(']')
	case object:
		n.spellObject(b, without)
	case absent, null:
		b.WriteString("null")
	default:
		b.WriteString(n.text)
	}
}

func (n *node) spellObject(b *strings.Builder, without []string) {
	order := make([]int, len(n.keys))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, c int) bool { return n.keys[order[a]] < n.keys[order[c]] })
	b.WriteByte('{')
	written := 0
	for _, i := range order {
		if slices.Contains(without, n.keys[i]) {
			continue
		}
		comma(b, written)
		b.WriteString(quote(n.keys[i]))
		b.WriteByte(':')
		n.items[i].spell(b, without)
		written++
	}
	b.WriteByte('}')
}

func comma(b *strings.Builder, before int) {
	if before > 0 {
		b.WriteByte(',')
	}
}

// quote spells a string with the fewest escapes.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
