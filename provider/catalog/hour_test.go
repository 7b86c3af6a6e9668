package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// TestPriceOfAnHour has writes of both lives: one million tokens at 3, 15, 0.30 and 3.75 dollars.
func TestPriceOfAnHour(t *testing.T) {
	p := BuiltIn().Model(Vendor{Name: "anthropic"}, "claude-sonnet-4-5").Price
	for hour, want := range map[int]string{0: "3.75", 1_000_000: "6", 500_000: "4.875", 2_000_000: "6"} {
		require.Equal(t, want, p.Of(conversation.Usage{Input: 1_000_000, CacheWrite: 1_000_000, CacheWriteHour: hour}))
	}
}
