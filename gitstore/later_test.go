package gitstore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/journaltest"
)

// Additions of a later jp within version 1 stay, and the conversation goes on.
func TestLaterEventsOfThisVersion(t *testing.T) {
	for name, edit := range map[string][2]string{
		"a key":    {`"seq":2`, `"hologram":{"b" : 1.0},"seq":2`},
		"a header": {"\njp-data", "\njp-hologram x\njp-data"},
		"a type":   {"chat_response", "hologram"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.create(1, journaltest.Turn(t, "first", "answer"))
			head := f.rewrite(1, func(c string) string { return strings.ReplaceAll(c, edit[0], edit[1]) })
			got, err := f.load(1)
			require.NoError(t, err)
			require.Len(t, got, 3)
			require.False(t, got[2].Opaque())
			_, err = f.Append(t.Context(), journaltest.ID(1), head, say("x", "x", "x", "x")[3:])
			require.NoError(t, err)
			got, err = f.load(1)
			require.NoError(t, err)
			require.Len(t, got, 4)
		})
	}
}
