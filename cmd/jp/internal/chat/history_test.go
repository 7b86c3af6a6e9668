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
