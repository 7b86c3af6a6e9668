package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestShorten(t *testing.T) {
	cases := []struct {
		line string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"cut at a word", 10, "cut at a…"},
		{"oneverylongword", 8, "onevery…"},
		{"a verylongwordindeed", 10, "a verylon…"},
		{"世界世界", 5, "世界…"},
		{"世界世界", 8, "世界世界"},
		{"full\uff21\uff22 \U0001f600\U0001f600", 11, "full\uff21\uff22…"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, Shorten(c.line, c.n), "%q at %d", c.line, c.n)
	}
}
