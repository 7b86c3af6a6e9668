package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/worktree"
)

// unseen are the paths that tools changed and that no snapshot has, with the newest
// reason for each.
type unseen struct {
	why  map[string]string // by plain path
	more bool              // they are not all
	// found are files that were there before, and that a snapshot has only since.
	found map[string]bool
}

// follow adds what a result lists.
func (l *unseen) follow(e *conversation.Event) {
	b, is := e.Body.(*conversation.ToolCallResponse)
	if !is {
		return
	}
	for _, c := range b.Changed {
		if path, err := conversation.UnquotePath(c.Path); err == nil {
			delete(l.why, path)
		}
	}
	for _, path := range unquoted(b.Unrecorded) {
		if l.found == nil {
			l.found = map[string]bool{}
		}
		l.found[path] = true
	}
	for _, o := range b.LeftOut {
		path, err := conversation.UnquotePath(o.Path)
		switch {
		case err != nil:
		case path == "." && strings.HasPrefix(o.Why, "and "):
			l.more = true
		default:
			if l.why == nil {
				l.why = map[string]string{}
			}
			l.why[path] = o.Why
		}
	}
}

// unseenBetween are those of the results of some events, at some paths or at all.
func (v *view) unseenBetween(from, to int, paths []string) unseen {
	var l unseen
	for _, e := range v.events {
		if e.Seq >= from && e.Seq <= to {
			l.follow(e)
		}
	}
	for path := range l.why {
		if len(paths) > 0 && !worktree.Under(path, paths) && path != "." {
			delete(l.why, path)
		}
	}
	for path := range l.found {
		if len(paths) > 0 && !worktree.Under(path, paths) {
			delete(l.found, path)
		}
	}
	return l
}

// leftBehind are those of the events that a fork's own working tree does not have, or not
// as they were, and of which the model was not told: none where it went on since.
func leftBehind(events []*conversation.Event) unseen {
	var l, behind unseen
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse, *conversation.ToolCallResponse:
			behind = unseen{}
		case *conversation.ForkOrigin:
			if b.CheckedOut {
				behind = l.kept()
			}
		}
		l.follow(e)
	}
	return behind
}

// kept are those that were files of the working tree in the end, other than the snapshot
// has them.
func (l unseen) kept() unseen {
	kept := unseen{why: maps.Clone(l.why), more: l.more}
	maps.DeleteFunc(kept.why, func(_, why string) bool {
		return why == worktree.WhyGone || why == whyReverted || why == whyObeyed
	})
	return kept
}

// list is what events have of them.
func (l unseen) list() []conversation.LeftOut {
	list := []conversation.LeftOut{}
	for _, path := range slices.Sorted(maps.Keys(l.why)) {
		list = append(list, conversation.LeftOut{Path: conversation.QuotePath(path), Why: l.why[path]})
	}
	return list
}

// paths are those that have a name, as events have them.
func (l unseen) paths() (paths []string) {
	for _, o := range l.list() {
		if o.Path != "." {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// has says whether one of them is at a path, or below it.
func (l unseen) has(path string) bool {
	for p := range l.why {
		if worktree.Under(p, []string{path}) {
			return true
		}
	}
	return false
}

func (l unseen) none() bool { return len(l.why) == 0 }

// words name some of them, with the reasons where those are wanted.
func (l unseen) words(most int, reasons bool) string {
	var words []string
	for path := range l.why {
		word := safetext.Show(path)
		if path == "." {
			word = "perhaps more files"
		}
		if reasons {
			word += " (" + safetext.Clean(l.why[path]) + ")"
		}
		words = append(words, word)
	}
	return some(words, most, l.more)
}

// foundWords name some of the files that were there before.
func (l unseen) foundWords(most int) string {
	var words []string
	for path := range l.found {
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

// tell says on stderr what a list of changes does not have.
func (l unseen) tell(e *host) {
	if !l.none() {
		e.note("Changed, but in no snapshot: %s.", l.words(20, true))
	}
	if len(l.found) > 0 {
		e.note("There before, and in no snapshot then, so that all of it counts as added: %s.", l.foundWords(20))
	}
}
