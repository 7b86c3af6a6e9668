package gitstore

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIsTrailerValue(t *testing.T) {
	good := regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,128}\z`)
	for _, value := range []string{"", "a", "a\n", "ä", strings.Repeat("x", 128), strings.Repeat("x", 129)} {
		require.Equal(t, good.MatchString(value), isTrailerValue(value), value)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -~]{0,4}[A-Za-z0-9_.:-]{0,130}\n?`).Draw(t, "value")
		require.Equal(t, good.MatchString(value), isTrailerValue(value))
	})
}
