package tool

import (
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// UnifiedDiff is the unified difference of two texts with three lines of context, and the numbers of added and deleted
// lines. It is "" if the texts are equal. The names head it.
func UnifiedDiff(nameBefore, nameAfter, before, after string) (text string, added, deleted int) {
	unified, err := udiff.ToUnifiedDiff(nameBefore, nameAfter, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil || len(unified.Hunks) == 0 {
		return "", 0, 0
	}
	for _, hunk := range unified.Hunks {
		hunk.ToLine = hunk.FromLine + added - deleted // the library leaves out lines between two changes of a hunk
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				deleted++
			}
		}
	}
	return fmt.Sprint(unified), added, deleted
}
