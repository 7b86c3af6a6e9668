package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/backup"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/worktree"
)

// Unseen are the paths that tools changed and that all snapshots lack, with the newest reason for each.
type Unseen struct {
	why  map[string]string // by plain path
	More bool              // the list is incomplete
	// found are files that were there before, and that a snapshot has only since.
	Found map[string]bool
	// Unknown are files that changed while a call of unknown outcome ran, or until the turn was resumed.
	Unknown map[string]bool
	staged  string       // the files that a tool staged, in words
	open    map[int]bool // calls that started, by the seq of their requests
}

// Follow adds the paths of a result.
func (l *Unseen) Follow(e *conversation.Event) {
	switch b := e.Body.(type) {
	case *conversation.ToolStarted:
		if l.open == nil {
			l.open = map[int]bool{}
		}
		l.open[b.For] = true
	case *conversation.Resumed:
		l.resumed(b)
	}
	b, is := e.Body.(*conversation.ToolCallResponse)
	if !is {
		return
	}
	delete(l.open, b.For)
	if e.Git != nil && e.Git.HeadWas != "" {
		l.staged = ""
	}
	for _, c := range b.Changed {
		if path, err := conversation.UnquotePath(c.Path); err == nil {
			delete(l.why, path)
		}
	}
	for _, path := range repo.Unquoted(b.Unrecorded) {
		if l.Found == nil {
			l.Found = map[string]bool{}
		}
		l.Found[path] = true
	}
	for _, o := range b.LeftOut {
		path, err := conversation.UnquotePath(o.Path)
		switch {
		case err != nil || path == GitStash: // undo alone names it
		case path == GitIndex && strings.HasPrefix(o.Why, NewlyStaged):
			l.staged = o.Why
		case path == "." && strings.HasPrefix(o.Why, "and "):
			l.More = true
		default:
			if l.why == nil {
				l.why = map[string]string{}
			}
			if was := l.why[path]; path == GitIndex && was != "" && was != o.Why && len(was) < 500 {
				o.Why = was + ". " + o.Why // of two calls, each with files of its own
			}
			l.why[path] = o.Why
		}
	}
}

func (l *Unseen) resumed(b *conversation.Resumed) {
	if len(l.open) == 0 || b.Report == nil {
		return
	}
	for _, c := range b.Report.Changed {
		if path, err := conversation.UnquotePath(c.Path); err == nil {
			l.AddUnknown(path)
		}
	}
}

// AddUnknown adds files that changed while a call of unknown outcome ran, or until the turn was resumed.
func (l *Unseen) AddUnknown(paths ...string) {
	for _, path := range paths {
		if l.Unknown == nil {
			l.Unknown = map[string]bool{}
		}
		l.Unknown[path] = true
	}
}

// followCopied adds the files that a tool, or perhaps a lost one, changed and that only a backup has.
func (l *Unseen) followCopied(e *conversation.Event, calls, events map[int][]backup.Change) {
	if e.Type() == conversation.TypeResumed {
		for _, c := range events[e.Seq] {
			l.AddUnknown(c.Path())
		}
	}
	b, is := e.Body.(*conversation.ToolCallResponse)
	if !is {
		return
	}
	for _, c := range calls[b.For] {
		quoted := conversation.QuotePath(c.Path())
		if c.Before.Same(&c.After) || slices.ContainsFunc(b.Changed, func(f conversation.FileChange) bool { return f.Path == quoted }) {
			continue
		}
		if l.why == nil {
			l.why = map[string]string{}
		}
		if _, known := l.why[c.Path()]; !known {
			l.why[c.Path()] = c.String()
		}
	}
}

// followerOf gives a [Unseen.Follow] that also knows the backups of a conversation's tools.
func followerOf(v *repo.View) func(*Unseen, *conversation.Event) {
	var calls, events map[int][]backup.Change
	if store := v.Repo.Standings().Backups(); store != nil {
		calls, events, _ = store.Changes(string(v.ID)) // without them trees and results have the rest
	}
	return func(l *Unseen, e *conversation.Event) {
		l.Follow(e)
		l.followCopied(e, calls, events)
	}
}

// UnseenWords gives the words for the files that one event changed outside of snapshots, or "".
func UnseenWords(v *repo.View, most int) func(*conversation.Event) string {
	follow := followerOf(v)
	return func(e *conversation.Event) string {
		var l Unseen
		follow(&l, e)
		return cmp.Or(l.Words(most, true), l.UnknownWords(most))
	}
}

