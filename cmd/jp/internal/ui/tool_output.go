package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// gap is the line of a result that stands for the lines that jp left out of it.
var gap = lazy.Regexp(`^\[jp left out lines (\d+) to (\d+) here, `)

// leftOut is how many lines the gap among the lines stands for, without its own.
func leftOut(lines []string) int {
	for _, line := range lines {
		if m := gap().FindStringSubmatch(line); m != nil {
			first, err := strconv.Atoi(m[1])
			last, err2 := strconv.Atoi(m[2])
			if err == nil && err2 == nil && first <= last {
				return last - first
			}
		}
	}
	return 0
}

// withHint puts a hint behind a line, or below it if both do not fit the width.
func withHint(line, hint string, width int) []string {
	if width > 0 && safetext.Columns(line)+3+safetext.Columns(hint) > width {
		return []string{line, strings.Repeat(" ", 6) + hint}
	}
	return []string{line + "   " + hint}
}

// withoutOutput reports whether, by the subject of a response, its tool was not run or its result is
// unknown: then the text is jp's, for the model.
func withoutOutput(subject string) bool {
	for _, words := range []string{": not run: ", ": declined by ", ": denied by a hook", ": outcome unknown"} {
		if strings.Contains(subject, words) {
			return true
		}
	}
	return false
}

// saysAll reports whether the subject of a response has all of the output.
func saysAll(subject string, lines []string) bool {
	_, why, isError := strings.Cut(subject, ": error: ")
	return len(lines) == 0 || len(lines) == 1 && (strings.Contains(subject, lines[0]) || isError && strings.HasSuffix(lines[0], why))
}

// withoutEnding leaves out the line about the program's end, since the subject has it, and the line
// below with advice for the model.
func withoutEnding(lines []string) []string {
	for i := len(lines) - 1; i >= max(0, len(lines)-2); i-- {
		digits, found := strings.CutPrefix(lines[i], "exit status ")
		if found && digits != "" && strings.Trim(digits, "0123456789") == "" {
			return lines[:i]
		}
	}
	return lines
}

// marginal is lines some columns from the margin, broken between words if they are longer than a
// terminal of that width. A width of 0 breaks none.
func marginal(lines []string, margin, width int) (shown []string) {
	for _, line := range lines {
		line = strings.TrimRight(strings.Repeat(" ", margin)+strings.ReplaceAll(line, "\t", "    "), " ")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		shown = append(shown, strings.Split(terminal.WrapBelow(line, min(indent, max(width/3, margin)), width), "\n")...)
	}
	return shown
}

// output prints a tool's output, as far as jp kept it.
func (t *Turn) output(e *conversation.Event, b *conversation.ToolCallResponse) {
	for _, line := range marginal(safetext.Lines(safetext.Shown(t.view.View.Output(context.Background(), e, b.Content))), 4, t.width()) {
		fmt.Fprintln(t.out, t.palette.Dim(line))
	}
}
