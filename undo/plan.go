package undo

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"jp/gitcmd"
	"jp/worktree"
)

// afterAll is the Seq of changes after the newest event.
const afterAll = math.MaxInt

// A step is the effect of one event on the files.
type step struct {
	Seq           int  // of the event
	Ours          bool // a tool of the conversation did it, or jp by putting files back
	UnknownAuthor bool // a tool of unknown outcome may have done it, or someone else
	// PutBack says that it was jp, putting files back at the user's word.
	PutBack bool
	Moves   []worktree.Step
	Shared  []string // paths that somebody else wrote meanwhile, too
	// Came lists the paths that git changed with HEAD during the step (see HeadMove):
	// both states are in commits.
	Came     map[string]worktree.Step
	HeadMove string // "from main to topic"
	// Lost are paths that came with HEAD, and that the step removed again.
	Lost []string
	// Committed are paths that were as HEAD had them before the step.
	Committed []string
	// Unrecorded are paths that were there before the step, with content that no tree has: first those that
	// the tree before it has in another state. With UnrecordedMore there are others.
	Unrecorded     []string
	UnrecordedMore bool
	// Gone are paths outside of trees that the step took away.
	Gone     []string
	GoneMore bool // there are others
}

// A history decides which files may be brought back to an earlier snapshot: only files that the conversation's
// tools wrote, and only if their content is still the tools' last one. Content of others, from before, between or
// after, is never taken back: such a file is left alone, with the reason. Files that jp itself put back count as the
// tools' work, so that an undo can be undone. It neither reads nor writes files.
//
// It has the changes of the files, oldest step first, up to now. Steps before the event of the
// decision matter only if they took away files outside of trees (Gone).
type history struct {
	Steps []step
	// Unknown maps paths with unknown content to the reason.
	Unknown map[string]string
}

// A plannedFile is a path that differs from the target, and the decision about it.
type plannedFile struct {
	Path string
	Is   worktree.Version // present state
	To   worktree.Version // state to bring back
	Why  string           // reason to leave it alone; "" if it may be put back
	Note string           // meaning of To, if it differs from the first state
}

// move is the effect of one step on one path.
type move struct {
	seq           int
	ours, shared  bool
	unknownAuthor bool
	putBack       bool
	headMove      string        // the move of HEAD, if the path went with it
	came          worktree.Step // git's change to it then
	committed     bool          // it was as HEAD had it before
	unrecorded    int           // seq of the step before which its content is unknown, or 0
	may           bool          // its presence then is uncertain
	before, after worktree.Version
}

// Before decides for the files as they were just before the tools first wrote
// them, or may have, at or after the event from. Files that are so already are
// left out.
func (h history) Before(from int) []plannedFile {
	var files []plannedFile
	for path, moves := range h.byPath(from) {
		moves = withoutReverted(moves, from)
		at := slices.IndexFunc(moves, func(m move) bool { return (m.ours || m.unknownAuthor) && m.seq >= from })
		if at < 0 {
			continue
		}
		if f, differs := h.judge(path, moves[at:], from); differs {
			files = append(files, f)
		}
	}
	return orderFiles(files)
}

// After decides about the files as they were after the event seq. With paths, which are files or folders, it
// decides only about those. It decides about a named file even if no tool wrote it.
func (h history) After(seq int, paths []string) []plannedFile {
	var files []plannedFile
	for path, moves := range h.byPath(0) {
		moves = withoutReverted(moves, seq+1)
		at := slices.IndexFunc(moves, func(m move) bool { return m.seq > seq })
		if at < 0 || len(paths) > 0 && !worktree.Under(path, paths) {
			continue
		}
		named := slices.Contains(paths, path)
		if !named && !slices.ContainsFunc(moves[at:], func(m move) bool { return m.ours || m.unknownAuthor }) {
			continue
		}
		if named {
			moves = granted(moves)
		}
		if f, differs := h.judge(path, moves[at:], seq+1); differs {
			files = append(files, f)
		}
	}
	return orderFiles(files)
}

