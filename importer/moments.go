package importer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore/trees"
	"jp/record/journal"
)

// errWaits means that the files behind a call are still to be noted.
var errWaits = errors.New("a hook is still to come")

// Notes on results whose files are uncertain.
const (
	aboutLater = "no hook of the agent came behind this call: the files are those of the next moment"
	aboutNone  = "no hook of the agent came behind this call: its changes are unknown"
	aboutSince = "no hook of the agent came before this call: its files may have changes since the moment before"
	unhooked   = "no hook of the agent came at this call: its changes are unknown"
	aboutWhile = "the agent did not wait for jp: what it changed at once before and behind this call may be in its files"
	withOthers = "other calls ran at the same time: their changes are in the last result of them"
	goneOn     = "a program of this call went on behind this result: what it changes is in later results"
	othersOn   = "a program of an earlier call goes on: what it changes is in later results"
	withOpen   = "a program of an earlier call ran at the same time: a change may be its own"
	ofOthers   = "other calls ran at the same time: what no edit names is in this result"
)

// hookDelay is how long a hook may come behind the result of its call.
const hookDelay = 2 * time.Second

// moments give the events of a thread the trees of the files that the agent's hooks noted.
type moments struct {
	im      *importing
	session journal.Session
	lane    string // the sub-agent whose calls count
	calls   map[string]*momentCall
	ordered []*momentCall
	folder  journal.Folder
	id      func() conversation.ID // of the thread, which may become a fork

	// stored is the newest tree that the repository has, and ahead what the newest event has beyond it.
	stored string
	seen   time.Time // of the newest moment that the events have
	ahead  map[string]trees.Change
}

// A momentCall is a tool call with the moments before and behind it.
type momentCall struct {
	before, after *journal.Moment
	until         int           // number of the moment at which it surely had ended
	done          bool          // its result is in the conversation
	open          bool          // it went on behind its result
	ended         time.Time     // zero: unknown
	parts         []*momentCall // of a call whose programs have moments, and not the call itself
	unsure        bool          // the parts may be of another call
}

// momentsOf reads the journal of a thread. It is nil for a session that was not recorded.
func (im *importing) momentsOf(t Thread) (*moments, error) {
	if im.test != nil {
		return nil, nil
	}
	id := im.repo.Standings().KnownWorkspaceID()
	if id == "" {
		return nil, nil
	}
	m := &moments{im: im, calls: map[string]*momentCall{}}
	m.folder = journal.In(im.repo.Paths.StateDir, id)
	var err error
	if m.session, err = m.folder.Read(im.rep.Format, im.rep.Session); err != nil {
		return nil, fmt.Errorf("read the journal of the session: %w", err)
	}
	if t.Child {
		if own, err := m.folder.Read(im.rep.Format, t.Key); err == nil && len(own.Moments) > 0 {
			m.session = own
		} else {
			m.lane = t.Key
		}
	}
	if len(m.session.Moments) == 0 {
		return nil, nil
	}
	last := m.session.Moments[len(m.session.Moments)-1].N
	for i := range m.session.Moments {
		at := &m.session.Moments[i]
		switch at.Kind {
		case journal.Before:
			was := m.calls[at.Call]
			if was != nil && was.before.About && !at.About && at.Tree != "" {
				was.before = at // the agent waited for this one
			}
			if was == nil && at.Agent == m.lane && at.Tree != "" {
				m.add(at, last+1)
			}
		case journal.After:
			if at.Tree == "" {
				continue
			}
			if m.calls[at.Call] == nil && at.Agent == m.lane {
				m.add(m.before(at), last+1)
			}
			if c := m.calls[at.Call]; c != nil {
				c.after, c.until = at, at.N
			}
		default:
			for _, c := range m.ordered {
				if c.after == nil && at.Tree != "" {
					c.until = min(c.until, at.N)
				}
			}
		}
	}
	return m, nil
}

func (m *moments) add(before *journal.Moment, until int) {
	if before != nil {
		c := &momentCall{before: before, until: until}
		m.calls[before.Call] = c
		m.ordered = append(m.ordered, c)
	}
}

// before is the moment before a call whose first hook did not come, or nil.
func (m *moments) before(after *journal.Moment) *journal.Moment {
	for i := after.N - 2; i >= 0; i-- {
		if was := m.session.Moments[i]; was.Tree != "" {
			was.Kind, was.Call, was.Backup = journal.Look, after.Call, 0
			return &was
		}
	}
	return nil
}

// start is the tree with which a recorded thread began, "" if that is unknown.
func (m *moments) start(began time.Time) string {
	if m == nil {
		return ""
	}
	for _, at := range m.session.Moments {
		if at.Tree == "" || at.Agent != m.lane {
			continue
		}
		if m.lane == "" && at.Time.After(began.Add(hookDelay)) {
			return ""
		}
		return at.Tree
	}
	return ""
}

