package safetext

import (
	"fmt"
	"strings"

	"jp/internal/lazy"
)

// blanks are so many spaces that a terminal would show the edge of its window in
// their place.
var blanks = lazy.Regexp(` {9,}`)

// Bound shortens a line for a decision, so that it can neither push its own beginning off the screen nor fake
// lines by blanks: runs of blanks become their number, and the middle of too long a line becomes the number
// of its characters.
func Bound(line string, columns int) string {
	line = blanks().ReplaceAllStringFunc(line, func(run string) string { return fmt.Sprintf("⟨%d blanks⟩", len(run)) })
	if Columns(line) <= columns {
		return line
	}
	runes := []rune(line)
	head, tail := columns*2/3, columns/3
	from, until := 0, len(runes)
	for wide := 0; from < len(runes); from++ {
		if wide += Columns(string(runes[from])); wide > head {
			break
		}
	}
	for wide := 0; until > from; until-- {
		if wide += Columns(string(runes[until-1])); wide > tail {
			break
		}
	}
	return strings.TrimRight(string(runes[:from]), " ") + fmt.Sprintf(" …⟨%d more characters⟩… ", until-from) + strings.TrimLeft(string(runes[until:]), " ")
}
