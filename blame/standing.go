package blame

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/trees"
)

// mostStanding is how many bytes of files are read. Tests lower it.
var mostStanding = 64 << 20

// mostTexts is how many lines of others stay in memory.
const mostTexts = 1 << 20

// A standing counts the lines of a tree's files, except blank lines and ends of blocks. It goes from tree to
// tree, since conversations begin at trees that differ little.
type standing struct {
	tree  string
	texts map[uint64]int32
	blobs map[string]int32
	read  map[string]int32 // those of the blobs that texts counts
	bytes int              // of these
}

// move goes to another tree. It skips files that are gone, large, or too many together: lines that a program
// copied from such a file count as the agent's.
func (s *standing) move(ctx context.Context, r trees.Reader, tree string) {
	if s.tree == "" {
		*s = standing{gitcmd.SHA1.EmptyTree(), map[uint64]int32{}, map[string]int32{}, map[string]int32{}, 0}
	}
	changes, err := r.DiffTrees(ctx, s.tree, tree)
	if err != nil {
		*s = standing{}
		return
	}
	for _, c := range changes {
		for i, v := range []trees.Version{c.Before, c.After} {
			sign := int32(2*i - 1)
			if !regular(v) {
				continue
			}
			if s.blobs[v.OID] += sign; s.blobs[v.OID] == 0 {
				delete(s.blobs, v.OID)
			}
			if sign > 0 && s.bytes > mostStanding || sign < 0 && s.read[v.OID] == 0 {
				continue
			}
			data, err := r.Blob(ctx, v.OID)
			if err != nil || len(data) > largest || bytes.IndexByte(data, 0) >= 0 {
				continue
			}
			if s.read[v.OID] += sign; s.read[v.OID] == 0 {
				delete(s.read, v.OID)
			}
			s.bytes += int(sign) * len(data)
			s.count(string(data), sign)
		}
	}
	s.tree = tree
}

func (s *standing) count(text string, sign int32) {
	for text := range strings.Lines(text) {
		l := lineOf(text)
		if l.kind != wordy {
			continue
		}
		if s.texts[l.key] += sign; s.texts[l.key] <= 0 {
			delete(s.texts, l.key)
		}
	}
}

// A copier tells the lines that an agent wrote from those that it took from others.
type copier struct {
	ground *standing
	others map[uint64]bool  // further lines of others, from the first event on
	mine   map[uint64]int32 // the numbers of the agent's lines
}

// keep remembers a line of others, unless the agent had it first.
func (c *copier) keep(l line) {
	if _, mine := c.mine[l.key]; !mine && l.kind == wordy && len(c.others) < mostTexts {
		c.others[l.key] = true
	}
}

// stood reports whether others have, or had, such a line.
func (c *copier) stood(l line) bool {
	return l.kind == wordy && (c.others[l.key] || c.ground.texts[l.key] > 0)
}

// telling reports whether others have such a line at one or two places.
func (c *copier) telling(l line) bool {
	return l.weight > 0 && c.stood(l) && c.ground.texts[l.key] < 3
}

// taken reports which of consecutive new lines are others': all, if none of them is new and they are few or a
// program wrote them. A program may also have taken some consecutive ones that say enough to exclude an accident.
func (c *copier) taken(lines []line, program bool) []bool {
	is := make([]bool, len(lines))
	take := func(begin, end int) {
		for i := begin; i < end; i++ {
			is[i] = true
		}
	}
	if !slices.ContainsFunc(lines, func(l line) bool { return l.kind == wordy && !c.stood(l) }) {
		if program || len(lines) < enoughLines {
			take(0, len(lines))
		}
		return is
	}
	for begin := 0; begin < len(lines) && program; begin++ {
		end, telling, weight := begin, 0, 0
		for ; end < len(lines) && (lines[end].kind != wordy || c.stood(lines[end])); end++ {
			if c.telling(lines[end]) {
				telling, weight = telling+1, weight+int(lines[end].weight)
			}
		}
		if weight >= enoughWeight || telling > 0 && end-begin >= enoughLines {
			take(begin, end)
		}
		begin = end
	}
	return is
}
