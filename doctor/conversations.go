package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/agent/action"
	"jp/conversation"
)

// most is the number of findings of one kind that are listed one by one.
const most = 20

// Tips are the newest events of all conversations, as they were read.
type Tips struct {
	Read int
	Bad  []Tip
}

// A Tip is a newest event that cannot be read.
type Tip struct {
	Name    string // as jp takes it for an ID
	Newer   bool   // a newer jp wrote it
	Partial bool   // older events were not fetched, and it does not tell of the whole alone
	Fetched bool   // it is another repository's
	Err     error
}

// Findings judges the tips.
func (t Tips) Findings() (all []Finding) {
	if first := slices.IndexFunc(t.Bad, func(b Tip) bool { return b.Partial }); first >= 0 {
		return append(t.whole().Findings(), t.partial(t.Bad[first].Name))
	}
	if len(t.Bad) == 0 {
		return []Finding{found(OK, "damage", "the newest events of all conversations can be read (%d); %s reads the others, too", t.Read, action.VerifyAll)}
	}
	for _, b := range t.Bad {
		all = append(all, b.finding())
	}
	if len(all) <= most {
		return all
	}
	more := found(Warn, "damage", "%s more cannot be read", conversation.Count(len(all)-most, "conversation")).advise("%s", action.VerifyAll)
	if Count(all[most:]).Fail > 0 {
		more.Level = Fail
	}
	return append(all[:most], more)
}

// whole are the tips without those of conversations that are incomplete here.
func (t Tips) whole() Tips {
	all := len(t.Bad)
	t.Bad = slices.DeleteFunc(slices.Clone(t.Bad), func(b Tip) bool { return b.Partial })
	t.Read -= all - len(t.Bad)
	return t
}

// partial says how many conversations are incomplete here.
func (t Tips) partial(first string) Finding {
	who := first + " is"
	if n := len(t.Bad) - len(t.whole().Bad); n > 1 {
		who = fmt.Sprintf("%s and %d more are", first, n-1)
	}
	return found(Note, "incomplete", "%s incomplete here, and not damaged: older events were not fetched", who).advise("%s", action.Unshallow())
}

func (b Tip) finding() Finding {
	why := strings.ReplaceAll(b.Err.Error(), "\n", "; ")
	switch {
	case b.Newer:
		return found(Warn, "damage", "%s: %s", b.Name, why).advise("install a newer jp")
	case b.Fetched:
		return found(Warn, "damage", "%s, which was fetched: %s", b.Name, why).advise("%s", action.Verify(b.Name))
	}
	return found(Fail, "damage", "%s: %s", b.Name, why).advise("%s", action.Verify(b.Name))
}

// A Second is what else has the id of a conversation, in the other scope: live, or
// archived.
type Second struct {
	ID    conversation.ID
	Live  bool              // the second one is the live one
	Apart conversation.Head // the second one's, where it has events of its own
}

// Seconds are those of all conversations.
type Seconds []Second

// Findings judges them.
func (s Seconds) Findings() (all []Finding) {
	for _, second := range s[:min(len(s), most)] {
		all = append(all, second.finding())
	}
	if more := len(s) - most; more > 0 {
		all = append(all, found(Note, "twice", "%s more with two refs", conversation.Count(more, "conversation")).advise("%s", action.ListJPRefs))
	}
	return all
}

func (s Second) finding() Finding {
	switch {
	case s.Apart != "":
		return found(Warn, "twice", "%s is live and archived, and each has events that the other has not", s.ID).
			advise("%s makes the archived one a conversation of its own; then %s", action.ForkAt(s.ID.Short(), fmt.Sprintf("%.12s", s.Apart)), action.DropArchivedRef(string(s.ID)))
	case s.Live:
		return found(Note, "twice", "%s is archived, and an older live ref of it is there: a fetch brings it back from where it was pushed", s.ID).
			advise("%s takes it away", action.Archive(s.ID.Short()))
	}
	return found(Note, "twice", "%s is live, and an older archived ref of it is there: a fetch brings it back from where it was pushed", s.ID).
		advise("%s takes it away", action.Unarchive(s.ID.Short()))
}

// A Holder is who holds a conversation.
type Holder struct {
	ID    conversation.ID
	PID   int
	For   time.Duration // since it took the lock, 0 where that is not known
	Ended bool          // the process that took the lock is gone
	Err   error         // why it cannot be reached, nil where it can
}

// Holders judges who holds conversations.
func Holders(holders []Holder) (all []Finding) {
	if len(holders) == 0 {
		return []Finding{found(OK, "locks", "no conversation is held")}
	}
	for _, h := range holders {
		all = append(all, h.finding())
	}
	return all
}

// SortHolders sorts holders for the output.
func SortHolders(holders []Holder) []Holder {
	slices.SortFunc(holders, func(a, b Holder) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return holders
}

func (h Holder) finding() Finding {
	who := fmt.Sprintf("%s is held by pid %d", h.ID, h.PID)
	if h.PID == 0 {
		who = fmt.Sprintf("%s is held by a process that has not said its number", h.ID)
	}
	if h.For > 0 {
		who += " for " + conversation.Ago(h.For)
	}
	switch {
	case h.Ended:
		return found(Warn, "locks", "%s, which has ended: something that it started keeps the lock", who).
			advise("%s again in a moment; else find out with lsof who has jp/locks/%s.lock open", action.Doctor, h.ID)
	case h.Err != nil:
		return found(Warn, "locks", "%s, which cannot be reached: %v", who, h.Err).advise("%s ends it; its turn can be resumed", action.Kill(h.ID.Short()))
	}
	return found(OK, "locks", "%s, which can be reached: %s", who, action.Attach(h.ID.Short()))
}

// A TreeLock is the lock of those who change files of a working tree.
type TreeLock struct {
	Path string
	Held bool
	PIDs []int // the processes that have it open, as far as the system tells
}

// Findings says who holds it.
func (l TreeLock) Findings() []Finding {
	if !l.Held {
		return nil
	}
	var pids []string
	for _, pid := range l.PIDs {
		pids = append(pids, strconv.Itoa(pid))
	}
	what := l.Path + " is locked: a tool or an undo changes files of this working tree, and others wait; "
	switch len(pids) {
	case 0:
		return []Finding{found(Note, "locks", "%sjp cannot see which process holds it", what).advise("wait for that process")}
	case 1:
		return []Finding{found(Note, "locks", "%spid %s has it open", what, pids[0]).advise("wait for that process; kill %s ends it", pids[0])}
	}
	return []Finding{found(Note, "locks", "%spids %s have it open, and one of them holds it", what, strings.Join(pids, ", ")).advise("wait for them; ps -p %s names them", strings.Join(pids, ","))}
}

// A Tool is a run that lives on without its jp.
type Tool struct {
	ID  conversation.ID
	Seq int // the event that asked for it
}

// Tools judges the runs that outlived their jp.
func Tools(tools []Tool) (all []Finding) {
	for _, t := range tools {
		all = append(all, found(Warn, "tools", "a tool of %s (@%d) runs on without its jp", t.ID, t.Seq).
			advise("%s goes on when it has ended; %s ends it", action.Continue(t.ID.Short()), action.Kill(t.ID.Short())))
	}
	return all
}
