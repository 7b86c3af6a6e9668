package terminal

import (
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// DefaultWidth is the width in columns where nothing says another.
const DefaultWidth = 80

// Width is how many columns a stream has: as the terminal says, else $COLUMNS,
// else [DefaultWidth].
func Width(stream *os.File, environ []string) int {
	if stream != nil {
		if columns, _, err := term.GetSize(int(stream.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	if columns, err := strconv.Atoi(variable(environ, "COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return DefaultWidth
}

// Rows is how many rows a terminal has, 24 where it does not say.
func Rows(stream *os.File) int {
	if stream != nil {
		if _, rows, err := term.GetSize(int(stream.Fd())); err == nil && rows > 0 {
			return rows
		}
	}
	return 24
}

// Columns is how many columns a text takes, colours not counted.
func Columns(text string) int { return ansi.StringWidth(text) }

// Fit cuts a line to a number of columns, with … at the cut.
func Fit(line string, columns int) string {
	return ansi.Truncate(line, max(columns, 0), "…")
}

// pad fills a text up with spaces.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(columns-Columns(text), 0))
	if right {
		return space + text
	}
	return text + space
}
