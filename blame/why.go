package blame

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/lazy"
)

// An Explanation has the conversations that the new lines of a commit come from.
type Explanation struct {
	Commit        string    `json:"commit"`
	Subject       string    `json:"subject"`
	Lines         int       `json:"lines"` // that it adds
	Unknown       int       `json:"unknown"`
	Conversations []Share   `json:"conversations"`
	Trailers      []Trailer `json:"trailers"`
}

// A Share is the lines that come from one conversation.
type Share struct {
	Conversation string  `json:"conversation"`
	Lines        int     `json:"lines"`
	Share        float64 `json:"share"`
	Events       []int   `json:"events"`
}

// A Trailer is a conversation in the message of a commit. Anyone can write it.
type Trailer struct {
	Conversation string `json:"conversation"`
	Seq          int    `json:"seq"`
	Here         bool   `json:"here"` // the conversation is here
}

// Why finds the conversations of the lines that a commit adds to its first parent.
func (x *Index) Why(ctx context.Context, word string) (*Explanation, error) {
	oid, err := commitNamed(ctx, x.repo, word)
	if err != nil {
		return nil, err
	}
	if oid == "" {
		return nil, problem.New(problem.ExitNotFound, "not_found", "there is no commit %q.", word)
	}
	c, err := x.readCommit(oid)
	if err != nil {
		return nil, err
	}
	before := x.repo.Git.Repository().ObjectFormat.EmptyTree()
	if len(c.parents) > 0 {
		parent, err := x.readCommit(c.parents[0])
		if err != nil {
			return nil, err
		}
		before = parent.tree
	}
	changes, err := x.repo.Trees.DiffTrees(ctx, before, c.tree)
	if err != nil {
		return nil, fmt.Errorf("compare %.10s with its parent: %w", oid, err)
	}
	e := &Explanation{Commit: oid, Subject: c.subject(), Conversations: []Share{}, Trailers: trailersOf(x.repo, c.message)}
	by := shares{}
	matches, err := x.added(ctx, changes, oid, c.made)
	if err != nil {
		return nil, err
	}
	for _, m := range matches {
		e.Lines++
		if m.source == nil || m.source.Writer != byTool {
			e.Unknown++
			continue
		}
		by.add(m.record.Conversation, 1, m.source.Seq)
	}
	e.Conversations = by.of(e.Lines)
	return e, nil
}

// shares collect the lines of conversations, by name.
type shares map[string]*Share

func (by shares) add(conversation string, lines int, events ...int) {
	s := by[conversation]
	if s == nil {
		s = &Share{Conversation: conversation}
		by[conversation] = s
	}
	s.Lines += lines
	for _, seq := range events {
		if !slices.Contains(s.Events, seq) {
			s.Events = append(s.Events, seq)
		}
	}
}

// of are the shares of so many lines, the largest first.
func (by shares) of(lines int) []Share {
	all := []Share{}
	for _, s := range by {
		slices.Sort(s.Events)
		s.Share = float64(s.Lines*1000/lines) / 1000
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(-cmp.Compare(a.Lines, b.Lines), cmp.Compare(a.Conversation, b.Conversation))
	})
	return all
}

