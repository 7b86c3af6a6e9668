package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestInfoNames(t *testing.T) {
	i := Info{ID: "jp-c17952552000-k3f9"}
	old := Info{ID: "jp-c1752883200", Remote: "team/fork"}
	require.Equal(t, "jp-c17952552000-k3f9", i.Name())
	require.Equal(t, "team/fork/jp-c1752883200", old.Name())
	for word, want := range map[string][4]bool{ // ends in, resembles; for each
		"k3f9": {true, true}, "552000": {true, true}, "000-k3f9": {true, false}, "jp-c17952552000-k3f9": {true, true},
		"f9": {}, "": {}, "k3f8": {false, true}, "k3x8": {}, "552001": {false, true},
		"jp-c17952552000-k3xx": {false, true}, "200": {false, true, true, true}, "3200": {false, false, true, true},
		"team/fork/jp-c1752883200": {false, false, true, false}, "fork/jp-c1752883200": {false, false, true, false},
	} {
		require.Equal(t, want, [4]bool{i.EndsIn(word), i.Resembles(word), old.EndsIn(word), old.Resembles(word)}, word)
	}
}
