package models

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/config"
	"jp/provider"
	"jp/provider/catalog"
	"jp/usage"
)

// TestALimitNeedsACost: the configuration, the table or the provider's answers have it. Otherwise the error names the key
// that sets a price.
func TestALimitNeedsACost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		model   string
		prices  map[string][]string
		without string // the command that sets a price; "": there is a cost
	}{
		"in the table":        {model: "anthropic/claude-opus-5"},
		"behind a gateway":    {model: "work/anthropic/claude-opus-5"},
		"free":                {model: "openrouter/some/model:free"},
		"stated":              {model: "openrouter/nobody/unknown-9"},
		"configured":          {model: "work/m", prices: map[string][]string{"work/m": {"1", "2"}}},
		"configured as free":  {model: "work/m", prices: map[string][]string{"work/m": {"0", "0"}}},
		"unknown":             {model: "work/m", without: `'prices."work/m"'`},
		"another generation":  {model: "anthropic/claude-opus-99", without: `'prices."anthropic/claude-opus-99"'`},
		"another one's price": {model: "work/m", prices: map[string][]string{"work/other": {"1", "2"}}, without: `'prices."work/m"'`},
		"a script":            {model: "script/x.toml", without: `'prices."script/x.toml"'`},
		"a server here":       {model: "ollama/qwen3", without: `'prices."ollama/qwen3"'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLoginPlace(t, onlyGood)
			p.repo.Config.Prices = test.prices
			require.NoError(t, NeedsPrice(p.repo, test.model), "nothing is limited")
			for key, limits := range map[string]config.Limits{usage.TurnKey: {CostUSD: 1}, usage.DayKey: {CostUSDDay: 1}} {
				p.repo.Config.Limits = limits
				err := NeedsPrice(p.repo, test.model)
				if test.without == "" {
					require.NoError(t, err)
					continue
				}
				var f *problem.Error
				require.ErrorAs(t, err, &f)
				require.Equal(t, key+" limits what model calls may cost, and jp does not know the price of "+test.model+".", f.Message)
				require.Contains(t, f.Hints[0].Action.String(), "jp config set "+test.without)
			}
		})
	}
}

// TestALimitTakesTheTierOfARequest: a long request costs more for each token than a short one.
func TestALimitTakesTheTierOfARequest(t *testing.T) {
	t.Parallel()
	const dev = `{"openai":{"id":"openai","env":["X"],"models":{"m-1":{"id":"m-1","limit":{"context":1000000,"output":1000},
		"cost":{"input":1,"output":2,"tiers":[{"input":10,"output":20,"tier":{"type":"context","size":200000}}]}}}}}`
	table, err := catalog.FromDev([]byte(dev), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "test")
	require.NoError(t, err)
	v, err := catalog.Find("openai", catalog.Settings{})
	require.NoError(t, err)
	price := table.Model(v, "m-1").Price
	for tokens, want := range map[int]string{100_000: "0.1", 300_000: "3"} {
		require.Equal(t, want, usage.InputCost(price, &provider.Request{System: strings.Repeat("x", 4*tokens)}))
	}
}
