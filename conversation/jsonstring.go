package conversation

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and returns it decoded.
func (s *scanner) str() (string, error) {
	start := s.pos + 1
	raw, plain, err := s.plain()
	if err != nil || plain {
		return string(raw), err
	}
	return s.escaped(start)
}

// key is str for a member's name, of which few are new.
func (s *scanner) key() (string, error) {
	start := s.pos + 1
	raw, plain, err := s.plain()
	switch {
	case err != nil:
		return "", err
	case !plain:
		return s.escaped(start)
	}
	if name, known := keys[string(raw)]; known {
		return name, nil
	}
	return string(raw), nil
}

// keys are the names of nearly all members.
var keys = func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq("v type turn seq time text call finish prefix usage input output cache_read cache_write cost_usd duration_ms " +
		"name tool_call_id for is_error attempt pgid part payload bytes media_type oid sha256 git head branch repo model jp approved " +
		"question_id question kind outcome answer by reason changed path after before left_out why") {
		names[name] = name
	}
	return names
}()

// skipString checks a string that the caller ignores.
func (s *scanner) skipString() error {
	start := s.pos + 1
	_, plain, err := s.plain()
	if err == nil && !plain {
		_, err = s.escaped(start)
	}
	return err
}

// plain reads a string up to its end, or to the first escape in it. plain is false then.
func (s *scanner) plain() (raw []byte, plain bool, err error) {
	if s.peek() != '"' {
		return nil, false, s.fail("a string was expected")
	}
	s.pos++
	start := s.pos
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			raw := s.in[start:s.pos]
			s.pos++
			if !utf8.Valid(raw) {
				return nil, false, s.fail("the string is not UTF-8")
			}
			return raw, true, nil
		case c == '\\':
			return nil, false, nil
		case c < 0x20:
			return nil, false, s.fail("a control character in a string")
		}
		s.pos++
	}
	return nil, false, s.fail("the string has no end")
}

// escaped reads on from the first backslash of a string that began at start.
func (s *scanner) escaped(start int) (string, error) {
	text := append([]byte(nil), s.in[start:s.pos]...)
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			s.pos++
			if !utf8.Valid(text) {
				return "", s.fail("the string is not UTF-8")
			}
			return string(text), nil
		case c < 0x20:
			return "", s.fail("a control character in a string")
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
		default:
			text = append(text, c)
			s.pos++
		}
	}
	return "", s.fail("the string has no end")
}

func (s *scanner) escape() (rune, error) {
	s.pos++
	c := s.peek()
	if c == 'u' {
		return s.unicodeEscape()
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if i < 0 || c == 0 {
		return 0, s.fail("an unknown escape")
	}
	s.pos++
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

func (s *scanner) unicodeEscape() (rune, error) {
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if s.peek() != '\\' || s.pos+1 >= len(s.in) || s.in[s.pos+1] != 'u' {
		return 0, s.fail("a lone surrogate")
	}
	s.pos++
	low, err := s.hex4()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, s.fail("a lone surrogate")
	}
	return r, nil
}

// hex4 reads "uXXXX".
func (s *scanner) hex4() (rune, error) {
	if s.pos+5 > len(s.in) {
		return 0, s.fail("four hex digits were expected")
	}
	n, err := strconv.ParseUint(string(s.in[s.pos+1:s.pos+5]), 16, 16)
	if err != nil {
		return 0, s.fail("four hex digits were expected")
	}
	s.pos += 5
	return rune(n), nil
}

const hexDigits = "0123456789abcdef"

// appendString appends text as a JSON string with the canonical escapes.
// Bytes other than UTF-8 become U+FFFD: JSON has no form for them.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		plain := 0
		for plain < len(text) && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\' {
			plain++
		}
		if dst = append(dst, text[:plain]...); plain == len(text) {
			return append(dst, '"')
		}
		r, size := utf8.DecodeRuneInString(text[plain:])
		text = text[plain+size:]
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
}
