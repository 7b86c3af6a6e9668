package reconcile

import (
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// A Plan has the steps of a resume.
type Plan struct {
	Elsewhere []Difference
	Calls     []Call
	// Resumed is the event to append, nil if there is nothing to say, or if an earlier message still holds.
	Resumed *conversation.Resumed
	Changed []conversation.PathStat // changes since
	// Untracked are files outside of git that have changed.
	Untracked []Untracked
	// InProgress is git's unfinished operation, such as a merge.
	InProgress string
	submodules bool
	// Words sum up the findings for people.
	Words string
}

// Make compares a record with the repository. named returns the files that a call names. It may be nil.
func Make(r Record, t RepoState, named func(*conversation.ToolCall) []string) Plan {
	p := Plan{Elsewhere: Elsewhere(r, t), Changed: t.Changed, Untracked: t.Untracked, InProgress: t.Git.InProgress, submodules: t.Submodules, Calls: classify(r, t, named)}
	if r.worthSaying(t, p) && !r.saidAlready(t, p) {
		p.Resumed = r.resumed(t, p, t.Now.Sub(r.At))
	}
	p.Words = words(t.Changed, r.Last.Git.Head != t.Git.Head, r.CutOff, t.Untracked, p.Calls, t.Now.Sub(r.At))
	return p
}

// Find is the known state of an open call. A call that the plan lacks is of unknown outcome.
func (p Plan) Find(call *conversation.ToolCall) Call {
	for _, c := range p.Calls {
		if c.Call.Event.Seq == call.Event.Seq {
			return c
		}
	}
	return Call{Call: call, Class: Unknown}
}

// worthSaying reports whether anything differs from what the model must assume.
func (r Record) worthSaying(t RepoState, p Plan) bool {
	if r.Said != nil || r.Broken != "" || r.CutOff || len(t.Untracked) > 0 || r.moved(t) {
		return true
	}
	for _, c := range p.Calls {
		if c.Class == Unknown || c.Class == Alive || c.Class == Delegated {
			return true
		}
	}
	return false
}

// saidAlready reports whether the message of an earlier resume still holds: the files are the same since, and
// it covers every interruption. That message is then sent again.
func (r Record) saidAlready(t RepoState, p Plan) bool {
	if r.Said == nil || r.Last.moved(Point{t.Tree, t.Git}) || r.Broken != "" && !strings.Contains(r.Said.Message, quote(r.Broken)) {
		return false
	}
	if untracked(t.Untracked) != toldUntracked(r.Said.Message) {
		return false
	}
	if r.CutOff && !strings.Contains(r.Said.Message, conversation.TextCutOff) {
		return false
	}
	for _, c := range p.Calls {
		if c.Class == Unknown && !strings.Contains(r.Said.Message, callLine(c.Call, c)) {
			return false
		}
		if c.Class == Delegated && !strings.Contains(r.Said.Message, c.delegate()) {
			return false
		}
	}
	return true
}

// moved reports whether anything moved while the turn stood still.
func (r Record) moved(t RepoState) bool {
	for _, s := range r.Ends(Point{t.Tree, t.Git}) {
		if s.From.moved(s.To) {
			return true
		}
	}
	return false
}

// moved reports whether the files or the repository stand elsewhere than at another
// point.
func (p Point) moved(to Point) bool {
	return p.Tree != to.Tree || p.Git.Head != to.Git.Head || p.Git.Branch != to.Git.Branch || p.Git.InProgress != to.Git.InProgress
}

func (r Record) resumed(t RepoState, p Plan, age time.Duration) *conversation.Resumed {
	report := r.report(t)
	return &conversation.Resumed{
		Phase: r.Phase, Call: r.Call, AgeMS: age.Milliseconds(), Report: report,
		Message: message(r, p, report, age),
	}
}

// listed is how many names a message and a report hold.
const listed = 50

func (r Record) report(t RepoState) *conversation.Report {
	spans := r.Ends(Point{t.Tree, t.Git})
	report := &conversation.Report{
		HeadWas:   was(spans, func(p Point) string { return p.Git.Head }),
		HeadIs:    t.Git.Head,
		BranchWas: was(spans, func(p Point) string { return p.Git.Branch }),
		BranchIs:  t.Git.Branch,

		Dirty: t.Dirty, Changed: t.Changed, Stat: stat(t.Changed),
	}
	if len(report.Dirty) > listed {
		report.Dirty = report.Dirty[:listed]
	}
	if len(report.Changed) > listed {
		report.More = len(report.Changed) - listed
		report.Changed = report.Changed[:listed]
	}
	return report
}

// was is the value before the first change, or the present one.
func was(spans []Span, of func(Point) string) string {
	for _, s := range spans {
		if of(s.From) != of(s.To) {
			return of(s.From)
		}
	}
	return of(spans[len(spans)-1].From)
}

// Sum is the change over several spans, by path: the lines of all of them, and the file's fate in the last.
func Sum(spans ...[]conversation.PathStat) []conversation.PathStat {
	at := map[string]int{}
	var sum []conversation.PathStat
	for _, changed := range spans {
		for _, c := range changed {
			i, known := at[c.Path]
			if !known {
				at[c.Path] = len(sum)
				sum = append(sum, c)
				continue
			}
			c.Added, c.Deleted = plus(sum[i].Added, c.Added), plus(sum[i].Deleted, c.Deleted)
			sum[i] = c
		}
	}
	slices.SortFunc(sum, func(a, b conversation.PathStat) int { return strings.Compare(a.Path, b.Path) })
	return sum
}

// plus adds numbers of lines, of which a negative one is unknown.
func plus(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// stat sums changes up, "2 files, +3 -1"; "" if there are none.
func stat(changed []conversation.PathStat) string {
	if len(changed) == 0 {
		return ""
	}
	added, deleted := 0, 0
	for _, c := range changed {
		added, deleted = added+max(0, c.Added), deleted+max(0, c.Deleted)
	}
	return conversation.Count(len(changed), "file") + ", " + conversation.PlusMinus(added, deleted)
}
