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
	shownInstructionLines = 16
	shownInstructionText  = 160
)

// DifferenceText shows how a text differs from an earlier one, in a few lines.
func DifferenceText(was, is string) string {
	var lines []string
	for line := range strings.Lines(udiff.Unified("committed", "now", was, is)) {
		if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
			continue
		}
		lines = append(lines, "  "+safetext.Bound(safetext.Clean(strings.TrimRight(line, "\r\n")), shownInstructionText)+"\n")
	}
	if more := len(lines) - shownInstructionLines; more > 0 {
		lines = append(lines[:shownInstructionLines], fmt.Sprintf("  … and %s\n", conversation.Count(more, "more line")))
	}
	return strings.Join(lines, "")
}
