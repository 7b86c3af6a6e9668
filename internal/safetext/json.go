package safetext

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON gives JSON of the same meaning that is safe to print: a character that
// a terminal obeys, or that reorders or hides text, is written as its code. In valid
// JSON these characters stand in strings only. The text must hold whole characters.
func EscapeJSON(text []byte) []byte {
	at := indexCoded(text)
	if at < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for ; at >= 0; at = indexCoded(text) {
		out = append(out, text[:at]...)
		r, size := utf8.DecodeRune(text[at:])
		text = text[at+size:]
		switch {
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, text...)
}

// indexCoded is the place of the first character that is written as its code, or -1.
func indexCoded(text []byte) int {
	for at := 0; at < len(text); {
		if text[at] < 0x7f { // most are
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if r < 0xa0 || hides(r) {
			return at
		}
		at += size
	}
	return -1
}
