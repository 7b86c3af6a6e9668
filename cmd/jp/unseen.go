package main

import (
	"fmt"
	"slices"
	"strings"

	"jp/cmd/jp/internal/takeback"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// unseen are the paths that tools changed and that no snapshot has, with the newest
// reason for each.
type unseen struct {
	why  map[string]string // by plain path
	more bool              // they are not all
}

// follow adds what a result lists.
func (l *unseen) follow(e *conversation.Event) {
	b, is := e.Body.(*conversation.ToolCallResponse)
	if !is {
		return
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
		if len(paths) > 0 && !takeback.Under(path, paths) && path != "." {
			delete(l.why, path)
		}
	}
	return l
}

// has says whether one of them is at a path, or below it.
func (l unseen) has(path string) bool {
	for p := range l.why {
		if takeback.Under(p, []string{path}) {
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
		word := terminal.Show(path)
		if path == "." {
			word = "perhaps more files"
		}
		if reasons {
			word += " (" + terminal.Clean(l.why[path]) + ")"
		}
		words = append(words, word)
	}
	slices.Sort(words)
	n := len(words) - most
	switch {
	case n > 0:
		words = append(words[:most], fmt.Sprintf("and %d more", n))
	case l.more:
		words = append(words, "and more")
	}
	return strings.Join(words, ", ")
}

// tell says on stderr what a list of changes does not have.
func (l unseen) tell(e *env) {
	if !l.none() {
		e.note("Changed, but in no snapshot: %s.", l.words(20, true))
	}
}
