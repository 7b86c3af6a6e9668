package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A person gets a notice after ten seconds without a key of theirs, once, in words of jp's.
func TestNotifier(t *testing.T) {
	for name, test := range map[string]struct {
		osc  bool
		want string
	}{
		"a notification": {true, "\x1b]9;jp 4400 waits for your answer\x1b\\"},
		"a bell":         {false, "\a"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			at := time.Unix(1, 0)
			n := &notifier{out: &out, osc: test.osc, now: func() time.Time { return at }, id: "jp-c17952552000-4400", since: at}
			n.tell(waitsForYou)
			at = at.Add(9 * time.Second)
			n.tell(waitsForYou)
			n.acted()
			at = at.Add(9 * time.Second)
			n.tell(waitsForYou)
			require.Empty(t, out.String())
			at = at.Add(time.Second)
			n.tell(waitsForYou)
			n.tell(hasEnded)
			require.Equal(t, test.want, out.String())
		})
	}
	var nobody *notifier
	nobody.acted()
	nobody.tell(hasEnded)
}
