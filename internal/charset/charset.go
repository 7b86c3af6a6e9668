// Package charset finds the encoding of a file's text, and encodes new text as the file has it.
package charset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// An Encoding says how a file holds its text.
type Encoding struct {
	Name    string            // "" is UTF-8
	Unknown bool              // only ASCII may be written, and the text has the file's own bytes
	mark    string            // the byte order mark
	codec   encoding.Encoding // nil is UTF-8
	cr      bool              // its lines end with CR alone; the text has LF
}

// Unicode reports whether the file itself tells its encoding: it is UTF-8, or has a byte order mark.
func (e Encoding) Unicode() bool { return e.codec == nil && !e.Unknown || e.mark != "" }

// ErrBinary reports a binary file.
var ErrBinary = errors.New("it is a binary file")

// ErrWide is an [ErrBinary] whose first bytes are those of a text.
var ErrWide error = wide{}

type wide struct{}

func (wide) Error() string {
	return "it is text in UTF-16 or UTF-32, and jp reads UTF-8, and UTF-16 with a byte order mark"
}

func (wide) Is(target error) bool { return target == ErrBinary }

// errEncoding reports text that a file's encoding cannot represent.
var errEncoding = errors.New("its encoding cannot hold the new text")

// marked are encodings with a byte order mark.
func marked() []Encoding {
	return []Encoding{
		{Name: "UTF-8 with a byte order mark", mark: "\xef\xbb\xbf"},
		{Name: "UTF-16LE", mark: "\xff\xfe", codec: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{Name: "UTF-16BE", mark: "\xfe\xff", codec: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	}
}

// Decode finds the encoding of a file, and its text. It refuses a text that encodes to other bytes. Lines
// that end with CR alone end with LF in the text.
func Decode(content []byte) (string, Encoding, error) {
	text, e, err := decode(content)
	if err != nil || e.Unknown || strings.Count(text, "\r") < 2 || strings.Contains(text, "\n") {
		return text, e, err
	}
	e.Name, e.cr = cmp.Or(e.Name, "UTF-8")+" with CR line ends", true
	return strings.ReplaceAll(text, "\r", "\n"), e, nil
}

// decode finds the encoding of the characters.
func decode(content []byte) (string, Encoding, error) {
	for _, e := range marked() {
		if body, ok := bytes.CutPrefix(content, []byte(e.mark)); ok {
			if text, ok := e.text(body); ok {
				return text, e, nil
			}
		}
	}
	switch {
	case IsBinary(content):
		return "", Encoding{}, Binary(content)
	case utf8.Valid(content):
		return string(content), Encoding{}, nil
	}
	unknown := Encoding{Name: "of an unknown encoding", Unknown: true}
	if damaged(content) || !western(content) {
		return string(content), unknown, nil
	}
	e := Encoding{Name: "Latin-1", codec: charmap.ISO8859_1}
	if hasC1(content) {
		e = Encoding{Name: "Windows-1252", codec: charmap.Windows1252}
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

// western reports whether bytes can be a text of Western Europe, in which words have single letters beside ASCII. A text
// of another code page has whole words of them, or symbols inside words.
func western(content []byte) bool {
	high, strange, run := 0, 0, 0
	letter := func(b byte) bool {
		return b >= 0xc0 || b|0x20 >= 'a' && b|0x20 <= 'z' || strings.IndexByte("\x8a\x8c\x8e\x9a\x9c\x9e\x9f", b) >= 0
	}
	for i, b := range content {
		if b < utf8.RuneSelf {
			run = 0
			continue
		}
		high++
		switch run++; {
		case run == 3:
			strange += 3
		case run > 3, b < 0xc0 && strings.IndexByte(insideWords, b) < 0 && i > 0 && i+1 < len(content) && letter(content[i-1]) && letter(content[i+1]):
			strange++
		}
	}
	return 4*strange < high
}

// insideWords are bytes below the letters that can stand between two: S and Z with a caron, OE, dots, dashes and
// apostrophes of Windows-1252, and of both code pages the soft hyphen and the like.
const insideWords = "\x85\x8a\x8c\x8e\x91\x92\x95\x96\x97\x9a\x9c\x9e\x9f\xa0\xaa\xab\xad\xb4\xb7\xba\xbb"

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
func (e Encoding) text(body []byte) (string, bool) {
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

// Bytes encodes a text as the file has it. added is the caller's part of it.
func (e Encoding) Bytes(text string, added ...string) ([]byte, error) {
	if e.Unknown {
		for _, part := range added {
			if strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return nil, fmt.Errorf("its encoding is unknown, so only ASCII can be written into it: %w; the file is unchanged", errEncoding)
			}
		}
		return []byte(text), nil
	}
	if e.cr {
		text = strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(text)
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
			return nil, fmt.Errorf("it is %s, which has no %q: %w; the file is unchanged", e.Name, r, errEncoding)
		}
	}
	return nil, errEncoding
}

// IsBinary takes a NUL byte for the mark of a binary file.
func IsBinary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// Binary is the reason why a binary file is not read. Its first bytes reveal UTF-16 and UTF-32 if they are a
// byte order mark.
func Binary(start []byte) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(start, []byte(mark)) {
			return ErrWide
		}
	}
	return ErrBinary
}
