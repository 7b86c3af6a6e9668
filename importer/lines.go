package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	maxRecord = 8 << 20 // bytes of one record
	maxDepth  = 64      // levels of its JSON
)

// lines reads a file of one JSON record a line, with any content, in memory bounded by the largest allowed
// record.
type lines struct {
	in   *bufio.Reader
	line []byte
	at   int64 // offset of the line
	end  int64 // offset of the next line
}

func linesOf(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 64<<10)} }

// next is the next line that is not blank. refused is the reason if it is invalid. The bytes are valid until
// the next call. At the end it returns io.EOF.
func (l *lines) next() (line []byte, refused string, err error) {
	for {
		l.line, l.at = l.line[:0], l.end
		large, ended := false, false
		for {
			part, err := l.in.ReadSlice('\n')
			l.end += int64(len(part))
			if !large && len(l.line)+len(part) <= maxRecord+1 {
				l.line = append(l.line, part...)
			} else {
				large = true
			}
			if err == nil {
				ended = true
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if !errors.Is(err, io.EOF) {
				return nil, "", err
			}
			if len(l.line) == 0 && !large {
				return nil, "", io.EOF
			}
			break
		}
		line := bytes.TrimSpace(l.line)
		switch {
		case large:
			return nil, refusedLarge, nil
		case len(line) == 0:
			continue
		case tooDeep(line):
			return nil, refusedDeep, nil
		case line[0] != '{' || line[len(line)-1] != '}':
			if !ended {
				return nil, refusedUnended, nil // the agent is still writing it
			}
			return nil, refusedJSON, nil
		}
		return line, "", nil
	}
}

// each passes each record to do, and counts the refused ones.
func (l *lines) each(s *Session, do func(line []byte) error) error {
	for {
		line, refused, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case refused != "":
			count(&s.Refused, refused)
			continue
		}
		if err := do(line); err != nil {
			return err
		}
	}
}

// tooDeep reports whether JSON nests deeper than is allowed, before anything recursive
// reads it.
func tooDeep(line []byte) bool {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			i = stringEnd(line, i)
		}
	}
	return false
}

// stringEnd is the last quotation mark of the string that begins at one, or the end of the line.
func stringEnd(line []byte, at int) int {
	for i := at + 1; i < len(line); i++ {
		n := bytes.IndexByte(line[i:], '"')
		if n < 0 {
			break
		}
		i += n
		escaped := false
		for j := i - 1; j > at && line[j] == '\\'; j-- {
			escaped = !escaped
		}
		if !escaped {
			return i
		}
	}
	return len(line)
}

// fields gives the members of an object as they are written. Of nested values it only reads the brackets. ok
// is false if the value is no object.
func fields(object []byte, do func(key, value []byte)) (ok bool) {
	i := 0
	space := func() {
		for i < len(object) && (object[i] == ' ' || object[i] == '\t' || object[i] == '\n' || object[i] == '\r') {
			i++
		}
	}
	take := func(c byte) bool {
		space()
		if i < len(object) && object[i] == c {
			i++
			return true
		}
		return false
	}
	if !take('{') {
		return false
	}
	if take('}') {
		space()
		return i == len(object)
	}
	for {
		if !take('"') {
			return false
		}
		end := stringEnd(object, i-1)
		if end >= len(object) {
			return false
		}
		key := object[i:end]
		i = end + 1
		if !take(':') {
			return false
		}
		space()
		from := i
		if i = valueEnd(object, i); i == from {
			return false
		}
		do(key, object[from:i])
		switch {
		case take(','):
		case take('}'):
			space()
			return i == len(object)
		default:
			return false
		}
	}
}

// valueEnd is the end of the value at a place of an object, the place itself if there is none.
func valueEnd(object []byte, at int) int {
	depth := 0
	for i := at; i < len(object); i++ {
		switch object[i] {
		case '"':
			if i = stringEnd(object, i); i >= len(object) {
				return at
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		default:
			if c := object[i]; c < ' ' || depth == 0 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E') {
				return at
			}
		}
	}
	return at
}

// textOf is a string of JSON, "" for anything else.
func textOf(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(value, &text) // any other value counts as empty
	return text
}

// fieldOf is a member of an object, nil if it is missing.
func fieldOf(object []byte, name string) (found []byte) {
	fields(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// indented is a JSON value as people read it.
func indented(value json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return value
	}
	return b.Bytes()
}
