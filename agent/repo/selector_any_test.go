package repo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/testing/journaltest"
)

// Every word for an event names one of the conversation's, or fails with words and an exit code.
func TestAnySelector(t *testing.T) {
	events := journaltest.Sample(t).Events()
	for i, e := range events {
		e.Commit = fmt.Sprintf("%040x", i*0x1111111)
	}
	id := journaltest.ID(1)
	shapes := rapid.OneOf(
		rapid.StringMatching(`-?[0-9]{1,20}`), rapid.StringMatching(`turn:-?[0-9x]{0,3}`), rapid.StringMatching(`[0-9a-f]{5,42}`),
		rapid.StringMatching(`[0-9]{1,21}(s|m|min|h|d|w)`), rapid.StringMatching(`20[0-9]{2}-[01][0-9]-[0-3][0-9](T[0-9:]{8}Z)?`), rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		target, e := repo.SplitTarget(rapid.StringN(0, 6, -1).Draw(t, "target") + "@" + shapes.Draw(t, "event"))
		require.NotContains(t, target, "@")
		now := time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "now"), 0).UTC()
		for _, n := range []int{0, 1, len(events)} {
			found, err := repo.SelectEvent(events[:n], e, id, now)
			if err == nil {
				require.Contains(t, events[:n], found)
				continue
			}
			require.Nil(t, found)
			var said *problem.Error
			require.ErrorAs(t, err, &said)
			require.NotEmpty(t, said.Message)
		}
	})
}
