package safetext

import (
	"github.com/charmbracelet/x/ansi"
)

// Columns is how many columns a text takes, colours not counted.
func Columns(text string) int { return ansi.StringWidth(text) }

// Fit cuts a line to a number of columns, with … at the cut.
func Fit(line string, columns int) string {
	return ansi.Truncate(line, max(columns, 0), "…")
}
