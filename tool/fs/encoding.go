package fs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// An encodedAs says how a file holds its text.
type encodedAs struct {
	name  string            // "" is UTF-8
	mark  string            // the byte order mark
	codec encoding.Encoding // nil is UTF-8
	ascii bool              // the encoding is not known: only ASCII may be written
}

// errEncoding is text that a file's encoding cannot hold.
var errEncoding = errors.New("its encoding cannot hold the new text")

// marked are encodings with a byte order mark.
func marked() []encodedAs {
	return []encodedAs{
		{name: "UTF-8 with a byte order mark", mark: "\xef\xbb\xbf"},
		{name: "UTF-16LE", mark: "\xff\xfe", codec: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{name: "UTF-16BE", mark: "\xfe\xff", codec: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	}
}

// decode finds the encoding of a file, and its text. A text that encodes to other bytes is not taken.
func decode(content []byte) (string, encodedAs, error) {
	for _, e := range marked() {
		if body, ok := bytes.CutPrefix(content, []byte(e.mark)); ok {
			if text, ok := e.text(body); ok {
				return text, e, nil
			}
		}
	}
	switch {
	case isBinary(content):
		return "", encodedAs{}, binary(content)
	case utf8.Valid(content):
		return string(content), encodedAs{}, nil
	}
	unknown := encodedAs{name: "of an unknown encoding", ascii: true}
	if damaged(content) {
		return string(content), unknown, nil
	}
	e := encodedAs{name: "Latin-1", codec: charmap.ISO8859_1}
	if hasC1(content) {
		e = encodedAs{name: "Windows-1252", codec: charmap.Windows1252}
	}
	if text, ok := e.text(content); ok {
		return text, e, nil
	}
	return string(content), unknown, nil
}

// hasC1 reports whether bytes would be control characters in Latin-1.
func hasC1(content []byte) bool {
	for _, b := range content {
		if b >= 0x80 && b <= 0x9f {
			return true
		}
	}
	return false
}

// damaged reports whether bytes are rather UTF-8 with wrong bytes than another encoding.
func damaged(content []byte) bool {
	good, bad := 0, 0
	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		content = content[n:]
	}
	return good > bad
}

// text decodes bytes behind the mark. It reports whether they come back.
func (e encodedAs) text(body []byte) (string, bool) {
	if e.codec == nil {
		return string(body), utf8.Valid(body)
	}
	decoded, err := e.codec.NewDecoder().Bytes(body)
	if err != nil || bytes.IndexByte(decoded, 0) >= 0 {
		return "", false
	}
	again, err := e.codec.NewEncoder().Bytes(decoded)
	return string(decoded), err == nil && bytes.Equal(again, body)
}

// bytes encodes a text as the file has it. added is what the caller gave of it.
func (e encodedAs) bytes(text string, added ...string) ([]byte, error) {
	if e.ascii {
		for _, part := range added {
			if strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return nil, fmt.Errorf("its encoding is unknown, so only ASCII can be written into it: %w; the file is unchanged", errEncoding)
			}
		}
		return []byte(text), nil
	}
	if e.mark != "" {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	if e.codec == nil {
		return []byte(e.mark + text), nil
	}
	if body, err := e.codec.NewEncoder().Bytes([]byte(text)); err == nil {
		return append([]byte(e.mark), body...), nil
	}
	for _, r := range text {
		if _, err := e.codec.NewEncoder().Bytes([]byte(string(r))); err != nil {
			return nil, fmt.Errorf("it is %s, which has no %q: %w; the file is unchanged", e.name, r, errEncoding)
		}
	}
	return nil, errEncoding
}

// isBinary takes a NUL byte for the mark of a file that is no text.
func isBinary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// binary is why a file that is no text to these tools is not read. Its first bytes tell
// UTF-16 and UTF-32 where they are a byte order mark.
func binary(start []byte) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(start, []byte(mark)) {
			return errWide
		}
	}
	return ErrBinary
}
