package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/turnloop"
)

func TestCrowdedFolderIsToldOnce(t *testing.T) {
	var told []string
	f := &Files{Notice: func(text string) { told = append(told, text) }}
	f.tellCrowded("", 0, false)
	require.Empty(t, told)
	for range 2 {
		f.tellCrowded("data/\x1b[2J", 50_000, true)
	}
	require.Len(t, told, 1)
	require.Contains(t, told[0], "50000 untracked files")
	require.Contains(t, told[0], "data/")
	require.Contains(t, told[0], ".gitignore")
	require.NotContains(t, told[0], "\x1b")
}

func TestInTree(t *testing.T) {
	for name, tt := range map[string]struct{ at, want turnloop.SnapshotRequest }{
		"nothing named":       {turnloop.SnapshotRequest{Tree: "t"}, turnloop.SnapshotRequest{Tree: "t"}},
		"good names":          {turnloop.SnapshotRequest{Only: []string{"a"}, Named: []string{"a"}}, turnloop.SnapshotRequest{Only: []string{"a"}, Named: []string{"a"}}},
		"the whole workspace": {turnloop.SnapshotRequest{Only: []string{"a", "."}, Named: []string{"a", "."}}, turnloop.SnapshotRequest{Named: []string{"a"}, Any: true}},
		"after the tool": {
			turnloop.SnapshotRequest{Since: 1, Only: []string{"a\x00b"}, Named: []string{"a\x00b"}},
			turnloop.SnapshotRequest{Since: 1, Named: []string{}},
		},
		"outside, and named only": {turnloop.SnapshotRequest{Named: []string{"../x", "/x", "", "b"}}, turnloop.SnapshotRequest{Named: []string{"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			named := append([]string(nil), tt.at.Named...)
			require.Equal(t, tt.want, inTree(tt.at))
			require.Equal(t, named, tt.at.Named, "the caller's own")
		})
	}
}
