package chat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What was asked long ago is read when the person goes there, and once.
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

// A search goes on from what it found as long as the line has that, and begins anew with other words.
func TestHistorySearch(t *testing.T) {
	var h history
	reads := 0
	read := func() []string {
		reads++
		return []string{"fix the lexer", "Fix it", "say hi", "fix it", "fix it"}
	}
	for _, step := range []struct {
		text, want string
		found      bool
	}{
		{"fix", "fix the lexer", true}, {"fix the lexer", "Fix it", true}, {"Fix it", "fix it", true}, {"fix it", "", false},
		{"hi", "say hi", true}, {"say hi", "", false},
		{"", "fix the lexer", true}, {"fix the lexer", "Fix it", true}, {"Fix it", "say hi", true},
		{"none", "", false},
	} {
		got, found := h.search(step.text, read)
		require.Equal(t, step.found, found, step.text)
		require.Equal(t, step.want, got, step.text)
	}
	h.add("fix me")
	got, _ := h.search("fix", read)
	require.Equal(t, "fix me", got)
	require.Equal(t, 1, reads)
	h.forget()
	h.search("fix", read)
	require.Equal(t, 2, reads)
}
