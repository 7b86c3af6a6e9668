package safetext

import (
	"fmt"
	"strings"
)

// Reveal makes text safe to print as [Clean] does, but keeps everything: it shows control characters as ^[
// and ^G, or <U+009B>. It is for texts that a person judges by reading them, such as a change of a file:
// programs read the characters that a terminal hides. The carriage return that ends a line is part of its
// end.
func Reveal(text string) string {
	if harmless(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		switch {
		case r == '\t' || r == '\n':
			b.WriteRune(r)
		case r == '\r' && (i+1 == len(text) || text[i+1] == '\n'):
		case r < 0x20 || r == 0x7f:
			b.WriteByte('^')
			b.WriteRune(r ^ 0x40)
		case r >= 0x80 && r < 0xa0 || hides(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// RevealOutput is [Reveal] for the output of a program: it removes colours, which many print.
func RevealOutput(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return Reveal(text)
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return Reveal(b.String())
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789;:", r) })
		if end < 0 || rest[end] != 'm' {
			b.WriteString("\x1b[")
			text = rest
			continue
		}
		text = rest[end+1:]
	}
}
