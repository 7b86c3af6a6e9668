package provider_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

// TestEveryCompactionIsValidOnTheWire compacts every short history at every place, lets some of the
// compactions be undone, and judges the requests.
func TestEveryCompactionIsValidOnTheWire(t *testing.T) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, seen, sent := w.line(), map[string]bool{}, 0
			provider.EveryCompacted(1, func(words string) {
				request, err := provider.Build(provider.EventsBy(w.maker(), words), w.options())
				if errors.Is(err, provider.ErrNothingToAsk) || err == nil && seen[request.Prefix()] {
					return
				}
				require.NoError(t, err, words)
				seen[request.Prefix()] = true
				sent++
				require.Empty(t, l.broken(t, t, request), words)
			})
			require.Greater(t, sent, 50)
		})
	}
}
