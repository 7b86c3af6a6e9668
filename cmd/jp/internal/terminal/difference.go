package terminal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"jp/internal/safetext"
)

// A Change is one line of a difference.
type Change struct {
	Mark   byte // '+', '-' or ' '; '…' lines that are folded have 0
	Number int  // of the line, in the file as it is after the change; of a removed one before it
	Text   string
}

// hunk begins a part of a difference.
var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// Changes reads a unified difference of one file; nil for another text.
func Changes(text string) (changes []Change) {
	before, after, within := 0, 0, false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if m := hunk.FindStringSubmatch(line); m != nil {
			before, _ = strconv.Atoi(m[1])
			after, _ = strconv.Atoi(m[2])
			within = true
			continue
		}
		if !within {
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") {
				return nil
			}
			continue
		}
		mark, rest := byte(' '), ""
		if line != "" {
			mark, rest = line[0], line[1:]
		}
		switch mark {
		case '+':
			changes = append(changes, Change{'+', after, rest})
			after++
		case '-':
			changes = append(changes, Change{'-', before, rest})
			before++
		case ' ':
			changes = append(changes, Change{' ', after, rest})
			before, after = before+1, after+1
		}
	}
	return changes
}

// Brief is what changes, without the lines around it, in at most some rows: first the removed lines of
// each change are folded to two rows, then the last rows are counted.
func Brief(changes []Change, most int) (brief []Change) {
	for _, c := range changes {
		if c.Mark != ' ' {
			brief = append(brief, c)
		}
	}
	if len(brief) > most {
		brief = foldRemoved(brief)
	}
	if n := len(brief) - most; n > 1 { // one row takes no more room than its count
		rest := 0
		for _, c := range brief[most-1:] {
			rest += max(1, -c.Number)
		}
		brief = append(brief[:most-1:most-1], folded(rest, "more"))
	}
	return brief
}

// foldRemoved keeps the first of each run of removed lines.
func foldRemoved(changes []Change) (brief []Change) {
	for i := 0; i < len(changes); {
		end := i
		for end < len(changes) && changes[end].Mark == '-' {
			end++
		}
		switch n := end - i; {
		case n > 2:
			brief = append(brief, changes[i], folded(n-1, "lines"))
		case n > 0:
			brief = append(brief, changes[i:end]...)
		default:
			brief = append(brief, changes[i])
			end++
		}
		i = end
	}
	return brief
}

// folded stands for a number of lines.
func folded(n int, what string) Change {
	return Change{0, -n, fmt.Sprintf("… %d %s", n, what)}
}

// ShowChanges draws changes behind a margin, each in one row of the width; 0: as long as it is.
func ShowChanges(changes []Change, margin, width int, p Palette) (rows []string) {
	digits := 1
	for _, c := range changes {
		digits = max(digits, len(strconv.Itoa(c.Number)))
	}
	lead := strings.Repeat(" ", margin)
	for _, c := range changes {
		if c.Mark == 0 {
			rows = append(rows, lead+p.Dim(strings.Repeat(" ", digits+1)+c.Text))
			continue
		}
		text := string(c.Mark) + " " + strings.ReplaceAll(safetext.Clean(c.Text), "\t", "    ")
		if width > 0 {
			text = safetext.Fit(text, max(width-margin-digits-1, 1))
		}
		rows = append(rows, lead+p.Dim(fmt.Sprintf("%*d ", digits, c.Number))+p.Change(text))
	}
	return rows
}
