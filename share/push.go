package share

import (
	"context"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/action"
	"jp/internal/safetext"
)

// A Relation tells how a conversation here stands to the one of the same id at the remote.
type Relation string

// The relations.
const (
	OnlyHere  Relation = "only_here"
	OnlyThere Relation = "only_there"
	Even      Relation = "even"
	Ahead     Relation = "ahead"    // here are newer events
	Behind    Relation = "behind"   // there are
	Diverged  Relation = "diverged" // both have events of their own
	NotHere   Relation = "not_here" // there are events that were not fetched
)

// An Item is one conversation of a push.
type Item struct {
	ID       conversation.ID `json:"id"`
	Ref      string          `json:"ref"`
	Head     string          `json:"head"`
	There    string          `json:"there,omitempty"` // the head at the remote
	Relation Relation        `json:"relation"`
	Pushed   bool            `json:"pushed"`
	payload  string          // the head of its payload, or ""
	info     conversation.Info
}

// moves reports whether a push gives the remote something.
func (i *Item) moves() bool { return i.Relation == OnlyHere || i.Relation == Ahead }

// A Plan has all that a push would send.
type Plan struct {
	Remote   Remote
	Items    []*Item
	Commits  []Commit  // the user's own, below the conversations, which the remote lacks
	Findings []Finding // why something must not leave
	refs     map[string]string
	repo     *repo.Repo
}

// A Commit is one of the user's.
type Commit struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

