package safetext

import (
	"github.com/charmbracelet/x/ansi"
)

// Columns is the width of a text, without colours.
func Columns(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return ansi.StringWidth(text)
		}
	}
	return len(text) // most texts, without asking for graphemes
}

// Fit cuts a line to a number of columns, with … at the cut.
func Fit(line string, columns int) string {
	return ansi.Truncate(line, max(columns, 0), "…")
}
