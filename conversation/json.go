package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// maxDepth bounds how deeply JSON values may nest.
const maxDepth = 64

// ErrJSON is wrapped by every error about text other than the JSON that jp reads: one value, valid UTF-8, no
// duplicate keys, no lone surrogates, at most 64 levels deep.
var ErrJSON = errors.New("invalid JSON")

// A Field is one key of a JSON object with its value as raw bytes.
type Field struct {
	Key string
	Raw []byte
}

// Canonical returns the canonical form of one JSON value: UTF-8 without white
// space, keys in byte order, and only the escapes that are needed. Numbers are
// kept as they are written.
func Canonical(value []byte) ([]byte, error) {
	s := scanner{in: value, out: make([]byte, 0, len(value)), write: true}
	if err := s.document(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// CheckJSON reports whether value is one JSON value that jp can keep.
func CheckJSON(value []byte) error {
	s := scanner{in: value}
	return s.document()
}

// Compact returns a JSON value on one line: white space between tokens is dropped, all other bytes are kept
// as they are. Without such space it is the value itself.
func Compact(value []byte) ([]byte, error) {
	var room [8]Field
	s := scanner{in: value, room: room[:0]}
	if err := s.document(); err != nil {
		return nil, err
	}
	if !s.spaced {
		return value[:len(value):len(value)], nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, value)
	return b.Bytes(), err
}

// ParseObject splits a JSON object into its fields, in the order in which they
// stand, after checking all of it.
func ParseObject(value []byte) ([]Field, error) {
	return parseObject(value, nil)
}

// parseObject is ParseObject into the room for some fields.
func parseObject(value []byte, room []Field) ([]Field, error) {
	s := scanner{in: value, room: room}
	s.space()
	if s.peek() != '{' {
		return nil, s.fail("an object was expected")
	}
	fields, err := s.members(1)
	if err != nil {
		return nil, err
	}
	return fields, s.end()
}

// scanner is a strict recursive-descent reader that can write the canonical form of its input.
type scanner struct {
	in    []byte
	pos   int
	out   []byte
	write bool
	room  []Field // for those of the outermost object
	// spaced says that there was white space between tokens.
	spaced bool
}

func (s *scanner) fail(what string) error {
	return fmt.Errorf("%w at byte %d: %s", ErrJSON, s.pos, what)
}

func (s *scanner) document() error {
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	return s.end()
}

func (s *scanner) end() error {
	s.space()
	if s.pos != len(s.in) {
		return s.fail("text after the value")
	}
	return nil
}

func (s *scanner) space() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.spaced = true
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

func (s *scanner) emit(b ...byte) {
	if s.write {
		s.out = append(s.out, b...)
	}
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case (c == '{' || c == '[') && depth == maxDepth:
		return s.fail("nested too deeply")
	case c == '{':
		return s.object(depth + 1)
	case c == '[':
		return s.array(depth + 1)
	case c == '"' && s.write:
		text, err := s.str()
		if err == nil {
			s.out = appendString(s.out, text)
		}
		return err
	case c == '"':
		return s.skipString()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.fail("a value was expected")
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.in[s.pos:], []byte(word)) {
		return s.fail("a value was expected")
	}
	s.pos += len(word)
	s.emit([]byte(word)...)
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for s.peek() >= '0' && s.peek() <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *scanner) number() error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	lead := s.peek()
	if n := s.digits(); n == 0 || n > 1 && lead == '0' {
		return s.fail("a number was expected")
	}
	if s.peek() == '.' {
		s.pos++
		if s.digits() == 0 {
			return s.fail("digits were expected")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if s.digits() == 0 {
			return s.fail("digits were expected")
		}
	}
	s.emit(s.in[start:s.pos]...)
	return nil
}

func (s *scanner) array(depth int) error {
	s.pos++
	s.emit('[')
	s.space()
	for first := true; s.peek() != ']'; first = false {
		if !first {
			if s.peek() != ',' {
				return s.fail("a comma was expected")
			}
			s.pos++
			s.emit(',')
			s.space()
		}
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
	}
	s.pos++
	s.emit(']')
	return nil
}

func (s *scanner) object(depth int) error {
	fields, err := s.members(depth)
	if err != nil || !s.write {
		return err
	}
	slices.SortFunc(fields, byKey)
	s.out = appendObject(s.out, fields)
	return nil
}

// members reads an object, from its brace to its brace. Raw values are
// canonical if the scanner writes, else slices of the input.
func (s *scanner) members(depth int) ([]Field, error) {
	s.pos++
	s.space()
	var fields []Field
	if depth == 1 {
		fields = s.room
	}
	for first := true; s.peek() != '}'; first = false {
		if !first {
			if s.peek() != ',' {
				return nil, s.fail("a comma was expected")
			}
			s.pos++
			s.space()
		}
		field, err := s.member(depth)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		s.space()
	}
	s.pos++
	return fields, s.unique(fields)
}

func (s *scanner) member(depth int) (Field, error) {
	key, err := s.key()
	if err != nil {
		return Field{}, err
	}
	s.space()
	if s.peek() != ':' {
		return Field{}, s.fail("a colon was expected")
	}
	s.pos++
	s.space()
	start, held := s.pos, s.out
	if s.write {
		s.out = nil
	}
	err = s.value(depth)
	raw := s.in[start:s.pos]
	if s.write {
		raw, s.out = s.out, held
	}
	return Field{Key: key, Raw: raw}, err
}

func (s *scanner) unique(fields []Field) error {
	if len(fields) > 20 {
		seen := make(map[string]struct{}, len(fields))
		for _, f := range fields {
			if _, twice := seen[f.Key]; twice {
				return s.fail("the key " + strconv.Quote(f.Key) + " stands twice")
			}
			seen[f.Key] = struct{}{}
		}
		return nil
	}
	for i := range fields {
		for _, f := range fields[:i] {
			if f.Key == fields[i].Key {
				return s.fail("the key " + strconv.Quote(f.Key) + " stands twice")
			}
		}
	}
	return nil
}

func byKey(a, b Field) int { return cmp.Compare(a.Key, b.Key) }

func appendObject(dst []byte, fields []Field) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, f.Key)
		dst = append(dst, ':')
		dst = append(dst, f.Raw...)
	}
	return append(dst, '}')
}