// placeAt is HEAD and the working tree at a time, or nil.
func (m *moments) placeAt(at time.Time) (place *conversation.Git) {
	if m == nil {
		return nil
	}
	for i := range m.session.Moments {
		if is := &m.session.Moments[i]; place == nil || !is.Time.After(at.Add(hookDelay)) && is.Git != nil {
			place = is.Git
		}
	}
	return place
}

// have reports whether the repository has a tree: git removes those that no event has, after weeks.
func (m *moments) have(tree string) bool {
	_, _, err := m.im.store.ReadObject(tree)
	return err == nil
}

// ended notes the end of a call that went on behind its result.
func (m *moments) ended(call string, at time.Time) {
	if m != nil && m.calls[call] != nil {
		m.calls[call].ended = at
	}
}

// goesOn reports whether a call went on behind its result until a time.
func (m *moments) goesOn(at time.Time) bool {
	return slices.ContainsFunc(m.ordered, func(c *momentCall) bool {
		return (c.open || c.done && c.after != nil && c.after.Open) && (c.ended.IsZero() || c.ended.After(at))
	})
}

// opened notes that a call goes on behind its next result.
func (m *moments) opened(call string) {
	if m != nil && m.calls[call] != nil {
		m.calls[call].open = true
	}
}

// nested reports whether a call is of a program within another call. Codex names these so.
func (c *momentCall) nested() bool { return strings.HasPrefix(c.before.Call, "exec-") }

// enclosing is a call without moments of its own, by those of the programs that ended within it. It is nil without any. Programs
// that it began, and whose end is not in the file, go on; if the call has no result, they are its own. gone reports the first.
func (m *moments) enclosing(b *builder, response *conversation.Event) (c *momentCall, gone bool) {
	body := response.Body.(*conversation.ToolCallResponse)
	request := b.ledger.ToolCall(body.For).Event
	unknown := body.Content == outcomeUnknown(b.tool) // at the end of the file
	var parts []*momentCall
	for _, o := range m.ordered {
		switch {
		case o.done && !o.open, len(o.parts) > 0, b.knows(o.before.Call):
		case !o.ended.IsZero():
			if !o.ended.Before(request.Time) && !o.ended.After(response.Time) {
				parts = append(parts, o)
			}
		case !o.nested() || o.before.Time.Before(request.Time):
		case unknown || body.Content == wentOn(b.tool) && o.before.Time.Before(response.Time):
			parts = append(parts, o)
		case o.before.Time.Before(response.Time):
			o.open, gone = true, true
		}
	}
	if len(parts) == 0 {
		return nil, gone
	}
	c = &momentCall{before: parts[0].before, parts: parts}
	for _, o := range parts {
		if c.done, c.until = c.done || o.done, max(c.until, o.until); o.after != nil && (c.after == nil || o.after.N > c.after.N) {
			c.after = o.after
		}
	}
	for _, o := range parts {
		if o.after == nil && c.after != nil && o.before.N > c.after.N {
			c.after = nil
		}
		o.done, o.open = true, false
	}
	for _, other := range b.ledger.Open() {
		c.unsure = c.unsure || other.Request.ID != body.ID && m.calls[other.Request.ID] == nil
	}
	m.ordered = append(slices.DeleteFunc(m.ordered, func(o *momentCall) bool { return slices.Contains(parts, o) }), c)
	return c, gone
}

// together are the calls that ran at the same time as one of them, and as those.
func (m *moments) together(c *momentCall) []*momentCall {
	group := []*momentCall{c}
	for i := 0; i < len(group); i++ {
		for _, o := range m.ordered {
			if o.before.N < group[i].until && group[i].before.N < o.until && !slices.Contains(group, o) && (o.after != nil || !o.done) && !o.open {
				group = append(group, o)
			}
		}
	}
	return group
}

