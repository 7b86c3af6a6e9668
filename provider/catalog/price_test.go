package catalog

import (
	"context"
	"errors"
	"iter"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/provider"
)

func TestParsePrice(t *testing.T) {
	for _, wrong := range [][]string{nil, {"1"}, {"1", "2", "3", "4", "5"}, {"1", "-2"}, {"1", "1e9"}, {"1", ""}, {"1", "."}, {"1", "0x1"}, {"1", "1/3"}, {"1", "123456789012345678901"}} {
		_, err := ParsePrice(wrong)
		require.ErrorIs(t, err, ErrPrice, wrong)
	}
}

func TestCost(t *testing.T) {
	tests := map[string]struct {
		price []string
		usage conversation.Usage
		want  string
	}{
		"nothing":             {[]string{"3", "15"}, conversation.Usage{}, "0"},
		"in and out":          {[]string{"3", "15"}, conversation.Usage{Input: 1000, Output: 100}, "0.0045"},
		"cached":              {[]string{"3", "15", "0.30", "3.75"}, conversation.Usage{Input: 1_000_000, CacheRead: 600_000, CacheWrite: 400_000}, "1.68"},
		"cached, one price":   {[]string{"3", "15"}, conversation.Usage{Input: 1_000_000, CacheRead: 600_000, CacheWrite: 400_000}, "3"},
		"more cached than in": {[]string{"3", "15", "1"}, conversation.Usage{Input: 5, CacheRead: 1_000_000}, "1"},
		"a whole number":      {[]string{"10", "10"}, conversation.Usage{Input: 10_000_000}, "100"},
	}
	for name, tc := range tests {
		p, err := ParsePrice(tc.price)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, p.Of(tc.usage), name)
	}
	require.Empty(t, Price{}.Of(conversation.Usage{Input: 5}), "an unknown price costs nothing that is known")
}

func TestCostIsLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.StringMatching(`[0-9]{1,3}(\.[0-9]{1,3})?`)
		p, err := ParsePrice([]string{amount.Draw(t, "in"), amount.Draw(t, "out")})
		require.NoError(t, err)
		tokens := rapid.IntRange(0, 2_000_000)
		a, b := tokens.Draw(t, "a"), tokens.Draw(t, "b")
		cost := func(u conversation.Usage) float64 {
			f, err := strconv.ParseFloat(p.Of(u), 64)
			require.NoError(t, err)
			return f
		}
		sum := cost(conversation.Usage{Input: a}) + cost(conversation.Usage{Output: b})
		require.LessOrEqual(t, math.Abs(cost(conversation.Usage{Input: a, Output: b})-sum), 2e-8)
	})
}

// TestTiers: a long request is dearer as a whole, by the tier that it reaches.
func TestTiers(t *testing.T) {
	r := record{Price: amounts{In: "2", Out: "12", Read: "0.2"}, Tiers: []tier{
		{Above: 200_000, Price: amounts{In: "4", Out: "18", Read: "0.4"}}, {Above: 500_000, Price: amounts{In: "8", Out: "20"}},
	}}
	tests := map[string]struct {
		usage conversation.Usage
		want  string
	}{
		"short":           {conversation.Usage{Input: 100_000, Output: 1000}, "0.212"},
		"the last short":  {conversation.Usage{Input: 200_000}, "0.4"},
		"long":            {conversation.Usage{Input: 200_001}, "0.800004"},
		"long and cached": {conversation.Usage{Input: 400_000, CacheRead: 300_000, Output: 1000}, "0.538"},
		"longer":          {conversation.Usage{Input: 600_000, CacheRead: 600_000}, "4.8"},
	}
	for name, tc := range tests {
		require.Equal(t, tc.want, r.model(true).Price.Of(tc.usage), name)
	}
}

// fixed answers every request with the same chunks.
type fixed []provider.Chunk

func (f fixed) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range f {
			if !yield(c, nil) {
				return
			}
		}
		yield(provider.Chunk{}, errors.New("over"))
	}
}

func TestTheProvidersOwnCostCounts(t *testing.T) {
	price, err := ParsePrice([]string{"1", "1"})
	require.NoError(t, err)
	usage := &conversation.Usage{Input: 500_000}
	said := &conversation.Usage{Input: 500_000, CostUSD: "0.7"}
	p := priced{fixed{{Text: "a"}, {Kind: provider.ChunkFinish, Usage: usage}, {Kind: provider.ChunkFinish, Usage: said}}, price}
	var costs []string
	var last error
	for c, err := range p.Stream(t.Context(), nil) {
		if c.Usage != nil {
			costs = append(costs, c.Usage.CostUSD)
		}
		last = err
	}
	require.Equal(t, []string{"0.5", "0.7"}, costs)
	require.EqualError(t, last, "over")
	require.Empty(t, usage.CostUSD, "what the provider gave is left as it was")
}

// Impossible figures count as unreported. Limits of cost then go by an estimate.
func TestImplausibleUsage(t *testing.T) {
	price, err := ParsePrice([]string{"1", "1"})
	require.NoError(t, err)
	for name, tt := range map[string]struct{ said, want conversation.Usage }{
		"usual":            {conversation.Usage{Input: 500_000, Output: 500_000}, conversation.Usage{Input: 500_000, Output: 500_000, CostUSD: "1"}},
		"nothing":          {conversation.Usage{}, conversation.Usage{}},
		"negative":         {conversation.Usage{Input: -5, Output: 500_000}, conversation.Usage{Output: 500_000}},
		"negative, cached": {conversation.Usage{Input: 500_000, CacheRead: -5}, conversation.Usage{Input: 500_000, CostUSD: "0.5"}},
		"huge":             {conversation.Usage{Input: 500_000, Output: 1e18}, conversation.Usage{Input: 500_000}},
		"huge, stated":     {conversation.Usage{Input: 1e18, CostUSD: "0.7"}, conversation.Usage{CostUSD: "0.7"}},
		"a huge cost":      {conversation.Usage{Input: 500_000, CostUSD: "1e300"}, conversation.Usage{Input: 500_000, CostUSD: "0.5"}},
		"a negative cost":  {conversation.Usage{Input: 500_000, CostUSD: "-1"}, conversation.Usage{Input: 500_000, CostUSD: "0.5"}},
		"no cost":          {conversation.Usage{Input: 500_000, CostUSD: "NaN"}, conversation.Usage{Input: 500_000, CostUSD: "0.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			for c, err := range (priced{fixed{{Kind: provider.ChunkFinish, Usage: &tt.said}}, price}).Stream(t.Context(), nil) {
				if err == nil {
					require.Equal(t, tt.want, *c.Usage)
				}
			}
		})
	}
}
