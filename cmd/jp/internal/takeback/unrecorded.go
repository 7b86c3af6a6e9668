package takeback

import (
	"fmt"
	"slices"

	"jp/worktree"
)

// memory is what is known, step by step, of files that were there before a tool wrote
// them, and that no tree has as they were.
type memory struct {
	gone map[string]bool // that were taken away
	from map[string]int  // seq of the step before which nobody knows what a path was
}

// meet says before which step nobody knows what a path was that the step made; 0 where
// that is known: there was none. What was taken away earlier may have come back, and
// what has another name may be such a file.
func (k *memory) meet(s Step, m worktree.Step) int {
	none := worktree.Version{}
	if !s.Ours || m.Before != none || m.After == none {
		return 0
	}
	seq := 0
	switch {
	case s.UnrecordedMore, k.gone[m.Path], slices.Contains(s.Unrecorded, m.Path):
		seq = s.Seq
	default:
		for _, other := range s.Moves {
			if other.After == none && other.Before.OID == m.After.OID {
				seq = max(seq, k.from[other.Path])
			}
		}
	}
	delete(k.gone, m.Path)
	k.from[m.Path] = seq
	return seq
}

// end closes a step.
func (k *memory) end(s Step) {
	for _, path := range s.Gone {
		k.gone[path] = true
	}
}

// unrecorded says why a path cannot be what it was before the event from, "" where
// that is known.
func (m move) unrecordedSince(from int) string {
	switch {
	case !m.ours || m.unrecorded == 0 || m.unrecorded < from:
		return ""
	case m.more:
		return fmt.Sprintf("@%d changed more files that were there before than it lists; this may be one", m.unrecorded)
	}
	return fmt.Sprintf("it was there before @%d, and what it held then is not recorded", m.unrecorded)
}
