package conversation

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The short way of reading gives the same as any JSON reader.
func TestTwoNumbers(t *testing.T) {
	a, b, ok := twoNumbers([]byte("[12,345]"))
	require.True(t, ok)
	require.Equal(t, []int{12, 345}, []int{a, b})
	for _, other := range []string{"", "[", "[]", "[1]", "[1,]", "[,1]", "[1,2,3]", "[-1,2]", "[1.0,2]", "[1, 2]", "[1e1,2]", "null", "[1234567890,1]", "1,2"} {
		_, _, ok := twoNumbers([]byte(other))
		require.False(t, ok, other)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`\[[0-9]{0,11},[0-9]{0,11}\]`).Draw(t, "raw")
		a, b, ok := twoNumbers([]byte(raw))
		var want []int
		if json.Unmarshal([]byte(raw), &want) == nil && ok {
			require.Equal(t, want, []int{a, b})
		}
	})
}
