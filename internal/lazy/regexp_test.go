package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/lazy"
)

func TestRegexp(t *testing.T) {
	word := lazy.Regexp(`^\w+$`)
	require.True(t, word().MatchString("word"))
	require.False(t, word().MatchString("two words"))
	require.Same(t, word(), word(), "compiled once")

	none := lazy.Regexp(`(`)
	require.Panics(t, func() { none() })
}
