package reconcile

import (
	"strings"
	"time"

	"jp/conversation"
)

// A Plan is what a resume has to do.
type Plan struct {
	Elsewhere []Difference
	Calls     []Call
	// Resumed is the event to append, nil where there is nothing to say, or
	// where it was said already and still holds.
	Resumed *conversation.Resumed
	Changed []conversation.PathStat // what moved in the files since
	// InProgress is what git is in the midst of, such as a merge.
	InProgress string
	submodules bool
	// Words sum up for people what was found.
	Words string
}

// Make compares a record with the truth. named says which files a call names;
// nil says nothing.
func Make(r Record, t Truth, named func(*conversation.ToolCall) []string) Plan {
	p := Plan{Elsewhere: Elsewhere(r, t), Changed: t.Changed, InProgress: t.Git.InProgress, submodules: t.Submodules, Calls: classify(r, t, named)}
	if r.worthSaying(t, p) && !r.saidAlready(t, p) {
		p.Resumed = r.resumed(t, p, t.Now.Sub(r.At))
	}
	p.Words = words(t.Changed, r.Last.Git.Head != t.Git.Head, p.Calls, t.Now.Sub(r.At))
	return p
}

// Find is what is known of an open call. One that the plan does not have is of
// unknown outcome.
func (p Plan) Find(call *conversation.ToolCall) Call {
	for _, c := range p.Calls {
		if c.Call.Event.Seq == call.Event.Seq {
			return c
		}
	}
	return Call{Call: call, Class: Unknown}
}

// worthSaying reports whether anything is not as the model must think it is.
func (r Record) worthSaying(t Truth, p Plan) bool {
	if r.Said != nil || r.Broken != "" || r.Base.moved(t) {
		return true
	}
	for _, c := range p.Calls {
		if c.Class == Unknown || c.Class == Alive || c.Class == Delegated {
			return true
		}
	}
	return false
}

// saidAlready reports whether what an earlier resume said still holds: nothing
// moved since, and nothing broke off that it does not speak of. What it said is
// then sent again as it stands.
func (r Record) saidAlready(t Truth, p Plan) bool {
	if r.Said == nil || r.Last.moved(t) || r.Broken != "" && !strings.Contains(r.Said.Message, quote(r.Broken)) {
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

// moved reports whether the files or the repository stand elsewhere now.
func (p Point) moved(t Truth) bool {
	return p.Tree != t.Tree || p.Git.Head != t.Git.Head || p.Git.Branch != t.Git.Branch || p.Git.InProgress != t.Git.InProgress
}

func (r Record) resumed(t Truth, p Plan, age time.Duration) *conversation.Resumed {
	report := r.report(t)
	return &conversation.Resumed{
		Phase: r.Phase, Call: r.Call, AgeMS: age.Milliseconds(), Report: report,
		Message: message(r, p, report, age),
	}
}

// listed is how many names a message and a report hold.
const listed = 50

func (r Record) report(t Truth) *conversation.Report {
	report := &conversation.Report{
		HeadWas: r.Base.Git.Head, HeadIs: t.Git.Head, BranchWas: r.Base.Git.Branch, BranchIs: t.Git.Branch,
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

// stat sums changes up, "2 files, +3 -1"; "" where there are none.
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