// added finds the writers of the lines that changes add. oid and made are of the commit that has them. made
// is zero before there is one.
func (x *Index) added(ctx context.Context, changes []trees.Change, oid string, made time.Time) (all []match, err error) {
	r := recorder{trees: x.repo.Trees, files: &x.files}
	files, gone, err := r.changed(ctx, changes)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		paths := []string{f.Path}
		for path, g := range gone {
			if f.Before == (trees.Version{}) && g.was == f.was {
				paths = append(paths, path)
			}
		}
		current := make([]currentLine, len(f.now.lines))
		for i, l := range f.now.lines {
			current[i] = currentLine{key: l.key, weight: int(l.weight), old: f.from[i] > 0, commit: made, oid: oid}
		}
		for i, m := range x.match(ctx, current, paths, "") {
			if f.from[i] == 0 {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// Rows is the explanation as a table: conversation, lines, share, events.
func (e *Explanation) Rows() (rows [][]string) {
	for _, s := range e.Conversations {
		events := make([]string, len(s.Events))
		for i, seq := range s.Events {
			events[i] = fmt.Sprintf("@%d", seq)
		}
		rows = append(rows, []string{Short(s.Conversation), conversation.Count(s.Lines, "line"), Percent(s.Lines, e.Lines), strings.Join(events, " ")})
	}
	if e.Unknown > 0 || len(rows) == 0 {
		rows = append(rows, []string{"-", conversation.Count(e.Unknown, "line"), Percent(e.Unknown, e.Lines), "no conversation has them"})
	}
	return rows
}

// Percent is a part of lines in words.
func Percent(part, lines int) string { return fmt.Sprintf("%d %%", part*100/max(1, lines)) }

// Notes are the claims of the message.
func (e *Explanation) Notes() (notes []string) {
	for _, t := range e.Trailers {
		text := fmt.Sprintf("The message names %s@%d", t.Conversation, t.Seq)
		if !t.Here {
			text += ", which is not here"
		}
		notes = append(notes, text+".")
	}
	return notes
}

// TrailerKey names the conversation of a commit in its message.
const TrailerKey = "Jp-Conversation"

var trailerLine = lazy.Regexp(`^` + TrailerKey + `: (jp-c[0-9]{10,12}(?:-[0-9a-z]{4})?)@([0-9]{1,9})$`)

// mostTrailers is how many trailers of a message are read.
const mostTrailers = 16

// trailersOf are the conversations that a message names in its last paragraph.
func trailersOf(r *repo.Repo, message string) []Trailer {
	all := []Trailer{}
	paragraphs := strings.Split(strings.TrimSpace(message), "\n\n")
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		found := trailerLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil || len(all) == mostTrailers {
			continue
		}
		t := Trailer{Conversation: found[1]}
		_, _ = fmt.Sscan(found[2], &t.Seq) // it is digits
		if slices.ContainsFunc(all, func(o Trailer) bool { return o.Conversation == t.Conversation && o.Seq == t.Seq }) {
			continue
		}
		for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived, conversation.ScopeRemotes} {
			heads, err := r.Store.Heads(scope)
			i := slices.IndexFunc(heads, func(i conversation.Info) bool { return string(i.ID) == found[1] })
			if err == nil && i >= 0 && !t.Here {
				t.Conversation, t.Here = heads[i].Name(), true
			}
		}
		all = append(all, t)
	}
	return all
}

// commitNamed is the commit that a word names, or "".
func commitNamed(ctx context.Context, r *repo.Repo, word string) (string, error) {
	if word == "" || strings.HasPrefix(word, "-") {
		return "", nil
	}
	return revision(ctx, r, word+"^{commit}")
}

// looksLikeCommit matches words that may name a commit in place of an event.
var looksLikeCommit = lazy.Regexp(`^(HEAD([~^][0-9]*)*|[0-9a-f]{7,64})$`)

// Followed is the event, as ID@E, that the trailer of a commit names. Any other word it returns as
// it is.
func Followed(ctx context.Context, h *repo.Host, r *repo.Repo, word string) (string, error) {
	if !looksLikeCommit().MatchString(word) {
		return word, nil
	}
	if _, err := r.Find().Known(ctx, h, word); err == nil {
		return word, nil
	}
	oid, err := commitNamed(ctx, r, word)
	if oid == "" || err != nil {
		return word, err
	}
	out, err := r.Git.RunWith(ctx, gitcmd.Command{Args: []string{"log", "-1", "--no-color", "--format=%B", oid}})
	if err != nil {
		return "", fmt.Errorf("read the commit %.10s: %w", oid, err)
	}
	named := trailersOf(r, string(out))
	for _, t := range slices.Backward(named) {
		if t.Here {
			return fmt.Sprintf("%s@%d", t.Conversation, t.Seq), nil
		}
	}
	if len(named) > 0 {
		return "", problem.New(problem.ExitNotFound, "not_found", "the commit %.10s names %s, which is not here.", oid, named[0].Conversation)
	}
	return word, nil
}
