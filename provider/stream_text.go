package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// errString reports a JSON value other than a string.
var errString = errors.New("not a JSON string")

// A StreamText is a string of a JSON value that keeps halves of characters. Pieces of
// one text are put together by +, and made UTF-8 by [JoinText].
//
// A model server streams text in pieces, each a JSON string of its own. Some cut
// a text between the two halves of a surrogate pair, "\ud83c" and "\udf89", or
// between the bytes of one character. Decoders of JSON replace each half by
// U+FFFD. A Text is WTF-8, which is UTF-8 that may also hold single surrogates.
type StreamText string

// UnmarshalJSON reads a string. It leaves the text as it is for null.
func (t *StreamText) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	text, err := DecodeText(raw)
	if err == nil {
		*t = StreamText(text)
	}
	return err
}

// MarshalJSON writes halves of characters as escapes, as they came.
func (t StreamText) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('"')
	text := pair(string(t))
	for len(text) > 0 {
		r, size := decodeRune(text)
		switch {
		case utf16.IsSurrogate(r):
			out.WriteString(`\u` + strconv.FormatInt(int64(r), 16))
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < 0x20:
			out.WriteString(`\u00`)
			out.WriteByte("0123456789abcdef"[r>>4])
			out.WriteByte("0123456789abcdef"[r&15])
		default:
			out.WriteRune(r)
		}
		text = text[size:]
	}
	out.WriteByte('"')
	return out.Bytes(), nil
}

// DecodeText is the text of a JSON string, with halves of characters in it.
func DecodeText[T string | []byte | json.RawMessage](raw T) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errString
	}
	if text := []byte(raw); !halves(text) {
		var plain string
		err := json.Unmarshal(text, &plain)
		return plain, err
	}
	if !json.Valid([]byte(raw)) {
		return "", errString
	}
	inside := []byte(raw)[1 : len(raw)-1]
	out := make([]byte, 0, len(inside))
	for len(inside) > 0 {
		at := bytes.IndexByte(inside, '\\')
		if at < 0 {
			break
		}
		out = append(out, inside[:at]...)
		if inside[at+1] != 'u' {
			out = append(out, short(inside[at+1]))
			inside = inside[at+2:]
			continue
		}
		unit, err := strconv.ParseUint(string(inside[at+2:at+6]), 16, 16)
		if err != nil {
			return "", errString
		}
		out = appendRune(out, rune(unit))
		inside = inside[at+6:]
	}
	return pair(string(append(out, inside...))), nil
}

// CleanText is a JSON value in whose strings U+FFFD replaces invalid characters.
func CleanText(value []byte) []byte {
	if !halves(value) {
		return value
	}
	value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
	out := make([]byte, 0, len(value))
	for len(value) > 0 {
		at := bytes.IndexByte(value, '\\')
		if at < 0 || at+1 == len(value) {
			break
		}
		out, value = append(out, value[:at]...), value[at:]
		first, second := escape(value), escape(value[min(6, len(value)):])
		size := 2
		switch {
		case utf16.DecodeRune(first, second) != utf8.RuneError:
			size = 12
		case utf16.IsSurrogate(first):
			out, value, size = append(out, `\ufffd`...), value[6:], 0
		}
		out, value = append(out, value[:size]...), value[size:]
	}
	return append(out, value...)
}

// escape is the UTF-16 unit of an escape at the beginning of a text, or -1.
func escape(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}

// halves reports whether a JSON string may hold halves of characters.
func halves(raw []byte) bool {
	return bytes.Contains(raw, []byte(`\ud`)) || bytes.Contains(raw, []byte(`\uD`)) || !utf8.Valid(raw)
}

// short is the character of an escape of one letter.
func short(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter
}

// appendRune is [utf8.AppendRune] for all code points, surrogates too.
func appendRune(out []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
	}
	return utf8.AppendRune(out, r)
}

// surrogateBytes is how many bytes a surrogate has, which begin with surrogateFirst.
const (
	surrogateBytes = 3
	surrogateFirst = 0xED
)

// decodeRune is [utf8.DecodeRuneInString] for all code points, surrogates too.
func decodeRune(text string) (rune, int) {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 && len(text) >= surrogateBytes && text[0] == surrogateFirst && text[1]&0xE0 == 0xA0 && text[2]&0xC0 == 0x80 {
		return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F), surrogateBytes
	}
	return r, size
}

// pair makes one character of each pair of surrogates.
func pair(text string) string {
	if strings.IndexByte(text, surrogateFirst) < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		r, size := decodeRune(text)
		second, more := decodeRune(text[size:])
		switch whole := utf16.DecodeRune(r, second); {
		case utf16.IsSurrogate(r) && whole != utf8.RuneError:
			out, size = utf8.AppendRune(out, whole), size+more
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(out)
}

// JoinText is a whole text as UTF-8: U+FFFD stands for each half of a character whose
// other half is missing.
func JoinText(text string) string {
	var j joiner
	return j.Add(text) + j.End()
}

// A joiner makes UTF-8 of a text that comes in pieces. It holds back a possible beginning of a character
// until the next piece has come.
type joiner struct{ held string }

// Add takes the next piece and returns as much of the text as is whole.
func (j *joiner) Add(piece string) string {
	if piece == "" {
		return ""
	}
	if j.held == "" && utf8.ValidString(piece) {
		return piece
	}
	text := pair(j.held + piece)
	at := begun(text)
	j.held = text[at:]
	return withoutHalves(text[:at])
}

// End returns the rest: U+FFFD if the text ends within a character.
func (j *joiner) End() string {
	left := j.held
	j.held = ""
	return withoutHalves(left)
}

// RestOfText is the missing part of a whole text behind the part said so far, which may end within a character. It
// is false if the two differ.
func RestOfText(whole, said string) (string, bool) {
	var j joiner
	left, ok := strings.CutPrefix(whole, j.Add(said))
	if !ok || j.held == "" {
		return left, ok
	}
	r, size := decodeRune(left)
	high, low := utf16.EncodeRune(r)
	if string(appendRune(nil, high)) == j.held {
		return string(appendRune(nil, low)) + left[size:], true
	}
	return strings.CutPrefix(left, j.held)
}

// CutText reports whether a text ends within a character, of which more may come.
func CutText(text string) bool {
	text = pair(text[max(0, len(text)-2*utf8.UTFMax):])
	return begun(text) < len(text)
}

// begun is the place of an incomplete character at the end of a text, or the text's length.
func begun(text string) int {
	for back := 1; back < min(utf8.UTFMax, len(text)+1); back++ {
		last := text[len(text)-back:]
		if last[0]&0xC0 == 0x80 {
			continue
		}
		r, size := decodeRune(last)
		if high := size == back && r >= 0xD800 && r < 0xDC00; high || !utf8.FullRuneInString(last) {
			return len(text) - back
		}
		break
	}
	return len(text)
}

// withoutHalves puts U+FFFD in the place of each single surrogate, and of each run of invalid bytes.
func withoutHalves(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	broken := false
	for len(text) > 0 {
		r, size := decodeRune(text)
		lone := utf16.IsSurrogate(r)
		bad := r == utf8.RuneError && size == 1
		if lone || bad && !broken {
			out.WriteRune(utf8.RuneError)
		}
		if !lone && !bad {
			out.WriteString(text[:size])
		}
		broken = bad
		text = text[size:]
	}
	return out.String()
}