// Differing counts the paths, among those given or all, that some author changed at or after the
// event from, and that differ from before it.
func (h history) Differing(from int, paths []string) (n int) {
	for path, moves := range h.byPath(from) {
		if len(paths) > 0 && !worktree.Under(path, paths) {
			continue
		}
		if _, differs := h.judge(path, moves, from); differs {
			n++
		}
	}
	return n
}

// orderFiles sorts the files. It leaves one that would be deleted if it may be the only copy of another one,
// which was moved there and cannot be put back.
func orderFiles(files []plannedFile) []plannedFile {
	slices.SortFunc(files, func(a, b plannedFile) int { return strings.Compare(a.Path, b.Path) })
	missing := map[string]string{} // by content
	for _, f := range files {
		if f.Why != "" && f.Is.OID != f.To.OID && !gitcmd.IsEmptyBlob(f.To.OID) { // an empty file needs no copy
			missing[f.To.OID] = f.Path
		}
	}
	for _, f := range files {
		if f.Why == "" || f.Is.OID == f.To.OID {
			delete(missing, f.To.OID) // it comes back elsewhere
		}
	}
	for i, f := range files {
		if from := missing[f.Is.OID]; from != "" && f.Why == "" && f.To == (worktree.Version{}) {
			files[i].Why = fmt.Sprintf("it may be all that there is of %s, which is left alone", from)
			delete(missing, f.Is.OID)
		}
	}
	return files
}

// byPath are the moves of each path that has some at or after the event from.
func (h history) byPath(from int) map[string][]move {
	paths := map[string][]move{}
	known := memory{gone: map[string]bool{}, since: map[string]int{}}
	for _, s := range h.Steps {
		since, may := known.meet(s)
		if s.Seq < from {
			continue
		}
		for i, m := range s.Moves {
			done := s.move(m.Path)
			done.unrecorded, done.may, done.before, done.after = since[i], may[i], m.Before, m.After
			paths[m.Path] = append(paths[m.Path], done)
		}
		for _, path := range s.Lost {
			paths[path] = append(paths[path], s.move(path))
		}
	}
	for path := range maps.Keys(h.Unknown) {
		if moves := paths[path]; len(moves) > 0 {
			last := moves[len(moves)-1]
			paths[path] = append(moves, move{seq: afterAll, before: last.after, after: last.after})
		}
	}
	return paths
}

// move is the step's effect on a path, without the unrecorded part.
func (s step) move(path string) move {
	m := move{
		seq: s.Seq, ours: s.Ours, unknownAuthor: s.UnknownAuthor, putBack: s.PutBack, shared: slices.Contains(s.Shared, path),
		committed: slices.Contains(s.Committed, path),
	}
	if came, has := s.Came[path]; has {
		m.headMove, m.came = s.HeadMove, came
	}
	return m
}

// withoutReverted drops changes by others, at or after the event from, that jp later undid: the
// path is again as the tools left it.
func withoutReverted(moves []move, from int) []move {
	var kept []move
	for _, m := range moves {
		others := len(kept) // from here on, none of our tools wrote it
		for others > 0 && !kept[others-1].ours && kept[others-1].seq >= from {
			others--
		}
		at := slices.IndexFunc(kept[others:], func(o move) bool { return m.putBack && o.before == m.after })
		if at < 0 {
			kept = append(kept, m)
			continue
		}
		kept = kept[:others+at]
	}
	return kept
}

// judge decides about a path that is to return to its state before the event from. The moves are those since
// then. differs is false if it is in that state already.
func (h history) judge(path string, moves []move, from int) (f plannedFile, differs bool) {
	f = plannedFile{Path: path, To: moves[0].before, Is: moves[len(moves)-1].after}
	if why := h.Unknown[path]; why != "" {
		f.Why = "what it is now is not recorded: " + why
		return f, true
	}
	if f, differs, ok := h.judgeFromHead(f, moves, from); ok {
		return f, differs
	}
	if f.Is == f.To {
		for _, m := range moves {
			f.Why = cmp.Or(f.Why, m.unrecordedSince(from), m.appeared())
		}
		return f, f.Why != "" && f.Is == (worktree.Version{})
	}
	f.Why = interference(moves, from, f.Is)
	return f, true
}

