package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/action"
)

// most is the number of findings of one kind that are listed one by one.
const most = 20

// conversations reads the newest event of every conversation.
func (c *checkup) conversations(ctx context.Context) []Finding {
	if c.storeErr != nil {
		return Store{Err: c.storeErr}.Findings()
	}
	store, tips, back := Store{Hidden: c.repo.Store.CheckRefs()}, Tips{}, []SetBack(nil)
	for scope, count := range map[conversation.Scope]*int{
		conversation.ScopeLive: &store.Live, conversation.ScopeArchived: &store.Archived, conversation.ScopeRemotes: &store.Remote,
	} {
		infos, err := c.repo.Store.List(ctx, scope)
		if err != nil {
			return Store{Err: err, Hidden: store.Hidden}.Findings()
		}
		*count = len(infos)
		tips.Read += len(infos)
		for _, info := range infos {
			var refused *problem.Error
			if errors.As(c.repo.Standings().NotSetBack(ctx, []conversation.Info{info}), &refused) {
				back = append(back, SetBack{info.ID, refused.Hints})
			}
			if info.Err != nil {
				tips.Bad = append(tips.Bad, Tip{
					Name: info.Name(), Err: info.Err, Newer: errors.Is(info.Err, conversation.ErrNewer),
					Partial: errors.Is(info.Err, gitstore.ErrShallow), Fetched: info.Remote != "",
				})
			}
		}
	}
	slices.SortFunc(tips.Bad, func(a, b Tip) int { return strings.Compare(a.Name, b.Name) })
	seconds, err := c.repo.Store.Duplicates()
	if err != nil {
		return Store{Err: err}.Findings()
	}
	var twins Duplicates
	for _, s := range seconds {
		d := Duplicate{ID: s.ID, Live: s.Ref == gitstore.RefOf(s.ID)}
		if s.Err != nil {
			d.Apart = s.Head
		}
		twins = append(twins, d)
	}
	if c.repo.At.RefFormat == gitcmd.RefFiles {
		store.LooseRefs, store.PackedRefs = countRefs(c.repo.At.CommonDir)
	} else {
		names, _ := c.db.RefNames("refs/jp/") // the error was reported before
		store.Format, store.OtherRefs = c.repo.At.RefFormat, len(names)
	}
	missing, _ := c.repo.Store.SeenRefs().Missing() // without the name of the repository, which another finding reports
	return slices.Concat(store.Findings(), Taken{Missing: missing, SetBack: back}.Findings(), tips.Findings(), twins.Findings())
}

// Taken are the conversations whose refs something other than jp deleted or set back.
type Taken struct {
	Missing []gitstore.Missing
	SetBack []SetBack
}

// A SetBack conversation is at an older event than its newest one here.
type SetBack struct {
	ID    conversation.ID
	Hints []problem.Hint
}

// Findings judges them.
func (t Taken) Findings() (all []Finding) {
	lost := 0
	for _, m := range t.Missing {
		if !m.There {
			lost++
			continue
		}
		all = append(all, found(Warn, "refs", "%s is gone: its ref was deleted, and not by jp; its last event is commit %s", m.ID, m.Head).
			advise("%s brings it back, before git deletes the commit", action.SetRef(gitstore.RefOf(m.ID), string(m.Head))))
	}
	for _, b := range t.SetBack {
		set := found(Warn, "refs", "%s was set back to an older event than its newest one here", b.ID)
		if len(b.Hints) > 0 {
			set = set.advise("%s brings the newer events back", b.Hints[0].Action)
		}
		all = append(all, set)
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], found(Warn, "refs", "%s more are gone or were set back", conversation.Count(more, "conversation")).advise("%s", action.VerifyAll))
	}
	if lost > 0 {
		all = append(all, found(Note, "refs", "%s gone, and so are the commits: the refs were deleted, and not by jp", conversation.Count(lost, "conversation")))
	}
	return all
}

// countRefs counts jp's refs: loose and packed.
func countRefs(common string) (loose, packed int) {
	own := map[string]bool{}
	_ = filepath.WalkDir(filepath.Join(common, "refs", "jp"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			own[strings.TrimPrefix(path, common+"/")] = true
		}
		return nil // the findings about conversations have the error
	})
	f, err := os.Open(filepath.Join(common, "packed-refs"))
	if err != nil {
		return len(own), 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, name, _ := strings.Cut(lines.Text(), " "); strings.HasPrefix(name, "refs/jp/") && !own[name] {
			packed++
		}
	}
	return len(own), packed
}