// NewPlan plans a push of conversations, with those of their delegates. Nothing leaves.
func NewPlan(ctx context.Context, r *repo.Repo, m Remote, ids []conversation.ID) (*Plan, error) {
	refs, err := m.refs(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &Plan{Remote: m, refs: refs, repo: r}
	with, err := withDelegates(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	for _, info := range with {
		i := &Item{ID: info.ID, Ref: info.Ref, Head: string(info.Head), info: info}
		if _, i.payload, err = r.Store.Payloads(info.ID); err != nil {
			return nil, err
		}
		there := refs[live+string(i.ID)]
		if there == "" || strings.HasPrefix(i.Ref, archive) && refs[i.Ref] != "" {
			there = refs[archive+string(i.ID)]
		}
		i.There = there
		i.Relation = relate(r, i.Head, there)
		if i.Relation == Even && refs[i.Ref] == "" {
			i.Relation = Ahead // archived or brought back since
		}
		p.Items = append(p.Items, i)
	}
	return p, p.look(ctx)
}

// relate compares the head of a conversation here with the one of the same id at a remote, "" if there is none.
func relate(r *repo.Repo, here, there string) Relation {
	known := gitstore.Arrivals{Store: r.Store}
	if there == "" {
		return OnlyHere
	}
	if here == there {
		return Even
	}
	if _, _, err := r.Store.ReadObject(there); err != nil {
		return NotHere
	}
	switch {
	case known.Reaches(conversation.Head(here), conversation.Head(there)):
		return Ahead
	case known.Reaches(conversation.Head(there), conversation.Head(here)):
		return Behind
	}
	return Diverged
}

// Marks tells for the conversations of a list how each stands to the remotes from which one of its id was fetched, or
// to which it was pushed. A conversation with the same events has no mark.
func Marks(r *repo.Repo) func(s *repo.Summary) string {
	fetched := map[conversation.ID][]conversation.Info{}
	all, err := r.Store.Heads(conversation.ScopeRemotes)
	for _, i := range all {
		if _, aside, found := strings.Cut(i.Remote, "/"); !found || aside != "aside" {
			fetched[i.ID] = append(fetched[i.ID], i)
		}
	}
	return func(s *repo.Summary) string {
		if err != nil || s.Remote != nil || s.Err != nil {
			return ""
		}
		var marks []string
		for _, i := range fetched[conversation.ID(s.ID)] {
			words := map[Relation]string{Ahead: "ahead of ", Behind: "behind ", Diverged: "parted from "}[relate(r, string(s.Head), string(i.Head))]
			if words != "" {
				marks = append(marks, words+i.Remote)
			}
		}
		return strings.Join(marks, ", ")
	}
}

// withDelegates are conversations, and those that delegates of theirs wrote.
func withDelegates(ctx context.Context, r *repo.Repo, ids []conversation.ID) (all []conversation.Info, err error) {
	every := map[conversation.ID][]conversation.Info{} // by parent
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		list, err := r.Store.List(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			if parent := i.Summary.Parent; i.Err == nil && parent != "" {
				every[parent] = append(every[parent], i)
			}
		}
	}
	seen := map[conversation.ID]bool{}
	var add func(i conversation.Info)
	add = func(i conversation.Info) {
		if seen[i.ID] {
			return
		}
		seen[i.ID] = true
		all = append(all, i)
		for _, child := range every[i.ID] {
			add(child)
		}
	}
	for _, id := range ids {
		info, err := r.Store.Info(ctx, id)
		if err != nil {
			return nil, err
		}
		if info.Err != nil {
			return nil, repo.AboutInfo(info.Err, info)
		}
		add(info)
	}
	return all, nil
}

// A push of more refs than this goes in parts: their names are arguments of git.
const refsInPush = 1000

// Push sends the conversations that have something new, and then asks the remote for its refs: only what it names
// then counts as pushed. No ref is ever forced.
func (p *Plan) Push(ctx context.Context) error {
	var refs, moved []string
	for _, i := range p.Items {
		if !i.moves() {
			continue
		}
		if i.payload != "" && p.refs[payloads+string(i.ID)] != i.payload {
			refs = append(refs, i.payload+":"+payloads+string(i.ID))
		}
		refs = append(refs, i.Head+":"+i.Ref)
		for _, other := range []string{live, archive} { // it was archived since, or brought back
			if other += string(i.ID); other != i.Ref && p.refs[other] == i.There && i.There != "" {
				moved = append(moved, "--force-with-lease="+other+":"+i.There, ":"+other)
			}
		}
	}
	failed := p.send(ctx, refs)
	if failed == nil && len(moved) > 0 {
		failed = p.send(ctx, moved)
	}
	now, err := p.Remote.refs(ctx, p.repo)
	if err != nil {
		return err
	}
	p.refs = now
	var tracked []string
	for _, i := range p.Items {
		i.Pushed = i.moves() && now[i.Ref] == i.Head
		if now[i.Ref] == i.Head {
			tracked = append(tracked, "update "+p.Remote.here(i.Ref)+" "+i.Head)
		}
	}
	if _, err := p.repo.Git.RunWith(ctx, gitcmd.Command{Args: []string{"update-ref", "--stdin"}, Stdin: strings.NewReader(strings.Join(tracked, "\n") + "\n")}); err != nil {
		return err
	}
	if failed != nil && !slices.ContainsFunc(p.Items, func(i *Item) bool { return i.moves() && !i.Pushed }) {
		failed = nil // another push was faster with the same events
	}
	return failed
}

// send pushes refs, HASH:REF, and deletes those of :REF, each behind the flag that names the hash it must have.
func (p *Plan) send(ctx context.Context, refs []string) (failed error) {
	for part := range slices.Chunk(refs, refsInPush) {
		args := []string{"push", "--quiet", "--no-follow-tags"}
		for _, word := range part {
			if strings.HasPrefix(word, "--") {
				args = append(args, word)
			}
		}
		args = append(args, "--", p.Remote.URL)
		for _, word := range part {
			if !strings.HasPrefix(word, "--") {
				args = append(args, word)
			}
		}
		if _, err := p.repo.Git.RunWith(ctx, gitcmd.Command{Args: args, Network: true}); err != nil && failed == nil {
			failed = p.Remote.failure(err)
		}
	}
	return failed
}

// Remove deletes conversations at a remote, if they are as ls-remote has just told. Copies that others fetched stay.
func Remove(ctx context.Context, r *repo.Repo, m Remote, ids []conversation.ID) error {
	refs, err := m.refs(ctx, r)
	if err != nil {
		return err
	}
	p := &Plan{Remote: m, repo: r}
	var words, gone []string
	for _, id := range ids {
		there := false
		for _, scope := range []string{live, archive, payloads} {
			ref := scope + string(id)
			if refs[ref] == "" {
				continue
			}
			there = true
			words = append(words, "--force-with-lease="+ref+":"+refs[ref], ":"+ref)
			gone = append(gone, "delete "+m.here(ref))
		}
		if !there {
			return problem.New(problem.ExitNotFound, "not_found", "%s has no conversation %s.", p.name(), id)
		}
	}
	if err := p.send(ctx, words); err != nil {
		return err
	}
	_, err = r.Git.RunWith(ctx, gitcmd.Command{Args: []string{"update-ref", "--stdin"}, Stdin: strings.NewReader(strings.Join(gone, "\n") + "\n")})
	return err
}

// Refused is the error of conversations that cannot be pushed, nil if there are none.
func (p *Plan) Refused() error {
	for _, i := range p.Items {
		switch i.Relation {
		case Diverged:
			return problem.New(problem.ExitDecision, "diverged", "%s has other events at %s since %s. Nothing was pushed.", i.ID.Short(), p.name(), p.parted(i)).About(i.ID).
				Hint(action.Sync, "bring them here, and make a fork of the events of here")
		case NotHere:
			return problem.New(problem.ExitDecision, "behind", "%s has events at %s that are not here. Nothing was pushed.", i.ID.Short(), p.name()).About(i.ID).
				Hint(action.FetchTalks, "bring them here")
		}
	}
	return nil
}

func (p *Plan) name() string { return safetext.Show(p.Remote.Name) }

// parted names the event after which a conversation has others at the remote.
func (p *Plan) parted(i *Item) string {
	base, err := p.repo.Git.Run(context.Background(), "merge-base", i.Head, i.There)
	if err == nil {
		for e, err := range p.repo.Store.Backward(context.Background(), conversation.Head(strings.TrimSpace(string(base)))) {
			if err == nil {
				return "@" + problem.Itoa(e.Seq)
			}
			break
		}
	}
	return "its beginning"
}

// Moving are the items with something new for the remote.
func (p *Plan) Moving() (moving []*Item) {
	for _, i := range p.Items {
		if i.moves() {
			moving = append(moving, i)
		}
	}
	return moving
}
