package safetext

import (
	"io"
	"slices"
	"strings"
	"unicode"
)

// ForModel is text without the characters that people do not see and models read: control sequences, control
// characters, marks that reorder or hide, tags, selectors.
func ForModel(text string) string {
	if harmless(text) {
		return text
	}
	var b strings.Builder
	c := NewStripper(&b)
	_, _ = io.WriteString(c, text)
	_ = c.Close()
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case Hidden(r):
			return -1
		}
		return r
	}, b.String())
}

// fillers count as printable, but are invisible.
var fillers = []rune{0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0}

// Hidden reports whether a character is invisible to people. A newline and a tab are visible.
func Hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		slices.Contains(fillers, r)
}