// manyRefs is from how many loose refs on listing gains from packing them.
const manyRefs = 200

// A Store is how many conversations there are, and on which refs.
type Store struct {
	Live, Archived, Remote int
	LooseRefs, PackedRefs  int
	Format                 gitcmd.RefFormat
	OtherRefs              int   // of another format than files
	Err                    error // of listing them
	Hidden                 error // why packed-refs may hide some
}

// Findings judges the refs.
func (s Store) Findings() []Finding {
	all := []Finding{found(OK, "conversations", "%d live, %d archived, %d fetched", s.Live, s.Archived, s.Remote)}
	if s.Err != nil {
		all = []Finding{found(Fail, "conversations", "the conversations cannot be listed: %v", s.Err)}
	}
	switch {
	case s.Hidden != nil:
		return append(all, found(Fail, "refs", "%v: refs can be hidden by that", s.Hidden).
			advise("%s shows what git finds of it; mend that line, or bring back the file as it was", action.ListRefs))
	case s.Err != nil:
		return all
	}
	if s.Format != gitcmd.RefFiles {
		return append(all, found(OK, "refs", "%d in the %s", s.OtherRefs, s.Format))
	}
	if s.LooseRefs >= manyRefs {
		return append(all, found(Note, "refs", "%d loose, %d packed: each loose one is a file to read when conversations are listed", s.LooseRefs, s.PackedRefs).
			advise("%s; jp does not do it itself", action.PackRefs))
	}
	return append(all, found(OK, "refs", "%d loose, %d packed", s.LooseRefs, s.PackedRefs))
}

// Tips are the newest events of all conversations, as they were read.
type Tips struct {
	Read int
	Bad  []Tip
}

// A Tip is an unreadable newest event.
type Tip struct {
	Name    string // as jp takes it for an ID
	Newer   bool   // a newer jp wrote it
	Partial bool   // some older events were not fetched, so the tip alone does not describe the whole conversation
	Fetched bool   // it is another repository's
	Err     error
}

// Findings judges the tips.
func (t Tips) Findings() (all []Finding) {
	if first := slices.IndexFunc(t.Bad, func(b Tip) bool { return b.Partial }); first >= 0 {
		one := t.Bad[first].Name
		who := one + " is"
		if n := len(t.Bad) - len(t.whole().Bad); n > 1 {
			who = fmt.Sprintf("%s and %d more are", one, n-1)
		}
		return append(t.whole().Findings(), found(Note, "incomplete", "%s incomplete here, and not damaged: older events were not fetched", who).advise("%s", action.Unshallow()))
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

// A Duplicate is a second conversation with the same id, in the other scope: live, or archived.
type Duplicate struct {
	ID    conversation.ID
	Live  bool              // the second one is the live one
	Apart conversation.Head // the second one's, if it has events of its own
}

// Duplicates are those of all conversations.
type Duplicates []Duplicate

// Findings judges them.
func (s Duplicates) Findings() (all []Finding) {
	for _, second := range s[:min(len(s), most)] {
		all = append(all, second.finding())
	}
	if more := len(s) - most; more > 0 {
		all = append(all, found(Note, "twice", "%s more with two refs", conversation.Count(more, "conversation")).advise("%s", action.ListJPRefs))
	}
	return all
}

func (s Duplicate) finding() Finding {
	switch {
	case s.Apart != "":
		return found(Warn, "twice", "%s is live and archived, and each has events that the other has not", s.ID).
			advise("%s makes the archived one a conversation of its own; then %s", action.ForkAt(s.ID.Short(), fmt.Sprintf("%.12s", s.Apart)), action.DropArchived(string(s.ID), string(s.Apart)))
	case s.Live:
		return found(Note, "twice", "%s is archived, and an older live ref of it is there: a fetch brings it back from where it was pushed", s.ID).
			advise("%s takes it away", action.Archive(s.ID.Short()))
	}
	return found(Note, "twice", "%s is live, and an older archived ref of it is there: a fetch brings it back from where it was pushed", s.ID).
		advise("%s takes it away", action.Unarchive(s.ID.Short()))
}
