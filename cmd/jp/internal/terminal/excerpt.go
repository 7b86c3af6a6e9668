package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jp/internal/safetext"
)

// Excerpt shows a line of foreign text, made safe as by [Clean], with places in it painted: bytes of
// the line, from and to, in order. A line that is too wide is cut around the first place, with … at
// the cuts, and its tabs are four columns wide. With columns 0 the text stays as it is.
func Excerpt(line string, places [][2]int, paint func(string) string, columns int) string {
	if columns <= 0 {
		shown, _, _ := painted(line, places, paint, safetext.Clean)
		return shown
	}
	line, places = near(line, places, columns)
	shown, from, to := painted(line, places, paint, func(text string) string {
		return strings.ReplaceAll(safetext.Clean(text), "\t", "    ")
	})
	return fitAround(shown, safetext.Columns(shown[:from]), safetext.Columns(shown[:to]), columns)
}

// painted cleans the text in the places and the text between them apart, so that no control sequence
// swallows a place. From and to are the bytes of the first place in the result.
func painted(line string, places [][2]int, paint, clean func(string) string) (shown string, from, to int) {
	var b strings.Builder
	at := 0
	for i, p := range places {
		b.WriteString(clean(line[at:p[0]]))
		if i == 0 {
			from = b.Len()
		}
		b.WriteString(paint(clean(line[p[0]:p[1]])))
		if i == 0 {
			to = b.Len()
		}
		at = p[1]
	}
	b.WriteString(clean(line[at:]))
	return b.String(), from, to
}

// near cuts most of a long line that is too far from the first place to be seen. The result is still
// too long, so that the cuts are marked.
func near(line string, places [][2]int, columns int) (string, [][2]int) {
	const perColumn = 16 // bytes, more than characters need
	first := [2]int{}
	if len(places) > 0 {
		first = places[0]
	}
	reach := perColumn * (columns + 16)
	start := runeStart(line, max(first[0]-reach, 0))
	end := runeStart(line, min(min(first[1], first[0]+reach)+reach, len(line)))
	var kept [][2]int
	for _, p := range places {
		if p[0] >= end {
			break
		}
		kept = append(kept, [2]int{p[0] - start, min(p[1], end) - start})
	}
	return line[start:end], kept
}

// runeStart is the begin of the character that has the byte at an index.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// fitAround cuts a line at both ends so that the columns between from and to
// are seen, as far as there is room.
func fitAround(line string, from, to, columns int) string {
	total := safetext.Columns(line)
	if total <= columns || to < columns {
		return safetext.Fit(line, columns)
	}
	lead := max(columns-(to-from), 0) / 3
	gone := min(from-lead, total-columns+1)
	shown := ansi.TruncateLeft(line, gone, "…")
	for gone < from-lead && safetext.Columns(shown) > columns { // half of a wide character is not gone
		gone++
		shown = ansi.TruncateLeft(line, gone, "…")
	}
	return safetext.Fit(shown, columns)
}
