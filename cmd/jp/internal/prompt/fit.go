package prompt

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

// A bodyFit is the part of a body that is shown in some rows, line by line.
type bodyFit struct {
	palette terminal.Palette
	columns int
	differs bool   // the body is a difference
	hint    string // how all of it is shown, "" where it cannot be
}

// rows is as much of a body as fits so many rows, and a last row that counts the lines that do not. Of a
// difference, unchanged lines are folded first, then removed ones.
func (f bodyFit) rows(body []string, most int) []string {
	for _, fold := range []string{"", " ", " -"} {
		if !f.differs && fold != "" {
			break
		}
		rows, hidden := f.cut(f.fold(body, fold), most)
		if hidden == "" {
			return rows
		}
	}
	fold := ""
	if f.differs {
		fold = " -"
	}
	rows, hidden := f.cut(f.fold(body, fold), most-1)
	return append(rows, "  "+hidden)
}

// fold puts one line in the place of each run of lines that begin with one of the marks.
func (f bodyFit) fold(body []string, marks string) []string {
	if marks == "" {
		return body
	}
	var lines []string
	for i := 0; i < len(body); {
		mark, end := lead(body[i]), i+1
		if strings.Contains(marks, mark) {
			for end < len(body) && lead(body[end]) == mark {
				end++
			}
		}
		if n := end - i; n > 1 {
			lines = append(lines, fmt.Sprintf("%s… %d %s", mark, n, map[string]string{" ": "unchanged", "-": "removed"}[mark]))
		} else {
			lines = append(lines, body[i])
		}
		i = end
	}
	return lines
}

func lead(line string) string {
	if line == "" {
		return " "
	}
	return line[:1]
}

// cut is the rows of the first lines, and which lines they do not show whole: "" if there are none.
func (f bodyFit) cut(body []string, most int) (rows []string, hidden string) {
	for i, line := range body {
		next := f.wrapped(line)
		if len(rows)+len(next) <= most {
			rows = append(rows, next...)
			continue
		}
		if room := most - len(rows); len(next) > 1 && room > 0 {
			rows = append(rows, next[:room]...)
		}
		added := 0
		for _, line := range body[i:] {
			if f.differs && lead(line) == "+" {
				added++
			}
		}
		if added > 0 {
			return rows, f.palette.Yellow(conversation.Count(added, "added line") + " hidden" + f.hint)
		}
		return rows, f.palette.Yellow(conversation.Count(len(body)-i, "line") + " hidden" + f.hint)
	}
	return rows, ""
}

// wrapped is the rows of a line. One that is approved is never cut off; unchanged and removed ones are.
func (f bodyFit) wrapped(line string) (rows []string) {
	line = strings.ReplaceAll(line, "\t", "    ")
	room := max(f.columns-2, 1)
	mark := lead(line)
	if safetext.Columns(line) <= room || f.differs && mark != "+" {
		line = safetext.Fit(line, room)
		if !f.differs {
			return []string{"  " + f.palette.Change(line)}
		}
		return []string{"  " + f.palette.Changed(mark[0], line, 0, 0, room)}
	}
	if !f.differs {
		mark = ""
	}
	for i, row := range strings.Split(ansi.Hardwrap(strings.TrimPrefix(line, mark), max(room-len(mark), 1), true), "\n") {
		switch {
		case mark == "":
		case i == 0:
			row = f.palette.Changed('+', mark+row, 0, 0, room)
		default:
			row = f.palette.Changed('+', " "+row, 0, 0, room)
		}
		rows = append(rows, "  "+row)
	}
	return rows
}
