package conversation

import (
	"strings"
	"unicode"
)

// firstLine is the first line with text in it, in at most n columns.
func firstLine(text string, n int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Map(printable, line))
		if line != "" {
			return Shorten(line, n)
		}
	}
	return ""
}

// printable drops the runes that must not reach a terminal or a list.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar:
		return -1
	}
	return r
}

// Shorten cuts a line at a word so that it takes at most n columns, with "…" for the rest.
func Shorten(line string, n int) string {
	if columns(line) <= n {
		return line
	}
	end, width := 0, 0
	for i, r := range line {
		if width += runeColumns(r); width > n-1 {
			end = i
			break
		}
	}
	cut := line[:end]
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ") + "…"
}

// columns is the width of a line in a terminal. It is at least the number of runes: combining marks count, so
// that every line is bounded.
func columns(line string) int {
	n := 0
	for _, r := range line {
		n += runeColumns(r)
	}
	return n
}

// wide are the characters that take two columns.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0x33ff, Stride: 1},
		{Lo: 0x3400, Hi: 0x4dbf, Stride: 1}, {Lo: 0x4e00, Hi: 0xa4cf, Stride: 1}, {Lo: 0xa960, Hi: 0xa97c, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18cff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func runeColumns(r rune) int {
	if unicode.Is(wide, r) {
		return 2
	}
	return 1
}
