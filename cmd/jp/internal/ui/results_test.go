package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No amount of text in between divides a character, so no character that a terminal obeys gets there.
func TestGatheredResults(t *testing.T) {
	for before := range 9 {
		var out bytes.Buffer
		g := Gather(resultWriter{w: &out, lost: new(loss), json: true})
		_, _ = g.Write(bytes.Repeat([]byte("x"), before))
		row := `"` + strings.Repeat("\u009b\u202e\U000e0041", 99) + "\"\n"
		for range 50 {
			_, err := g.Write([]byte(row))
			require.NoError(t, err)
		}
		require.NoError(t, g.Flush())
		want := strings.Repeat("x", before) + strings.Repeat(`"`+strings.Repeat(`\u009b\u202e\udb40\udc41`, 99)+"\"\n", 50)
		require.Equal(t, want, out.String())
	}
}
