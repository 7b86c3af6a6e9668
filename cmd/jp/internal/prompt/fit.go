package prompt

import (
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
// unchanged lines are folded first, then removed ones.
func (f bodyFit) difference(changes []terminal.Change, most int) []string {
	for _, marks := range []string{"", " ", " -"} {
		if rows, hidden := f.cut(fold(changes, marks), most); hidden == "" {
			return rows
		}
	}
	rows, hidden := f.cut(fold(changes, " -"), most-1)
	return append(rows, strings.Repeat(" ", f.drawing.Margin)+f.drawing.Palette.Yellow(hidden+f.hint))
}

// fold puts one line in the place of each run of lines that have one of the marks.
func fold(changes []terminal.Change, marks string) (lines []terminal.Change) {
	for i := 0; i < len(changes); {
		mark, end := changes[i].Mark, i+1
		if strings.IndexByte(marks, mark) >= 0 {
			for end < len(changes) && changes[end].Mark == mark {
				end++
			}
		}
		if n := end - i; n > 1 {
			lines = append(lines, terminal.Folded(n, map[byte]string{' ': "unchanged", '-': "removed"}[mark]))
		} else {
			lines = append(lines, changes[i])
		}
		i = end
	}
	return lines
}

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
		added := 0
		for _, c := range changes[i:] {
			if c.Mark == '+' {
				added++
			}
		}
		if added > 0 {
			return rows, conversation.Count(added, "added line") + " hidden"
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
