// Package undoplan decides which files may be brought back to an earlier
// snapshot of a conversation.
//
// The rule: only what the conversation's tools wrote, and only where it is
// still what they wrote last. What others wrote, before, between or
// after, is never taken back: such a file is left alone, with the reason. What
// jp itself put back counts as the tools' work, so that taking back can be
// taken back.
//
// The package decides and does nothing: it reads no file and writes none.
package undoplan

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

// Now is the Seq of what moved after the newest event.
const Now = math.MaxInt

// A Step is what one event did to the files.
type Step struct {
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
	// Unrecorded are paths that were there before the step, and of which no tree says what
	// they were, first those that the tree before it has in another state; with
	// UnrecordedMore they are not all.
	Unrecorded     []string
	UnrecordedMore bool
	// Gone are paths that the step took away, and that no tree has.
	Gone     []string
	GoneMore bool // they are not all
}

// A History is what happened to the files, oldest step first, up to now. Steps before the event
// from which files are decided on matter only if they took files away that no tree has (Gone).
type History struct {
	Steps []Step
	// Unknown maps paths with unknown content to the reason.
	Unknown map[string]string
}

// A File is a path that differs from the target, and the decision about it.
type File struct {
	Path string
	Is   worktree.Version // what it is now
	To   worktree.Version // what it was
	Why  string           // why it is left alone; "" where it may be put back
	Note string           // what To is, if not what it was before all
}

// move is what one step did to one path.
type move struct {
	seq           int
	ours, shared  bool
	unknownAuthor bool
	putBack       bool
	headMove      string        // how HEAD went, where the path went with it
	came          worktree.Step // what git made of it then
	committed     bool          // it was as HEAD had it before
	unrecorded    int           // seq of the step before which nobody knows what it was; 0: no such
	may           bool          // it is not certain that it was there then
	before, after worktree.Version
}

// Before decides for the files as they were just before the tools first wrote
// them, or may have, at or after the event from. Files that are so already are
// left out.
func (h History) Before(from int) []File {
	var files []File
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

// After decides for the files as they were after the event seq. With paths,
// which are files or folders, only for those; a file that is named is decided
// on also where no tool wrote it.
func (h History) After(seq int, paths []string) []File {
	var files []File
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
func (h History) Differing(from int, paths []string) (n int) {
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

// orderFiles sorts the files, and leaves one that would go where it may be all that there is
// of another one, which was moved there and cannot be put back.
func orderFiles(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	missing := map[string]string{} // by content
	for _, f := range files {
		if f.Why != "" && f.Is.OID != f.To.OID && !gitcmd.IsEmptyBlob(f.To.OID) { // no bytes need no copy
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
func (h History) byPath(from int) map[string][]move {
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
			paths[path] = append(moves, move{seq: Now, before: last.after, after: last.after})
		}
	}
	return paths
}

// move is what the step did to a path, apart from what that is.
func (s Step) move(path string) move {
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
		others := len(kept) // from here on nobody of ours wrote it
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

// judge decides about a path that is to be what it was before the event from, of which
// the moves are the ones since. differs is false where it is so already.
func (h History) judge(path string, moves []move, from int) (f File, differs bool) {
	f = File{Path: path, To: moves[0].before, Is: moves[len(moves)-1].after}
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

// judgeFromHead decides about a path that came with HEAD at some of the moves: its
// target is what came last. ok is false if its earlier content is in no commit. Then
// only that content counts.
func (h History) judgeFromHead(f File, moves []move, from int) (_ File, differs, ok bool) {
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

// appeared says of a file that a look back found, and that no tree had before, that it
// may have been another author's, "" of others.
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
const ByName = ". A restore that names it puts it back"

// interference says who else wrote the path. The tools' moves must follow each
// other without a gap, from what the path is to be to what it is.
func interference(moves []move, from int, is worktree.Version) string {
	last, stands := -1, moves[0].before // seq of the tools' newest move, and what it left
	for _, m := range moves {
		switch {
		case m.unknownAuthor && is != none: // the file is there, and may be someone else's
			why := fmt.Sprintf("it is unknown who changed it before @%d", m.seq)
			if interference(granted(moves), from, is) == "" {
				why += ByName
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
