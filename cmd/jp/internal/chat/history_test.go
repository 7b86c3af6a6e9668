package chat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Early requests are read when the person goes there, and once.
func TestHistoryReadsFurther(t *testing.T) {
	var reads []int
	read := func(before int) ([]string, int) {
		if reads = append(reads, before); before == 0 {
			return []string{"three", "three", "four"}, 30
		}
		return []string{"one", "two", "three"}, 0
	}
	var h history
	at := ""
	step := func(back bool, want string, moves bool) {
		t.Helper()
		text, ok := h.step(back, at, read)
		require.Equal(t, moves, ok, text)
		require.Equal(t, want, text)
		if ok {
			at = text
		}
	}
	at = "mine"
	for _, text := range []string{"four", "three"} {
		step(true, text, true)
	}
	require.Equal(t, []int{0}, reads)
	h.add("/diff") // which is not recorded
	at = "mine"
	for _, text := range []string{"/diff", "four", "three", "two", "one"} {
		step(true, text, true)
	}
	step(true, "", false)
	for _, text := range []string{"two", "three", "four", "/diff", "mine"} {
		step(false, text, true)
	}
	step(false, "", false)
	require.Equal(t, []int{0, 30}, reads)
}

// A search begins with the newest request that has the words, and goes on from its last match.
func TestHistorySearch(t *testing.T) {
	var h history
	reads := 0
	read := func() []string {
		reads++
		return []string{"fix the lexer", "Fix it", "say hi", "fix it", "fix it"}
	}
	for _, step := range []struct {
		words string
		older bool
		want  string
	}{
		{"fix", false, "fix the lexer"}, {"fix", true, "Fix it"}, {"fix", true, "fix it"}, {"fix", true, ""}, {"fix", true, ""},
		{"fix", false, "fix the lexer"}, {"fix i", false, "Fix it"}, {"FIX I", false, "Fix it"},
		{"hi", false, "say hi"}, {"hi", true, ""},
		{"", false, "fix the lexer"}, {"", true, "Fix it"}, {"", true, "say hi"},
		{"none", false, ""}, {"non", false, ""},
	} {
		got, found := h.search(step.words, step.older, read)
		require.Equal(t, step.want, got, step.words)
		require.Equal(t, step.want != "", found, step.words)
	}
	h.add("fix me")
	got, _ := h.search("fix", false, read)
	require.Equal(t, "fix me", got)
	require.Equal(t, 1, reads)
	h.forget()
	h.search("fix", false, read)
	require.Equal(t, 2, reads)
}
