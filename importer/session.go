package importer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/worktree"
)

// An importing is the import of one session: of the session itself, of its branches, which
// become forks, and of the work of sub-agents, which become conversations of their own.
type importing struct {
	ctx   context.Context
	repo  *repo.Repo
	store *gitstore.Store // nil in a test that wants the events alone
	rep   *Report
	is    Session // its identity
	opts  Options

	ids     map[string]conversation.ID // of threads, by their keys
	works   map[string]conversation.ID // those of sub-agents
	done    map[string]lane
	callers map[conversation.ID]conversation.ID // callers of sub-agents, by the sub-agents' conversations
	test    *testJournal

	rules *gitcmd.Rules                  // nil in a bare repository
	fresh map[string]conversation.Object // of a dry run: the objects that an import would store
}

// A testJournal takes the place of the store.
type testJournal struct {
	had  map[conversation.ID][]mark
	emit func(id conversation.ID, e *conversation.Event)
	// replace takes the events behind one away.
	replace func(id conversation.ID, seq int)
}

// A lane is the destination of the events of a thread.
type lane struct {
	writer
	have  []mark
	begin string // the tree of a conversation that is still to be stored
	moves []move
}

// A move is an event with another tree than the one before.
type move struct {
	seq  int
	tree string
}

// threadsOf are the threads of a session, the session itself first.
func threadsOf(f Format, file io.ReadSeeker, path string) ([]Thread, error) {
	if t, ok := f.(Threaded); ok {
		return t.Threads(file, path)
	}
	return []Thread{{Decode: func(s *Session, yield func(Record) error) error { return f.Decode(file, s, yield) }}}, nil
}

func (im *importing) session(f Format, file io.ReadSeeker, path string) error {
	threads, err := threadsOf(f, file, path)
	if err != nil {
		return err
	}
	if im.test == nil {
		im.fresh = map[string]conversation.Object{}
		if im.repo.At.TopLevel != "" {
			im.rules = gitcmd.NewRules(im.repo.Git)
		}
	}
	im.ids, im.works, im.done, im.callers = map[string]conversation.ID{}, map[string]conversation.ID{}, map[string]lane{}, map[conversation.ID]conversation.ID{}
	for _, t := range threads {
		switch {
		case t.Key == "":
			im.ids[""] = im.rep.ID
		case t.Child:
			im.ids[t.Key] = IDOf(im.rep.Format, t.Key, t.Started)
			im.works[t.Key] = im.ids[t.Key]
		default:
			im.ids[t.Key] = IDOf(im.rep.Format, im.rep.Session+"\x00"+t.Key, t.Started)
		}
	}
	if im.test != nil || im.rep.DryRun {
		return im.all(threads)
	}
	return gitstore.Collection{Store: im.store}.Do(im.ctx, func() error { return im.all(threads) })
}

