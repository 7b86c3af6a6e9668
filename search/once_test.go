package search_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/search"
)

func TestOnce(t *testing.T) {
	info := func(id string, fork bool) conversation.Info {
		i := conversation.Info{ID: conversation.ID(id)}
		if fork {
			i.Summary.Fork = &conversation.ForkPoint{}
		}
		return i
	}
	line := func(commit string, number int) search.Line { return search.Line{Commit: commit, Number: number} }
	source, fork, second := info("jp-c17952552001", false), info("jp-c17952552002", true), info("jp-c17952552003", true)
	infos := []conversation.Info{second, source, fork}
	results := []search.Result{
		{Info: second, Lines: []search.Line{line("", 1), line("a", 1), line("a", 2), line("c", 1)}},
		{Info: source, Lines: []search.Line{line("a", 1), line("a", 2), line("b", 1)}},
		{Info: fork, Lines: []search.Line{line("a", 1), line("a", 2)}},
	}
	var got []search.Result
	for r := range search.Once(infos, slices.Values(results)) {
		got = append(got, r)
	}
	both := []string{fork.Name(), second.Name()}
	require.Equal(t, []search.Result{
		{Info: second, Lines: []search.Line{line("", 1), line("c", 1)}},
		{Info: source, Lines: []search.Line{{Commit: "a", Number: 1, Forks: both}, {Commit: "a", Number: 2, Forks: both}, line("b", 1)}},
	}, got)

	// Without forks a result comes as soon as it is found.
	for r := range search.Once(infos[1:2], func(yield func(search.Result) bool) {
		require.False(t, yield(search.Result{Info: source}), "stops at once")
	}) {
		require.Equal(t, source, r.Info)
		break
	}
}
