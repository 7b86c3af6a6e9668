package fs

import (
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// diffLimit is the size in bytes above which texts are too large to compare.
const diffLimit = 2 << 20

// A change is the effect of an operation on one file's text.
type change struct {
	diff           string // unified; "" if the texts are too large or equal
	added, deleted int    // lines
}

// compare finds the differences between two texts of a file.
func compare(path string, before, after []byte) change {
	if len(before) > diffLimit || len(after) > diffLimit {
		return change{added: lines(after), deleted: lines(before)}
	}
	old := string(before)
	unified, err := udiff.ToUnifiedDiff(path, path, old, udiff.Lines(old, string(after)), udiff.DefaultContextLines)
	if err != nil || len(unified.Hunks) == 0 {
		return change{}
	}
	var c change
	for _, hunk := range unified.Hunks {
		hunk.ToLine = hunk.FromLine + c.added - c.deleted // the library leaves out lines between two changes of a hunk
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				c.added++
			case udiff.Delete:
				c.deleted++
			}
		}
	}
	c.diff = fmt.Sprint(unified)
	return c
}

// effect is the change in a few columns: "+7 -3".
func (c change) effect() string { return fmt.Sprintf("+%d -%d", c.added, c.deleted) }
