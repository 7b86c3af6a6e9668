package undo

import (
	"fmt"
	"path"
	"slices"

	"jp/worktree"
)

// memory is the knowledge, step by step, about files that were there before a tool wrote them, in a state
// that no tree has.
type memory struct {
	gone  map[string]bool // that were taken away
	more  bool            // more than these were
	since map[string]int  // seq of the step before which a path's content is unknown
}

// meet gives for each move of a step the step before which the path is unknown, or 0 if it was certainly
// absent. A path that was removed earlier may have come back, and one under another name may be such a file.
// may marks the uncertain ones.
func (k *memory) meet(s step) (since []int, may []bool) {
	moved := moves(s.Moves)
	lost := 0 // since when a file's fate is unknown
	for _, m := range s.Moves {
		switch {
		case m.After != none:
		case s.Ours && slices.Contains(s.Unrecorded, m.Path):
			lost = s.Seq
		default:
			lost = max(lost, k.since[m.Path])
		}
	}
	if len(s.Gone) > 0 || s.UnrecordedMore || k.more {
		lost = s.Seq
	}
	made := map[string]int{}
	cut := s.cutShort()
	for _, m := range s.Moves {
		seq, uncertain := 0, false
		switch listed := slices.Contains(s.Unrecorded, m.Path); {
		case s.Ours && m.Before != none && (listed || cut):
			seq, uncertain = s.Seq, !listed
			made[m.Path] = seq
		case s.Ours && m.Before == none && m.After != none:
			was, known := moved[m.Path]
			switch {
			case k.gone[m.Path], listed:
				seq = s.Seq
			case known && (len(s.Gone) == 0 || path.Base(was) == path.Base(m.Path)):
				seq = k.since[was]
			default:
				seq, uncertain = lost, lost > 0
			}
			made[m.Path] = seq
		}
		since, may = append(since, seq), append(may, uncertain)
	}
	for path, seq := range made {
		k.since[path] = seq
		delete(k.gone, path)
	}
	for _, path := range s.Gone {
		k.gone[path] = true
	}
	k.more = k.more || s.GoneMore
	return since, may
}

// cutShort reports whether the list of unrecorded paths may lack files that were in the tree before: those
// come first in it.
func (s step) cutShort() bool {
	return s.UnrecordedMore && len(s.Unrecorded) > 0 && !slices.ContainsFunc(s.Moves, func(m worktree.Step) bool {
		return m.Before == none && slices.Contains(s.Unrecorded, m.Path)
	})
}

// none is the state of an absent file.
var none = worktree.Version{}

// moves pairs new files with missing ones.
func moves(steps []worktree.Step) map[string]string {
	changes := make([]worktree.Change, len(steps))
	for i, m := range steps {
		changes[i] = worktree.Change{Path: m.Path, Before: m.Before.OID, After: m.After.OID}
	}
	return worktree.Moves(changes)
}

// unrecordedSince is the reason why a path cannot return to its state before the event from, "" if that state
// is known.
func (m move) unrecordedSince(from int) string {
	switch {
	case !m.ours || m.unrecorded == 0 || m.unrecorded < from:
		return ""
	case m.may:
		return fmt.Sprintf("it may have been there before @%d, under this name or another, and what it held then is not recorded", m.unrecorded)
	}
	return fmt.Sprintf("it was there before @%d, under this name or another, and what it held then is not recorded", m.unrecorded)
}