// take gives a response the files of the moment behind its call. Changes since the moment before it become an
// event of their own. taken is false if no moment is known, so that the files have to be rebuilt.
func (m *moments) take(b *builder, response *conversation.Event, edits []Edit) (taken bool, err error) {
	if m == nil {
		return false, nil
	}
	body := response.Body.(*conversation.ToolCallResponse)
	c := m.calls[body.ID]
	gone := false
	if c == nil {
		c, gone = m.enclosing(b, response)
	}
	if gone || c != nil && c.open {
		body.LeftOut = []conversation.SkippedPath{{Path: ".", Why: goneOn}}
	}
	if c == nil {
		began := b.ledger.ToolCall(body.For).Event.Time
		hooked := m.session.Format == "claude" || m.session.Format == "opencode" // at each call
		switch {
		case gone:
		case m.goesOn(began):
			body.LeftOut = []conversation.SkippedPath{{Path: ".", Why: othersOn}}
		case hooked && !began.Before(m.session.Moments[0].Time.Add(-hookDelay)):
			body.LeftOut = []conversation.SkippedPath{{Path: ".", Why: unhooked}}
		}
		return false, nil
	}
	if b.shared || b.next < len(b.have) || b.closing {
		b.r.Edits, b.r.Rebuilt = b.r.Edits+len(edits), b.r.Rebuilt+len(edits)
		if c.done, m.seen = true, c.before.Time; c.after != nil {
			m.seen = c.after.Time
			b.r.noted++
		}
		return true, nil
	}
	end := c.after
	if c.open {
		end = nil
	} else if end == nil {
		if end, err = m.later(b, c); err != nil {
			return true, err
		}
	}
	if end != nil && !m.have(end.Tree) || !m.have(c.before.Tree) {
		return false, nil
	}
	if err := b.files.begin(); err != nil {
		return true, err
	}
	b.r.Edits, b.r.Rebuilt = b.r.Edits+len(edits), b.r.Rebuilt+len(edits)
	group, first, last := m.together(c), c.before, end
	fresh, whole := !c.done, true
	for _, o := range group {
		if o.before.N < first.N {
			first = o.before
		}
		if o != c {
			fresh, whole = fresh && !o.done, whole && o.done
		}
		if o.after != nil && (last == nil || o.after.N > last.N) {
			last = o.after
		}
	}
	shared, over := m.goesOn(m.seen), c.parts != nil && end != nil && end.Time.Before(m.seen)
	if m.seen = first.Time; fresh && !shared && first.Tree != b.files.tree {
		if err := m.outside(b, first.Tree); err != nil {
			return true, err
		}
	}
	c.done = true
	if end != nil {
		m.seen = end.Time
	}
	if c.after != nil {
		b.r.noted++
	}
	tree, note, named := "", "", false
	switch {
	case c.open:
	case end == nil:
		note = aboutNone
	case c.after == nil && (len(group) == 1 || whole):
		tree, note = last.Tree, aboutLater
	case c.after == nil:
		note = aboutNone
	case len(group) == 1 && over: // the newest tree has its changes
		note = withOthers
	case len(group) == 1 && c.unsure:
		tree, note = end.Tree, ofOthers
	case len(group) == 1:
		tree = end.Tree
	case whole:
		tree, note = last.Tree, ofOthers
	default:
		note, named = withOthers, true
	}
	var changes []trees.Change
	if named {
		changes, err = m.named(b, c, end, edits)
	} else if tree != "" {
		changes, err = m.changes(b, tree)
	}
	if err != nil {
		return true, err
	}
	if end != nil && end == c.after {
		body.Unrecorded, body.LeftOut = end.Unrecorded, append(body.LeftOut, end.LeftOut...)
	}
	if note == "" && c.before.Kind == journal.Look {
		note = aboutSince
	}
	if note == "" && end != nil && (c.before.About || end.About) {
		note = aboutWhile
	}
	if note != "" {
		body.LeftOut = append(body.LeftOut, conversation.SkippedPath{Path: ".", Why: note})
	}
	if shared {
		for _, change := range changes {
			body.Shared = append(body.Shared, conversation.QuotePath(change.Path))
		}
		if len(changes) > 0 {
			body.LeftOut = append(body.LeftOut, conversation.SkippedPath{Path: ".", Why: withOpen})
		}
	}
	if err := m.move(b, response, changes, tree); err != nil {
		return true, err
	}
	for _, part := range c.parts {
		if err := m.copies(b, m.id(), part, body.For); err != nil {
			return true, err
		}
	}
	return true, m.copies(b, m.id(), c, body.For)
}

// later is the next moment behind a call without one of its own, nil if there is none. While the agent runs,
// it waits for a late hook before it looks by itself.
func (m *moments) later(b *builder, c *momentCall) (*journal.Moment, error) {
	for i := range m.session.Moments {
		at := &m.session.Moments[i]
		o := m.calls[at.Call]
		if at.N <= c.before.N || at.Tree == "" || at.Kind == journal.After {
			continue
		}
		if at.Kind != journal.Before {
			return at, nil
		}
		if o != nil && at.Agent == m.lane && !o.done && !b.knows(at.Call) {
			return at, nil
		}
	}
	if !b.live {
		return nil, nil
	}
	if m.im.opts.Look == nil || time.Since(c.before.Time) < hookDelay {
		return nil, errWaits
	}
	at, err := m.im.opts.Look(m.im.ctx)
	if err != nil || at.Tree == "" {
		return nil, err
	}
	m.session.Moments = append(m.session.Moments, at)
	return &at, nil
}