// all imports the threads, sub-agents last, since their callers are known then.
func (im *importing) all(threads []Thread) error {
	for _, children := range []bool{false, true} {
		for _, t := range threads {
			if t.Child != children {
				continue
			}
			if err := im.thread(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (im *importing) thread(t Thread) (err error) {
	own := &Report{LeftOut: map[string]int{}, Unknown: map[string]int{}, Refused: map[string]int{}}
	l := lane{writer: writer{ctx: im.ctx, store: im.store, id: im.ids[t.Key], dry: im.rep.DryRun}}
	session, started, tree := im.rep.Session, im.rep.Started, ""
	part := Part{ID: l.id, From: -1}
	b := newBuilder(im.rep.Format, nil, own, func(e *conversation.Event) error {
		if im.test != nil {
			im.test.emit(l.id, e)
			return nil
		}
		if im.rep.DryRun && e.Tree != "" {
			l.moves = append(l.moves, move{e.Seq, e.Tree})
		}
		return l.add(e)
	})
	b.children, b.live = im.works, im.opts.Live
	switch {
	case t.Key != "" && !t.Child:
		from, ok := im.done[t.Parent]
		if !ok {
			return nil // of a thread that was refused
		}
		b.have, b.shared, l = from.have[:len(from.have):len(from.have)], true, lane{writer: from.writer, moves: from.moves}
		l.files, tree = nil, from.begin
		if b.moments, err = im.momentsOf(t); err != nil {
			return err
		}
	default:
		if t.Child {
			session, started = t.Key, t.Started
			if b.parent = im.callers[l.id]; b.parent == "" {
				b.parent = im.ids[t.Parent]
			}
			part.Of = b.parent
		}
		var had []mark
		if im.test != nil {
			had = im.test.had[l.id]
		} else {
			if had, err = l.open(im.rep.Format, session); err != nil {
				return err
			}
			if b.moments, err = im.momentsOf(t); err != nil {
				return err
			}
			if tree = b.moments.start(started); len(had) == 0 && tree == "" {
				if tree, err = baseTree(im.ctx, im.repo, im.is); err != nil {
					return err
				}
			}
		}
		b.have, b.end = splitEnd(had)
	}
	if b.moments != nil {
		b.moments.id = func() conversation.ID { return l.id }
	}
	b.replace = func(seq int) error {
		switch {
		case im.test != nil:
			im.test.replace(l.id, seq)
		case !im.rep.DryRun:
			return l.replaceAfter(seq)
		}
		return nil
	}
	if im.test == nil {
		b.files = &files{
			format: im.repo.At.ObjectFormat, read: im.store.ReadObject, dir: im.is.Dir, roots: rootsOf(im.repo.At, im.is.Dir), admit: im.admit,
			start: func() (string, error) { return im.newestTree(&l, b.kept-1) },
		}
		if im.rep.DryRun {
			b.files.fresh, b.files.dry = im.fresh, true
		}
		l.files, l.begin = b.files, tree
	}
	had := len(b.have) + len(b.end)
	b.part = func(b *builder) (marks []mark, err error) {
		part.Of, part.From = l.id, b.kept-1
		l.moves = slices.DeleteFunc(slices.Clone(l.moves), func(m move) bool { return m.seq >= b.kept })
		if t.Key == "" || t.Child || !b.shared { // the conversation went on here
			l.id = IDOf(im.rep.Format, session+"\x00"+t.Key+"\x00after "+string(l.id)+" "+problem.Itoa(b.kept), b.have[b.kept-1].time())
		} else {
			l.id = im.ids[t.Key]
		}
		part.ID = l.id
		had, marks, err = im.fork(&l.writer, part, b)
		if err == nil && had == 0 {
			own.Added++
		}
		return marks, err
	}
	if err = b.begin(im.rep.origin(session), tree, started); err != nil {
		return err
	}
	s := Session{live: im.opts.Live}
	err = t.Decode(&s, func(rec Record) error {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		if rec.Kind == KindBranch {
			s.LeftOut, s.Unknown, s.Refused = nil, nil, nil // its parent has counted these
			clear(own.LeftOut)
			clear(own.Refused)
		}
		if child := b.children[rec.Child]; child != "" && im.callers[child] == "" && !b.shared {
			im.callers[child] = l.id
		}
		return b.add(rec)
	})
	if errors.Is(err, errWaits) {
		im.rep.Waits, err = true, nil
	}
	if err == nil {
		err = b.endFile()
	}
	if err == nil {
		err = l.write()
	}
	if err == nil {
		err = b.moments.written(l.id, l.head)
	}
	if err != nil {
		return err
	}
	part.Events, part.Added, part.State = own.Events, own.Added, stateOf(had, own.Added)
	if b.older {
		part.State = StateOlder
	}
	l.have = slices.Concat(b.have, b.end)
	im.done[t.Key] = l
	im.report(t, b, own, s, part)
	return nil
}

// report adds the counts of a thread to the report.
func (im *importing) report(t Thread, b *builder, own *Report, s Session, part Part) {
	rep := im.rep
	switch {
	case t.Child:
		rep.Children = append(rep.Children, part)
	case t.Key != "" || part.From >= 0:
		rep.Forks = append(rep.Forks, part)
	}
	if t.Key == "" {
		rep.Model, rep.State = b.model, part.State
	} else if part.Added > 0 && (rep.State == StateUnchanged || rep.State == StateOlder) {
		rep.State = StateGrown
	}
	if b.at.After(rep.Ended) {
		rep.Ended = b.at
	}
	rep.Events, rep.Added, rep.Turns, rep.Requests = rep.Events+own.Events, rep.Added+own.Added, rep.Turns+own.Turns, rep.Requests+own.Requests
	rep.Texts, rep.Reasoning, rep.Calls, rep.Results = rep.Texts+own.Texts, rep.Reasoning+own.Reasoning, rep.Calls+own.Calls, rep.Results+own.Results
	rep.noted += own.noted
	rep.Unknowns, rep.Edits, rep.Rebuilt = rep.Unknowns+own.Unknowns, rep.Edits+own.Edits, rep.Rebuilt+own.Rebuilt
	for _, counts := range []struct {
		to   *map[string]int
		from []map[string]int
	}{{&rep.LeftOut, []map[string]int{s.LeftOut, own.LeftOut}}, {&rep.Unknown, []map[string]int{s.Unknown, own.Unknown}}, {&rep.Refused, []map[string]int{s.Refused, own.Refused}}} {
		for _, from := range counts.from {
			merge(counts.to, from)
		}
	}
}

// fork makes or finds the fork in which a thread continues. had is how many events the fork had.
func (im *importing) fork(w *writer, part Part, b *builder) (had int, marks []mark, err error) {
	origin := &conversation.Event{
		Seq: b.kept, Turn: int(b.have[b.kept-1].turn), Time: b.at, Version: conversation.Version,
		Body: &conversation.ForkOrigin{Conversation: part.Of, Seq: part.From},
	}
	made := append(b.have[:b.kept:b.kept], markOf(origin, b.tool))
	if im.test != nil {
		if marks := im.test.had[w.id]; marks != nil {
			return len(marks), marks, nil
		}
		im.test.emit(w.id, origin)
		return 0, made, nil
	}
	head, err := im.store.Head(im.ctx, w.id)
	switch {
	case err == nil:
		w.head = head
		if marks, _, err = marksOf(im.ctx, im.store, head, b.tool); err != nil {
			return 0, nil, err
		}
		if len(marks) <= b.kept || !marks[b.kept].is(conversation.TypeForkOrigin) {
			return 0, nil, w.another()
		}
		return len(marks), marks, nil
	case !errors.Is(err, conversation.ErrNotFound):
		return 0, nil, err
	case im.rep.DryRun:
		return 0, made, nil
	}
	at, err := eventAt(im.ctx, im.store, w.head, part.From)
	if err != nil {
		return 0, nil, err
	}
	origin.Body.(*conversation.ForkOrigin).Commit = at.Commit
	w.head, err = im.store.Fork(im.ctx, part.Of, conversation.Head(at.Commit), w.id, origin)
	return 0, made, err
}

// newestTree is the tree of the newest event of a thread. A dry run only has it in memory.
func (im *importing) newestTree(l *lane, seq int) (string, error) {
	if im.rep.DryRun {
		for _, m := range slices.Backward(l.moves) {
			if m.seq <= seq {
				return m.tree, nil
			}
		}
	}
	if l.head == "" {
		return l.begin, nil
	}
	if im.rep.DryRun {
		for e, err := range im.store.Backward(im.ctx, l.head) {
			if err != nil {
				return "", err
			}
			if e.Seq <= seq {
				return e.Tree, nil
			}
		}
	}
	info, err := im.store.Info(im.ctx, l.id)
	if err != nil {
		return "", err
	}
	return info.Tip.Tree, nil
}

// admit judges a file as a snapshot does. Trees are pushed, so they exclude a file with a secret in its path
// or its text.
func (im *importing) admit(name string, known bool, content string) (why string, err error) {
	if secret := im.repo.Values.Redacts(); secret != nil && (secret("path", name) || secret("content", content)) {
		return "it has a secret", nil
	}
	if why = worktree.WhyNotName(name, known); why != "" || im.rules == nil {
		return why, nil
	}
	if !known {
		for i, c := range name {
			if c != '/' {
				continue
			}
			if _, err := os.Lstat(filepath.Join(im.repo.At.TopLevel, name[:i], ".git")); err == nil {
				return "in another repository", nil
			}
		}
		ignored, err := im.rules.Ignored(im.ctx, []string{name})
		if err != nil {
			return "", err
		}
		if ignored[name] {
			return "ignored", nil
		}
	}
	attributes, err := im.rules.Attributes(im.ctx, []string{name}, worktree.ConvertingAttributes...)
	if err != nil {
		return "", err
	}
	if worktree.Converts(attributes[name]) {
		return "git converts its content", nil
	}
	fault, err := im.repo.Git.FsckContent(im.ctx, name, false, []byte(content))
	if fault != "" {
		why = "git fsck refuses it: " + fault
	}
	return why, err
}
