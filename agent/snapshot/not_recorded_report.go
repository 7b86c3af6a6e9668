package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/worktree"
)

// Unseen are the paths that tools changed and that no snapshot has, with the newest
// reason for each.
type Unseen struct {
	why  map[string]string // by plain path
	More bool              // they are not all
	// found are files that were there before, and that a snapshot has only since.
	Found map[string]bool
}

// Follow adds what a result lists.
func (l *Unseen) Follow(e *conversation.Event) {
	b, is := e.Body.(*conversation.ToolCallResponse)
	if !is {
		return
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
		case err != nil:
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

// UnseenBetween are those of the results of some events, at some paths or at all.
func UnseenBetween(v *repo.View, from, to int, paths []string) Unseen {
	var l Unseen
	for _, e := range v.Events {
		if e.Seq >= from && e.Seq <= to {
			l.Follow(e)
		}
	}
	for path := range l.why {
		if len(paths) > 0 && !worktree.Under(path, paths) && path != "." {
			delete(l.why, path)
		}
	}
	for path := range l.Found {
		if len(paths) > 0 && !worktree.Under(path, paths) {
			delete(l.Found, path)
		}
	}
	return l
}

// LeftBehind are those of the events that a fork's own working tree does not have, or not
// as they were, and of which the model was not told: none where it went on since.
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

// Kept are those that were files of the working tree in the end, other than the snapshot
// has them.
func (l Unseen) Kept() Unseen {
	kept := Unseen{why: maps.Clone(l.why), More: l.More}
	maps.DeleteFunc(kept.why, func(path, why string) bool {
		return path == GitIndex || why == worktree.WhyGone || why == whyReverted || why == whyObeyed
	})
	return kept
}

// List is what events have of them.
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

// Has says whether one of them is at a path, or below it.
func (l Unseen) Has(path string) bool {
	for p := range l.why {
		if worktree.Under(p, []string{path}) {
			return true
		}
	}
	return false
}

func (l Unseen) None() bool { return len(l.why) == 0 }

// Words name some of them, with the reasons where those are wanted.
func (l Unseen) Words(most int, reasons bool) string {
	var words []string
	for path := range l.why {
		word := safetext.Show(path)
		if path == "." {
			word = "perhaps more files"
		}
		if reasons || path == GitIndex {
			word += " (" + safetext.Clean(l.why[path]) + ")"
		}
		words = append(words, word)
	}
	return some(words, most, l.More)
}

// FoundWords name some of the files that were there before.
func (l Unseen) FoundWords(most int) string {
	var words []string
	for path := range l.Found {
		words = append(words, safetext.Show(path))
	}
	return some(words, most, false)
}

// some are the first of the words, and how many more there are, or that there are.
func some(words []string, most int, more bool) string {
	slices.Sort(words)
	if n := len(words) - most; n > 0 {
		words = append(words[:most], fmt.Sprintf("and %d more", n))
	} else if more {
		words = append(words, "and more")
	}
	return strings.Join(words, ", ")
}

// Tell says on stderr what a list of changes does not have.
func (l Unseen) Tell(e *repo.Host) {
	if !l.None() {
		e.Note("Changed, but in no snapshot: %s.", l.Words(20, true))
	}
	if len(l.Found) > 0 {
		e.Note("There before, and in no snapshot then, so that all of it counts as added: %s.", l.FoundWords(20))
	}
}
