package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	maxRecord = 8 << 20 // bytes of one record
	maxDepth  = 64      // levels of its JSON
)

// lines reads a file of one JSON record a line, whatever is in it, in memory that the
// largest record allowed bounds.
type lines struct {
	in   *bufio.Reader
	line []byte
}

func linesOf(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 64<<10)} }

// next is the next line that is not blank. refused is why it cannot be taken. The bytes are
// valid until the next call. At the end it returns io.EOF.
func (l *lines) next() (line []byte, refused string, err error) {
	for {
		l.line = l.line[:0]
		large, ended := false, false
		for {
			part, err := l.in.ReadSlice('\n')
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

// each gives each record to do, and counts those that cannot be taken.
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

// stringEnd is where the string that begins at a quotation mark has its last one, or the
// end of the line.
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

// members gives the strings and words that are values of an object itself, as they are
// written, without reading what is nested in it. The object need not be valid.
func members(line []byte, do func(key, value []byte)) {
	depth, key := 0, []byte(nil)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '{', '[':
			depth++
			key = nil
		case '}', ']':
			depth--
		case ',':
			key = nil
		case '"':
			end := stringEnd(line, i)
			switch {
			case depth != 1 || end == len(line):
			case key == nil:
				key = line[i+1 : end]
			default:
				do(key, line[i:end+1])
			}
			i = end
		case 't', 'f':
			if word := []byte("true"); depth == 1 && key != nil && bytes.HasPrefix(line[i:], word) {
				do(key, word)
			}
		}
	}
}

// indented is a JSON value as people read it.
func indented(value json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return value
	}
	return b.Bytes()
}
