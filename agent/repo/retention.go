package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
)

// A Keeper is a ref from which events of a conversation are still reached when
// the conversation's own ref is gone.
type Keeper struct {
	Ref    string `json:"ref"`
	Events int    `json:"events"` // how many of them, from the first
}

// maxCompared is how many refs are compared with a conversation; that is one child
// each.
const maxCompared = 20

// KeptBy finds the refs that still reach events of a conversation after it is deleted with others: some of
// them, and the number of the rest. It skips unreadable ones.
func (r States) KeptBy(ctx context.Context, info conversation.Info, with []conversation.Info) (keepers []Keeper, more int, err error) {
	events, _ := r.repo.Store.Load(ctx, info.Head) // the readable events of a damaged one
	if len(events) == 0 {
		return nil, 0, nil
	}
	out, err := r.repo.Git.Run(ctx, "for-each-ref", "--format=%(refname)", "--contains="+events[0].Commit)
	if err != nil {
		return nil, 0, fmt.Errorf("look for what else reaches %s: %w", info.ID, err)
	}
	number := map[string]int{}
	for i, e := range events {
		number[e.Commit] = i + 1
	}
	refs := slices.DeleteFunc(strings.Fields(string(out)), func(ref string) bool {
		return slices.ContainsFunc(with, func(i conversation.Info) bool { return deletedWith(ref, i.ID) })
	})
	more = max(0, len(refs)-maxCompared)
	for _, ref := range refs[:len(refs)-more] {
		base, err := r.repo.Git.Run(ctx, "merge-base", string(info.Head), ref)
		if err != nil {
			return nil, 0, fmt.Errorf("compare %s with %s: %w", info.ID, ref, err)
		}
		keepers = append(keepers, Keeper{ref, number[strings.TrimSpace(string(base))]})
	}
	slices.SortStableFunc(keepers, func(a, b Keeper) int { return b.Events - a.Events })
	return keepers, more, nil
}

// deletedWith reports whether a ref is deleted with a conversation, as its own ref in
// either scope.
func deletedWith(ref string, id conversation.ID) bool {
	return ref == "refs/jp/"+string(conversation.ScopeLive)+"/"+string(id) || ref == "refs/jp/"+string(conversation.ScopeArchived)+"/"+string(id)
}

// maxKeepers is how many of those are named to people.
const maxKeepers = 5

// KeeperLines list the refs that keep a conversation's events, given their number.
func KeeperLines(keepers []Keeper, more, events int) []string {
	var lines []string
	for _, k := range keepers[:min(len(keepers), maxKeepers)] {
		what := "all of its events"
		if k.Events < events {
			what = "its first " + conversation.Count(k.Events, "event")
		}
		lines = append(lines, k.name()+" keeps "+what)
	}
	if more += max(0, len(keepers)-maxKeepers); more > 0 {
		lines = append(lines, fmt.Sprintf("and more: %s", conversation.Count(more, "other ref")))
	}
	return lines
}

func (k Keeper) name() string {
	for _, kind := range [][2]string{{"refs/jp/conversations/", ""}, {"refs/jp/archive/", ""}, {"refs/jp/remotes/", ""}, {"refs/heads/", "branch "}, {"refs/tags/", "tag "}} {
		if short, ok := strings.CutPrefix(k.Ref, kind[0]); ok {
			return kind[1] + problem.OneLine(short)
		}
	}
	return problem.OneLine(k.Ref)
}
