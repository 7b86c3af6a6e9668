package provider_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// TestRequestsWithASecretReplacedAreValidOnTheWire replaces the text of one
// event after the other, which loses the state that its provider wants back.
func TestRequestsWithASecretReplacedAreValidOnTheWire(t *testing.T) {
	depth := 1
	if os.Getenv("JP_CRASH") == "full" {
		depth = 2
	}
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, sent := w.line(), 0
			provider.Every(nil, depth, func(words []string) {
				written := "T Q R C1+ D1 R M. T Q " + strings.Join(words, " ")
				for i := range provider.EventsBy(w.maker(), written) {
					events := provider.EventsBy(w.maker(), written)
					had := len(events[i].Provider) > 0
					events[i].Rewrite(func(name, text string) string {
						if name != "tool_call_id" && name != "name" && name != "model" {
							return text + "[x]"
						}
						return text
					})
					if had {
						require.Empty(t, events[i].Provider)
					}
					if events[i].Role() != conversation.RoleAssistant {
						continue
					}
					request, err := provider.Build(events, w.options())
					if errors.Is(err, provider.ErrNothingToAsk) {
						continue
					}
					require.NoError(t, err, written)
					sent++
					require.Empty(t, l.broken(t, t, request), "%s, %d replaced", written, i)
				}
			})
			require.Greater(t, sent, 30)
		})
	}
}
