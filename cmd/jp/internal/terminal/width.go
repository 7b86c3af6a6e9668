package terminal

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"jp/internal/safetext"
)

// DefaultWidth is the width in columns if it is unknown.
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

// Sized reports whether the size of a terminal is known.
func Sized(f *os.File) bool {
	columns, rows, err := term.GetSize(int(f.Fd()))
	return err == nil && columns > 0 && rows > 0
}

// Rows is how many rows a terminal has, 24 if that is unknown.
func Rows(stream *os.File) int {
	if stream != nil {
		if _, rows, err := term.GetSize(int(stream.Fd())); err == nil && rows > 0 {
			return rows
		}
	}
	return 24
}

// RowsOf is how many rows the lines of a text take, an empty text one.
func RowsOf(text string, width int) (rows int) {
	for line := range strings.SplitSeq(text, "\n") {
		rows++
		if columns := safetext.Columns(line); columns > width && width > 0 {
			rows += (columns - 1) / width
		}
	}
	return rows
}

// pad fills a text up with spaces.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(columns-safetext.Columns(text), 0))
	if right {
		return space + text
	}
	return text + space
}
