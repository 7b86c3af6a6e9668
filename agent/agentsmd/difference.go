package agentsmd

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"jp/conversation"
	"jp/internal/safetext"
)

// How much of a difference is shown where the user is asked: lines, and bytes of each.
const (
	shownLines = 16
	shownText  = 160
)

// Text shows how the file differs from the committed one: all of it.
func (d Difference) Text() string { return strings.Join(d.lines(), "") }

// Short is Text in a few lines.
func (d Difference) Short() string {
	lines := d.lines()
	for i, line := range lines {
		lines[i] = safetext.Bound(strings.TrimSuffix(line, "\n"), shownText) + "\n"
	}
	if more := len(lines) - shownLines; more > 0 {
		lines = append(lines[:shownLines], fmt.Sprintf("  … and %s; all of it: jp trust --instructions --show\n", conversation.Count(more, "more line")))
	}
	return strings.Join(lines, "")
}

func (d Difference) lines() (lines []string) {
	was := ""
	if d.Committed != nil {
		was = d.Committed.Text
	}
	for line := range strings.Lines(udiff.Unified("committed", "now", was, d.File.Text)) {
		if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, `\ No newline`) {
			lines = append(lines, "  "+safetext.Clean(strings.TrimRight(line, "\r\n"))+"\n")
		}
	}
	return lines
}