// judgeFromHead decides about a path that came with HEAD at some of the moves: its target is its newest
// content with HEAD. ok is false if its earlier content is outside of all commits. Then only that content
// counts.
func (h history) judgeFromHead(f plannedFile, moves []move, from int) (_ plannedFile, differs, ok bool) {
	k := len(moves) - 1
	for k >= 0 && moves[k].headMove == "" {
		k--
	}
	if k < 0 || f.To != none && !moves[0].committed {
		return f, false, false
	}
	last := moves[len(moves)-1]
	came, was := moves[k], f.To
	since := moves[k+1:]
	if came.came.After != came.after {
		tools := came
		tools.before, tools.headMove = came.came.After, ""
		since = append([]move{tools}, since...)
	}
	f.To = came.came.After
	byTool := slices.ContainsFunc(since, func(m move) bool { return m.ours })
	switch {
	case f.Is == was && !(was == none && last.ours && byTool):
		return f, false, true
	case f.Is == f.To || !byTool:
		f.To, f.Why = was, came.wentWithHead()
		return f, true, true
	case !came.committed: // somebody's work may have gone with it
		f.Why = interference(moves[:k+1], from, came.after)
	}
	f.Why = cmp.Or(f.Why, came.unrecordedSince(from), interference(since, from, f.Is))
	if f.Why == "" {
		f.Note = "as it came with HEAD " + came.headMove
	}
	return f, true, true
}

func (m move) wentWithHead() string {
	return fmt.Sprintf("it went with HEAD %s while @%d ran", m.headMove, m.seq)
}

// appeared is a warning about a file that a look back found and that no tree had before: its author is
// unknown. It is "" for others.
func (m move) appeared() string {
	if !m.unknownAuthor || m.before != none || m.after == none {
		return ""
	}
	return fmt.Sprintf("its author is unknown: it was found after a lost tool, and @%d has it", m.seq)
}

// granted are the moves of a path that the user named: those of unknown author count as the tools'.
func granted(moves []move) []move {
	all := slices.Clone(moves)
	for i := range all {
		all[i].ours, all[i].unknownAuthor = all[i].ours || all[i].unknownAuthor, false
	}
	return all
}

// ByName ends the reason of a file that a restore puts back if its name is given.
const byName = ". A restore that names it puts it back"

// interference names others who wrote the path. The tools' moves must follow each other without a gap, from
// the target state of the path to its present one.
func interference(moves []move, from int, is worktree.Version) string {
	last, stands := -1, moves[0].before // seq of the tools' newest move, and its result
	for _, m := range moves {
		switch {
		case m.unknownAuthor && is != none: // the file is there, and may be someone else's
			why := fmt.Sprintf("it is unknown who changed it before @%d", m.seq)
			if interference(granted(moves), from, is) == "" {
				why += byName
			}
			return why
		case !m.ours && !m.unknownAuthor:
			continue
		case m.unrecordedSince(from) != "":
			return m.unrecordedSince(from)
		case m.headMove != "" && m.came.Before == m.before && m.came.After == m.after:
			return m.wentWithHead()
		case m.shared:
			return fmt.Sprintf("others wrote it, too, while @%d ran", m.seq)
		case m.before != stands:
			return fmt.Sprintf("others changed it before @%d", m.seq)
		}
		last, stands = m.seq, m.after
	}
	switch {
	case last < 0:
		return "no tool of this conversation wrote it since"
	case is != stands:
		return fmt.Sprintf("others changed it after @%d", last)
	}
	return ""
}
