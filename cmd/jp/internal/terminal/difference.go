package terminal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

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
	words := changedWords(changes)
	for i, c := range changes {
		if c.Mark == 0 {
			rows = append(rows, lead+p.Dim(strings.Repeat(" ", digits+1)+c.Text))
			continue
		}
		text, room := shownLine(c), 0
		if width > 0 {
			room = max(width-margin-digits-1, 1)
			text = safetext.Fit(text, room)
		}
		rows = append(rows, lead+p.Dim(fmt.Sprintf("%*d ", digits, c.Number))+p.Changed(c.Mark, text, words[i][0], words[i][1], room))
	}
	return rows
}

// shownLine is a line with its mark, as a terminal shows it.
func shownLine(c Change) string {
	return string(c.Mark) + " " + strings.ReplaceAll(safetext.Clean(c.Text), "\t", "    ")
}

// changedWords are for each change the bytes of its shown line between which it differs from its pair: a removed line and the
// added one in its place, if as many lines are added as removed.
func changedWords(changes []Change) (words [][2]int) {
	words = make([][2]int, len(changes))
	run := func(from int, mark byte) (end int) {
		for end = from; end < len(changes) && changes[end].Mark == mark; end++ {
		}
		return end
	}
	for i := 0; i < len(changes); {
		added := run(i, '-')
		end := run(added, '+')
		for k := 0; added-i == end-added && k < added-i; k++ {
			words[i+k], words[added+k] = between(shownLine(changes[i+k]), shownLine(changes[added+k]))
		}
		i = max(end, i+1)
	}
	return words
}

// between are the places between which two lines differ behind their marks, at the ends of words. Lines with too little in
// common differ nowhere in particular.
func between(removed, added string) (was, is [2]int) {
	const mark = 2 // bytes
	same := func(a, b string) (n int) {
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		return n
	}
	head := mark + same(removed[mark:], added[mark:])
	for head > mark && (wordAt(removed, head-1) && (wordAt(removed, head) || wordAt(added, head)) || !utf8.RuneStart(at(removed, head)) || !utf8.RuneStart(at(added, head))) {
		head--
	}
	tail := 0
	for tail < min(len(removed), len(added))-head && removed[len(removed)-1-tail] == added[len(added)-1-tail] {
		tail++
	}
	for tail > 0 && (wordAt(removed, len(removed)-tail) && (wordAt(removed, len(removed)-tail-1) || wordAt(added, len(added)-tail-1)) || !utf8.RuneStart(removed[len(removed)-tail])) {
		tail--
	}
	if common := len(strings.TrimSpace(removed[mark:head])) + len(strings.TrimSpace(removed[len(removed)-tail:])); 3*common < min(len(removed), len(added))-mark {
		return was, is
	}
	return [2]int{head, len(removed) - tail}, [2]int{head, len(added) - tail}
}

// wordAt reports whether a byte is a letter, a digit or a part of a longer character.
func wordAt(line string, i int) bool {
	c := at(line, i)
	return c >= utf8.RuneSelf || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func at(line string, i int) byte {
	if i < 0 || i >= len(line) {
		return 0
	}
	return line[i]
}
