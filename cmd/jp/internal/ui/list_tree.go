package ui

import (
	"jp/agent/repo"
)

// deepest is how many levels of a tree are drawn. For deeper conversations the outer levels are left
// out.
const deepest = 8

// A forest orders conversations as trees: below each those that were forked
// from it, or that work for it.
type forest struct {
	below map[string][]*repo.Summary // by the name of their origin
	shown map[string]bool
	out   []*repo.Summary
}

// ForestOf orders conversations depth first; those of one level stay in their order. One whose origin
// is not among them is a root. Each is listed once, even if the events have wrong origins.
func ForestOf(list []*repo.Summary) []*repo.Summary {
	f := forest{below: map[string][]*repo.Summary{}, shown: map[string]bool{}, out: []*repo.Summary{}}
	here := map[string]bool{}
	for _, l := range list {
		here[l.ID] = true
	}
	for _, l := range list {
		if stem := stem(l); here[stem] {
			f.below[stem] = append(f.below[stem], l)
		}
	}
	for _, l := range list {
		stem := stem(l)
		l.Uprooted = stem != "" && !here[stem]
		if !here[stem] {
			f.grow(l, "", "")
		}
	}
	for _, l := range list { // events that contradict each other make circles
		f.grow(l, "", "")
	}
	return f.out
}

// grow lists a conversation and all below it: its own line begins with branch,
// the lines below it with guide.
func (f *forest) grow(l *repo.Summary, branch, guide string) {
	if f.shown[l.ID] {
		return
	}
	f.shown[l.ID] = true
	l.Branch = branch
	f.out = append(f.out, l)
	below := f.below[l.ID]
	for i, child := range below {
		if i == len(below)-1 {
			f.grow(child, inward(guide, "└─"), inward(guide, "  "))
		} else {
			f.grow(child, inward(guide, "├─"), inward(guide, "│ "))
		}
	}
}

// inward adds a level to a line's beginning.
func inward(guide, level string) string {
	line := []rune(guide + level)
	return string(line[max(0, len(line)-2*deepest):])
}

// stem is the name of the conversation that this one was forked from or works for, or "".
func stem(l *repo.Summary) string {
	name := ""
	switch {
	case l.ForkedFrom != nil:
		name = string(l.ForkedFrom.ID)
	case l.Parent != nil:
		name = string(*l.Parent)
	}
	if name != "" && l.Remote != nil {
		name = *l.Remote + "/" + name
	}
	return name
}
