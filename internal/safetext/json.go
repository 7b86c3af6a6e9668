package safetext

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON gives JSON of the same meaning that is safe to print: a character that
// a terminal obeys, or that reorders or hides text, is written as its code. In valid
// JSON these characters stand in strings only. The text must hold whole characters.
func EscapeJSON(text []byte) []byte {
	if bytes.IndexFunc(text, coded) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !coded(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

func coded(r rune) bool { return r >= 0x7f && r < 0xa0 || hides(r) }