// knows reports whether the turn has a call of an id.
func (b *builder) knows(id string) bool {
	for _, call := range b.ledger.Open() {
		if call.Request.ID == id {
			return true
		}
	}
	return false
}

// outside records the changes since the newest event, by others than the agent's tools.
func (m *moments) outside(b *builder, tree string) error {
	patches, err := m.im.repo.Patches(m.im.ctx)
	if err != nil {
		return err
	}
	changes, err := m.changes(b, tree)
	if err != nil || len(changes) == 0 {
		return err
	}
	stats, err := patches.Diff(m.im.ctx, m.stored, tree)
	if err != nil {
		return err
	}
	body := &conversation.Workspace{}
	for _, c := range stats {
		if slices.ContainsFunc(changes, func(is trees.Change) bool { return is.Path == c.Path }) {
			body.Paths = append(body.Paths, conversation.PathStat{Path: conversation.QuotePath(c.Path), Status: c.Status, Added: c.Added, Deleted: c.Deleted})
		}
	}
	b.files.tree, m.ahead = tree, nil
	e := b.event(body)
	e.Tree = tree
	return b.put(e, "")
}

// named are the versions that the files of a call's edits had behind it, where these differ from the newest tree.
func (m *moments) named(b *builder, c *momentCall, end *journal.Moment, edits []Edit) (changes []trees.Change, err error) {
	paths := slices.Clone(end.Paths)
	for _, part := range c.parts {
		if part.after != nil {
			paths = append(paths, part.after.Paths...)
		}
	}
	for _, e := range edits {
		for _, path := range []string{e.Path, e.From} {
			if name, inside := b.files.name(path); inside {
				paths = append(paths, name)
			}
		}
	}
	all, err := m.changes(b, end.Tree)
	return slices.DeleteFunc(all, func(c trees.Change) bool { return !slices.Contains(paths, c.Path) }), err
}

// changes are the differences of a tree from the newest one, which may be unwritten.
func (m *moments) changes(b *builder, tree string) ([]trees.Change, error) {
	if len(m.ahead) == 0 {
		m.stored = b.files.tree
	}
	all, err := m.im.repo.Trees.DiffTrees(m.im.ctx, m.stored, tree)
	if err != nil || len(m.ahead) == 0 {
		return all, err
	}
	byPath := map[string]trees.Change{}
	for _, c := range all {
		byPath[c.Path] = c
	}
	for path, ahead := range m.ahead {
		c, differs := byPath[path]
		if !differs {
			c = trees.Change{Path: path, After: ahead.Before}
		}
		c.Before = ahead.After
		if byPath[path] = c; c.Before == c.After {
			delete(byPath, path)
		}
	}
	return slices.SortedFunc(maps.Values(byPath), func(a, b trees.Change) int { return strings.Compare(a.Path, b.Path) }), nil
}

// move gives a response some changes of the files, with the tree that they lead to, or "".
func (m *moments) move(b *builder, response *conversation.Event, changes []trees.Change, tree string) (err error) {
	if len(changes) == 0 {
		return nil
	}
	if tree != "" {
		m.ahead = nil
	} else {
		tree = b.files.tree
		if m.ahead == nil {
			m.ahead = map[string]trees.Change{}
		}
		for _, c := range changes {
			if tree, err = b.files.put(tree, c.Path, entry{mode: c.After.Mode, oid: c.After.OID}); err != nil {
				return err
			}
			if ahead, again := m.ahead[c.Path]; again {
				c.Before = ahead.Before
			}
			m.ahead[c.Path] = c
		}
		response.Objects = b.files.taken()
	}
	body := response.Body.(*conversation.ToolCallResponse)
	for _, c := range changes {
		body.Changed = append(body.Changed, conversation.FileChange{Path: conversation.QuotePath(c.Path), Before: c.Before.OID, After: c.After.OID})
	}
	response.Tree, b.files.tree = tree, tree
	return nil
}

// copies names the backups of a call by its event, since the journal knows only the agent's id of it.
func (m *moments) copies(b *builder, id conversation.ID, c *momentCall, seq int) error {
	store := m.im.repo.Standings().Backups()
	if store == nil || c.before.Backup == 0 || m.im.rep.DryRun {
		return nil
	}
	return store.Assign(m.im.ctx, m.session.BackupName(), c.before.Backup, string(id), b.turn, seq)
}

// written notes that the conversation has the words of a session that jp recorded here.
func (m *moments) written(id conversation.ID, head conversation.Head) error {
	if m == nil || m.im.rep.DryRun || head == "" {
		return nil
	}
	return m.folder.SetWritten(id, journal.Written{Head: head, Format: m.im.rep.Format, Run: m.session.Run})
}
