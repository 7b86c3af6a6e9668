package gitstore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// TestBackReadsAhead goes back so far that events are read before they are asked
// for, to the first one and to some before it.
func TestBackReadsAhead(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, long(300))
	all, err := f.Load(t.Context(), head)
	require.NoError(t, err)
	slices.Reverse(all)
	for _, take := range []int{1, 15, 16, 17, 18, 100, 299, 300} {
		t.Run(fmt.Sprint(take), func(t *testing.T) {
			var got []*conversation.Event
			for e, err := range f.Backward(t.Context(), head) {
				require.NoError(t, err)
				if got = append(got, e); len(got) == take {
					break
				}
			}
			require.Equal(t, commits(all[:take]), commits(got))
		})
	}
}
