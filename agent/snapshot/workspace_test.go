package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/turnloop"
)

func TestInTree(t *testing.T) {
	for name, tt := range map[string]struct{ at, want turnloop.Glance }{
		"nothing named":       {turnloop.Glance{Tree: "t"}, turnloop.Glance{Tree: "t"}},
		"good names":          {turnloop.Glance{Only: []string{"a"}, Named: []string{"a"}}, turnloop.Glance{Only: []string{"a"}, Named: []string{"a"}}},
		"the whole workspace": {turnloop.Glance{Only: []string{"a", "."}, Named: []string{"a", "."}}, turnloop.Glance{Named: []string{"a"}, Any: true}},
		"after the tool": {
			turnloop.Glance{Since: 1, Only: []string{"a\x00b"}, Named: []string{"a\x00b"}},
			turnloop.Glance{Since: 1, Named: []string{}},
		},
		"outside, and named only": {turnloop.Glance{Named: []string{"../x", "/x", "", "b"}}, turnloop.Glance{Named: []string{"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			named := append([]string(nil), tt.at.Named...)
			require.Equal(t, tt.want, inTree(tt.at))
			require.Equal(t, named, tt.at.Named, "the caller's own")
		})
	}
}
