package prompt

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// A bodyFit is the part of a body that is shown in some rows, line by line.
type bodyFit struct {
	drawing terminal.Drawing // whose margin and width hold for each body
	hint    string           // how all of it is shown, "" if it cannot be
}

// difference is as much of a difference as fits so many rows, and a last row that counts the lines that do not:
// unchanged lines are folded first, then, if others are added, removed ones.
func (f bodyFit) difference(changes []terminal.Change, most int) []string {
	all := []string{"", " ", " -"}
	if !slices.ContainsFunc(changes, func(c terminal.Change) bool { return c.Mark == '+' }) {
		all = all[:2]
	}
	for _, marks := range all {
		if rows, hidden := f.cut(fold(changes, marks), most); hidden == "" {
			return rows
		}
	}
	rows, hidden := f.cut(fold(changes, all[len(all)-1]), most-1)
	return append(rows, strings.Repeat(" ", f.drawing.Margin)+f.drawing.Palette.Yellow(hidden+f.hint))
}

// fold puts one line in the place of each run of lines that have one of the marks, with the gaps between them.
func fold(changes []terminal.Change, marks string) (lines []terminal.Change) {
	for i := 0; i < len(changes); {
		counts, end := map[byte]int{}, i
		for ; end < len(changes) && marks != "" && (strings.IndexByte(marks, changes[end].Mark) >= 0 || changes[end].Text == gap && changes[end].Mark == 0); end++ {
			counts[changes[end].Mark]++
		}
		switch {
		case end-i <= 1:
			lines, end = append(lines, changes[i]), i+1
		case counts['-'] > 0:
			lines = append(lines, terminal.Folded(counts['-'], "removed"))
		case counts[0] > 0:
			lines = append(lines, terminal.Change{Text: gap})
		default:
			lines = append(lines, terminal.Folded(counts[' '], "unchanged"))
		}
		i = end
	}
	return lines
}

// gap stands between two parts of a difference.
const gap = "…"

// cut is the rows of the first changes, and which lines they do not show whole: "" if there are none.
func (f bodyFit) cut(changes []terminal.Change, most int) (rows []string, hidden string) {
	for i, next := range f.drawing.Rows(changes[:min(len(changes), max(most, 0)+1)]) { // each has a row at least
		if len(rows)+len(next) <= most {
			rows = append(rows, next...)
			continue
		}
		if room := most - len(rows); len(next) > 1 && room > 0 {
			rows = append(rows, next[:room]...)
		}
		counts := map[byte]int{}
		for _, c := range changes[i:] {
			counts[c.Mark]++
		}
		switch {
		case counts['+'] > 0:
			return rows, conversation.Count(counts['+'], "added line") + " hidden"
		case counts['-'] > 0:
			return rows, conversation.Count(counts['-'], "removed line") + " hidden"
		}
		return rows, conversation.Count(len(changes)-i, "line") + " hidden"
	}
	return rows, ""
}

// text is as much of a text as fits so many rows, and a last row that counts the lines that do not.
func (f bodyFit) text(lines []string, most int) (rows []string) {
	lead, room := strings.Repeat(" ", f.drawing.Margin), max(f.drawing.Width-f.drawing.Margin, 1)
	wrapped := make([][]string, len(lines))
	total := 0
	for i, line := range lines {
		wrapped[i] = strings.Split(ansi.Hardwrap(strings.ReplaceAll(line, "\t", "    "), room, true), "\n")
		total += len(wrapped[i])
	}
	if total > most {
		most--
	}
	for i, next := range wrapped {
		if len(rows)+len(next) > most {
			if kept := most - len(rows); len(next) > 1 && kept > 0 {
				rows = append(rows, f.painted(lead, next[:kept])...)
			}
			return append(rows, lead+f.drawing.Palette.Yellow(conversation.Count(len(lines)-i, "line")+" hidden"+f.hint))
		}
		rows = append(rows, f.painted(lead, next)...)
	}
	return rows
}

func (f bodyFit) painted(lead string, texts []string) (rows []string) {
	for _, text := range texts {
		rows = append(rows, lead+f.drawing.Palette.Change(text))
	}
	return rows
}