// UnseenBetween are those of the results of some events, at some paths or at all.
func UnseenBetween(v *repo.View, from, to int, paths []string) Unseen {
	var l Unseen
	follow := followerOf(v)
	for _, e := range v.Events {
		if e.Seq >= from && e.Seq <= to {
			follow(&l, e)
		}
	}
	for path := range l.why {
		if len(paths) > 0 && !worktree.Under(path, paths) && path != "." {
			delete(l.why, path)
		}
	}
	for _, set := range []map[string]bool{l.Found, l.Unknown} {
		maps.DeleteFunc(set, func(path string, _ bool) bool { return len(paths) > 0 && !worktree.Under(path, paths) })
	}
	return l
}

// LeftBehind are those of the events that a fork's own working tree lacks, or has with other content, and
// that are news for the model. It is empty if the model went on since.
func LeftBehind(events []*conversation.Event) Unseen {
	var l, behind Unseen
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse, *conversation.ToolCallResponse:
			behind = Unseen{}
		case *conversation.ForkOrigin:
			if b.CheckedOut {
				behind = l.Kept()
			}
		}
		l.Follow(e)
	}
	return behind
}

// Kept are those that were files of the working tree in the end, with other content than in the snapshot.
func (l Unseen) Kept() Unseen {
	kept := Unseen{why: maps.Clone(l.why), More: l.More}
	maps.DeleteFunc(kept.why, func(path, why string) bool {
		return path == GitIndex || IsRef(path) || why == worktree.WhyGone || why == whyReverted || why == whyObeyed
	})
	return kept
}

// List is their form in events.
func (l Unseen) List() []conversation.SkippedPath {
	list := []conversation.SkippedPath{}
	for _, path := range slices.Sorted(maps.Keys(l.why)) {
		list = append(list, conversation.SkippedPath{Path: conversation.QuotePath(path), Why: l.why[path]})
	}
	return list
}

// Paths are those that have a name, as events have them.
func (l Unseen) Paths() (paths []string) {
	for _, o := range l.List() {
		if o.Path != "." {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// Has reports whether one of them is at a path, or below it.
func (l Unseen) Has(path string) bool {
	for p := range l.why {
		if worktree.Under(p, []string{path}) {
			return true
		}
	}
	return false
}

func (l Unseen) None() bool { return len(l.why) == 0 }

// WithoutGone leaves out those of some paths that are gone.
func (l Unseen) WithoutGone(paths []string) Unseen {
	rest := Unseen{why: maps.Clone(l.why), More: l.More, Found: l.Found, staged: l.staged}
	for _, path := range paths {
		if rest.why[path] == worktree.WhyGone {
			delete(rest.why, path)
		}
	}
	rest.More = rest.More && len(rest.why) > 0
	return rest
}

// Words name some of them, if reasons is set with the reasons.
func (l Unseen) Words(most int, reasons bool) string {
	var words []string
	for path := range l.why {
		word := safetext.Show(path)
		if path == "." {
			word = "perhaps more files"
		}
		if reasons || path == GitIndex || IsRef(path) {
			word += " (" + safetext.Clean(l.why[path]) + ")"
		}
		words = append(words, word)
	}
	return someOf(words, most, l.More)
}

// StagedWords name the files that tools staged without changing them, or "".
func (l Unseen) StagedWords() string { return safetext.Clean(l.staged) }

// FoundWords name some of the files that were there before.
func (l Unseen) FoundWords(most int) string {
	var words []string
	for path := range l.Found {
		words = append(words, safetext.Show(path))
	}
	return someOf(words, most, false)
}

// UnknownWords name some of the files that changed while a call of unknown outcome ran, or "".
func (l Unseen) UnknownWords(most int) string {
	if len(l.Unknown) == 0 {
		return ""
	}
	var names []string
	for path := range l.Unknown {
		names = append(names, safetext.Show(path))
	}
	return conversation.Count(len(names), "file") + " changed, by whom is unknown: " + someOf(names, most, false)
}

// Some are the first of the words, and how many more there are.
func Some(words []string, most int) string { return someOf(slices.Clone(words), most, false) }

// someOf are the first of the words, and how many more there are, or that there are.
func someOf(words []string, most int, more bool) string {
	slices.Sort(words)
	if n := len(words) - most; n > 0 {
		words = append(words[:most], fmt.Sprintf("and %d more", n))
	} else if more {
		words = append(words, "and more")
	}
	return strings.Join(words, ", ")
}

// Tell reports on stderr the files that a list of changes lacks.
func (l Unseen) Tell(e *repo.Host) {
	if !l.None() {
		e.Note("Changed, but in no snapshot: %s.", l.Words(20, true))
	}
	if l.staged != "" {
		e.Note("%s.", l.StagedWords())
	}
	if len(l.Found) > 0 {
		e.Note("There before, and in no snapshot then, so that all of it counts as added: %s.", l.FoundWords(20))
	}
	if words := l.UnknownWords(20); words != "" {
		e.Note("While a call of unknown outcome ran, or since then: %s.", words)
	}
}
