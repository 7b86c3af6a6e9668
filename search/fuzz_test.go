package search_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/search"
)

func FuzzCompile(f *testing.F) {
	for _, p := range []string{"retry", `\Qa`, "a(b", "(?P<n>x)", "(?i:k)|ſ", `\xff`, "\xff", "^$", `\B`, "x{1000}", "(?-i:X)", "[^a]", "", "\x00"} {
		f.Add(p, "other", true, 0)
		f.Add(p, p, false, 1)
	}
	f.Fuzz(func(t *testing.T, one, two string, expression bool, letters int) {
		if len(one)+len(two) > 1000 {
			return
		}
		q, err := search.Compile(search.Options{
			Patterns: []string{one, two}, Regexp: expression, Case: search.Case((letters%3 + 3) % 3), Before: 1, After: 1,
		})
		if err != nil {
			known := errors.Is(err, search.ErrPattern) || errors.Is(err, search.ErrText) || errors.Is(err, search.ErrEmpty)
			require.True(t, known, err)
			return
		}
		for _, l := range q.Lines(one, dialogue()) {
			requireSubmatches(t, l)
			if l.Match && l.Seq >= 0 {
				requirePassed(t, q, dialogue()[l.Seq])
			}
		}
	})
}

func requirePassed(t *testing.T, q *search.Query, e *conversation.Event) {
	stored, err := conversation.ViewJSON(e, "jp-c17952552000-tpjl", false)
	require.NoError(t, err)
	text, _ := e.Text()
	require.True(t, passes(q.Prefilter(), string(stored)+text), "%v does not pass %s", q.Prefilter(), stored)
}
