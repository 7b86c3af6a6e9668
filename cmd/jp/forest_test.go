package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// stemming is a conversation that was forked from another one, or from none.
func stemming(id, from conversation.ID) listing {
	l := listing{ID: string(id), ShortID: id.Short()}
	if from != "" {
		l.ForkedFrom = &forkedFrom{ID: from, Seq: 4}
	}
	return l
}

func drawn(list []listing) string {
	var b strings.Builder
	for _, l := range forestOf(list) {
		fmt.Fprintf(&b, "%s%s", l.branch, l.ID)
		if l.uprooted {
			b.WriteString(" uprooted")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestForest(t *testing.T) {
	t.Parallel()
	worker := listing{ID: "worker", Parent: given(conversation.ID("a2"))}
	fetched := stemming("origin/a2", "a")
	fetched.Remote = given("origin")
	for name, tt := range map[string]struct {
		list []listing
		want string
	}{
		"none":     {nil, ""},
		"no forks": {[]listing{stemming("b", ""), stemming("a", "")}, "b\na\n"},
		"levels, in the order given": {
			[]listing{stemming("a3", "a"), stemming("a21", "a2"), stemming("b", ""), worker, stemming("a", ""), stemming("a2", "a")},
			"b\na\n├─a3\n└─a2\n  ├─a21\n  └─worker\n",
		},
		"below another branch": {
			[]listing{stemming("a", ""), stemming("a1", "a"), stemming("a2", "a"), stemming("a11", "a1")},
			"a\n├─a1\n│ └─a11\n└─a2\n",
		},
		"its source is gone": {[]listing{stemming("a1", "a"), stemming("a11", "a1")}, "a1 uprooted\n└─a11\n"},
		"of a remote":        {[]listing{stemming("a", ""), fetched}, "a\norigin/a2 uprooted\n"},
		"of itself":          {[]listing{stemming("a", "a")}, "a\n"},
		"in a circle":        {[]listing{stemming("a", "b"), stemming("b", "a"), stemming("c", "b")}, "a\n└─b\n  └─c\n"},
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
		var list []listing
		for i := range n {
			from := rapid.IntRange(-1, n).Draw(t, "from")
			l := stemming(idOf(i), "")
			if from >= 0 {
				l = stemming(idOf(i), idOf(from))
			}
			list = append(list, l)
		}
		seen := map[string]bool{}
		for _, l := range forestOf(list) {
			require.False(t, seen[l.ID], "listed twice")
			seen[l.ID] = true
			require.LessOrEqual(t, len([]rune(l.branch)), 2*deepest)
		}
		require.Len(t, seen, n)
	})
}
