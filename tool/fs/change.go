package fs

import (
	"fmt"

	"jp/tool"
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
	var c change
	c.diff, c.added, c.deleted = tool.UnifiedDiff(path, path, string(before), string(after))
	return c
}

// effect is the change in a few columns: "+7 -3".
func (c change) effect() string { return fmt.Sprintf("+%d -%d", c.added, c.deleted) }
