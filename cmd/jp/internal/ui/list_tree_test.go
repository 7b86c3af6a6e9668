package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/agent/repo"
	"jp/conversation"
)

// stemming is a conversation that was forked from another one, or from none.
func stemming(id, from conversation.ID) *repo.Summary {
	l := &repo.Summary{ID: string(id), ShortID: id.Short()}
	if from != "" {
		l.ForkedFrom = &repo.ForkedFrom{ID: from, Seq: 4}
	}
	return l
}

func drawn(list []*repo.Summary) string {
	var b strings.Builder
	for _, l := range ForestOf(list) {
		fmt.Fprintf(&b, "%s%s", l.Branch, l.ID)
		if l.Uprooted {
			b.WriteString(" uprooted")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestForest(t *testing.T) {
	t.Parallel()
	worker := &repo.Summary{ID: "worker", Parent: repo.Given(conversation.ID("a2"))}
	fetched := stemming("origin/a2", "a")
	fetched.Remote = repo.Given("origin")
	for name, tt := range map[string]struct {
		list []*repo.Summary
		want string
	}{
		"none":     {nil, ""},
		"no forks": {[]*repo.Summary{stemming("b", ""), stemming("a", "")}, "b\na\n"},
		"levels, in the order given": {
			[]*repo.Summary{stemming("a3", "a"), stemming("a21", "a2"), stemming("b", ""), worker, stemming("a", ""), stemming("a2", "a")},
			"b\na\n├─a3\n└─a2\n  ├─a21\n  └─worker\n",
		},
		"below another branch": {
			[]*repo.Summary{stemming("a", ""), stemming("a1", "a"), stemming("a2", "a"), stemming("a11", "a1")},
			"a\n├─a1\n│ └─a11\n└─a2\n",
		},
		"its source is gone": {[]*repo.Summary{stemming("a1", "a"), stemming("a11", "a1")}, "a1 uprooted\n└─a11\n"},
		"of a remote":        {[]*repo.Summary{stemming("a", ""), fetched}, "a\norigin/a2 uprooted\n"},
		"of itself":          {[]*repo.Summary{stemming("a", "a")}, "a\n"},
		"in a circle":        {[]*repo.Summary{stemming("a", "b"), stemming("b", "a"), stemming("c", "b")}, "a\n└─b\n  └─c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, drawn(tt.list))
		})
	}
}

func TestForestOfAnyOrigins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		var list []*repo.Summary
		for i := range n {
			from := rapid.IntRange(-1, n).Draw(t, "from")
			l := stemming(idOf(i), "")
			if from >= 0 {
				l = stemming(idOf(i), idOf(from))
			}
			list = append(list, l)
		}
		seen := map[string]bool{}
		for _, l := range ForestOf(list) {
			require.False(t, seen[l.ID], "listed twice")
			seen[l.ID] = true
			require.LessOrEqual(t, len([]rune(l.Branch)), 2*deepest)
		}
		require.Len(t, seen, n)
	})
}
