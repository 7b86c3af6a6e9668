package conversation

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and returns it decoded.
func (s *scanner) str() (string, error) {
	if s.peek() != '"' {
		return "", s.fail("a string was expected")
	}
	s.pos++
	start := s.pos
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			raw := s.in[start:s.pos]
			s.pos++
			if !utf8.Valid(raw) {
				return "", s.fail("the string is not UTF-8")
			}
			return string(raw), nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return "", s.fail("a control character in a string")
		}
		s.pos++
	}
	return "", s.fail("the string has no end")
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
// Bytes that are not UTF-8 become U+FFFD: JSON has no other form for them.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
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
	return append(dst, '"')
}
