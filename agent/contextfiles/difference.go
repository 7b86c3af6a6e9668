package contextfiles

import (
	"fmt"
	"strings"

	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/tool"
)

// The shown part of a difference in a question: lines, and bytes of each.
const (
	shownLines = 16
	shownText  = 160
)

// Text shows how the file differs from the committed one: all of it.
func (d Difference) Text() string { return strings.Join(append(d.lines(), ""), "\n") }

// Short is Text in a few lines, for a question.
func (d Difference) Short() string {
	lines := d.lines()
	more := len(lines) - shownLines
	text := ""
	for _, line := range lines[:min(len(lines), shownLines)] {
		text += "  " + safetext.Bound(line, shownText) + "\n"
	}
	if more > 0 {
		text += fmt.Sprintf("  … and %s; all of it: %v\n", conversation.Count(more, "more line"), action.TrustRulesShow)
	}
	return text
}

// lines are those of a unified diff, without the two that name the files. They are counted: a line of
// the file may look like one of them.
func (d Difference) lines() (lines []string) {
	was := ""
	if d.Committed != nil {
		was = d.Committed.Text
	}
	named := 2
	unified, _, _ := tool.UnifiedDiff("committed", "now", was, d.File.Text)
	for line := range strings.Lines(unified) {
		if named--; named >= 0 || strings.HasPrefix(line, `\ No newline`) {
			continue
		}
		lines = append(lines, safetext.Clean(strings.TrimRight(line, "\r\n")))
	}
	return lines
}
