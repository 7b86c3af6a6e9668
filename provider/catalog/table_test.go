package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// whole is the table as JSON reads it.
type whole struct {
	Date, Source string
	Defaults     map[string]struct{ Large, Small []choice }
	Providers    map[string]struct{ API, Protocol, Env string }
	Models       map[string]map[string]record
}

func decoded(t *testing.T, text string) whole {
	t.Helper()
	var w whole
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&w))
	return w
}

// TestBuiltInTable: jp finds by lines the same as a reader of JSON.
func TestBuiltInTable(t *testing.T) {
	w := decoded(t, builtIn)
	require.Equal(t, w.Date, BuiltIn().Date().Format(time.DateOnly))
	require.Equal(t, w.Source, BuiltIn().Source())
	require.Greater(t, len(w.Models), 40)
	for vendor, models := range w.Models {
		text, found := BuiltIn().models(vendor)
		require.True(t, found, vendor)
		require.Equal(t, slices.Sorted(maps.Keys(models)), names(text, 3), vendor)
		for id, want := range models {
			got, found := release(text, id)
			require.True(t, found, id)
			require.Equal(t, want, got, id)
			require.Equal(t, want.Price.In != "", want.Price.Out != "", id)
			require.Positive(t, want.Window, id)
		}
	}
	for name, p := range w.Providers {
		require.Regexp(t, `^https://[a-z0-9.-]+(/[\w./-]*[^/])?$`, p.API, name)
		require.Regexp(t, `^[A-Z][A-Z0-9_]+$`, p.Env, name)
		require.Contains(t, []string{"openai-chat", "anthropic"}, p.Protocol, name)
	}
}

// TestDefaultModels: each provider's defaults are in its table, and one of each list is still offered on the
// table's day.
func TestDefaultModels(t *testing.T) {
	w := decoded(t, builtIn)
	for name, list := range w.Defaults {
		v, err := Find(name, Settings{})
		require.NoError(t, err, name)
		for _, c := range list.Large {
			m := BuiltIn().Model(v, c.ID)
			require.True(t, m.Window > 0 || strings.HasSuffix(c.ID, "-latest"), "%s/%s", name, c.ID)
		}
		require.True(t, slices.ContainsFunc(list.Large, func(c choice) bool { return c.Ends == "" || c.Ends > w.Date }), name)
		require.NotEmpty(t, v.DefaultModel(BuiltIn().Date()), name)
		if small := v.SmallModel(BuiltIn().Date()); !strings.HasSuffix(small, "-latest") && small != "" && small != v.DefaultModel(BuiltIn().Date()) {
			once := conversation.Usage{Input: 3000, Output: 30}
			of := func(model string) float64 {
				price := BuiltIn().Model(v, model).Price
				require.True(t, price.Known(), model)
				cost, err := strconv.ParseFloat(price.Of(once), 64)
				require.NoError(t, err)
				return cost
			}
			require.Less(t, of(small), of(v.DefaultModel(BuiltIn().Date())), name)
		}
	}
	for _, v := range vendors() {
		require.Equal(t, !v.Keyless, v.DefaultModel(BuiltIn().Date()) != "", v.Name)
	}
}

// TestADefaultThatHasEnded gives way to the next.
func TestADefaultThatHasEnded(t *testing.T) {
	list := []choice{{"a", "2026-11-30"}, {"b", "2026-12-15"}, {"c", ""}}
	ending := list[:2]
	tests := map[string]struct {
		now  string
		list []choice
		want string
	}{
		"before":          {"2026-11-29T23:59:59Z", list, "a"},
		"on the day":      {"2026-11-30T00:00:00Z", list, "b"},
		"in another zone": {"2026-11-29T20:00:00-05:00", list, "b"},
		"the second, too": {"2027-01-01T00:00:00Z", list, "c"},
		"long after":      {"2040-01-01T00:00:00Z", list, "c"},
		"all":             {"2027-01-01T00:00:00Z", ending, "b"},
		"none":            {"2027-01-01T00:00:00Z", nil, ""},
		"no end":          {"2027-01-01T00:00:00Z", list[2:], "c"},
	}
	for name, tc := range tests {
		now, err := time.Parse(time.RFC3339, tc.now)
		require.NoError(t, err)
		require.Equal(t, tc.want, firstOf(tc.list, now), name)
	}
}

func lookUp(model string) Model {
	vendor, name, _ := strings.Cut(model, "/")
	v, err := Find(vendor, Settings{})
	if err != nil {
		v = Vendor{Name: vendor, Protocol: Chat}
	}
	return BuiltIn().Model(v, name)
}

// TestCurrentModels have a price, with separate prices for reading and writing a cache, and a window.
func TestCurrentModels(t *testing.T) {
	tests := map[string]struct {
		in, out, read, write string // of a million tokens
		window               int
	}{
		"anthropic/claude-fable-5-1":  {"10", "50", "0.25", "12.5", 1_000_000},
		"anthropic/claude-opus-5-5":   {"4", "20", "0.2", "5", 1_000_000},
		"anthropic/claude-opus-5":     {"5", "25", "0.5", "6.25", 1_000_000},
		"anthropic/claude-sonnet-5-5": {"2", "10", "0.1", "2.5", 1_000_000},
		"anthropic/claude-sonnet-5":   {"2", "10", "0.2", "2.5", 1_000_000},
		"anthropic/claude-haiku-4-5":  {"1", "5", "0.1", "1.25", 200_000},
		"openai/gpt-6.1-sol":          {"2", "10", "0.1", "2.5", 1_050_000},
		"openai/gpt-6.1-terra":        {"1", "5", "0.05", "1.25", 1_050_000},
		"openai/gpt-6-sol":            {"2", "10", "0.2", "2.5", 1_050_000},
		"openai/gpt-6-luna":           {"0.1", "0.5", "0.01", "0.125", 1_050_000},
		"openai/gpt-5.5":              {"5", "30", "0.5", "5", 1_050_000},
		"openai/gpt-5.1":              {"1.25", "10", "0.125", "1.25", 400_000},
		"google/gemini-4-argon":       {"2", "10", "0.1", "2", 1_048_576},
		"google/gemini-3.8-flash":     {"0.75", "3.75", "0.075", "0.75", 1_048_576},
		"google/gemini-2.5-pro":       {"1.25", "10", "0.125", "1.25", 1_048_576},
		"kimi/kimi-k3":                {"3", "15", "0.3", "3", 1_048_576},
		"moonshot/kimi-k2.7-code":     {"0.95", "4", "0.19", "0.95", 262_144},
		"deepseek/deepseek-v4-pro":    {"0.435", "0.87", "0.003625", "0.435", 1_000_000},
		"deepseek/deepseek-v4-flash":  {"0.14", "0.28", "0.0028", "0.14", 1_000_000},
		"glm/glm-5.3":                 {"1.4", "4.4", "0.26", "1.4", 1_000_000},
		"minimax/MiniMax-M2.7":        {"0.3", "1.2", "0.06", "0.375", 200_000},
		"xai/grok-4.5":                {"2", "6", "0.3", "2", 500_000},
	}
	const million = 1_000_000
	for model, want := range tests {
		m := lookUp(model)
		require.Equal(t, want.in, m.Price.Of(conversation.Usage{Input: million}), model)
		require.Equal(t, want.out, m.Price.Of(conversation.Usage{Output: million}), model)
		require.Equal(t, want.read, m.Price.Of(conversation.Usage{Input: million, CacheRead: million}), model)
		require.Equal(t, want.write, m.Price.Of(conversation.Usage{Input: million, CacheWrite: million}), model)
		require.Equal(t, want.window, m.Window, model)
		require.Positive(t, m.Output, model)
	}
}

// TestOneModelByManyNames: each name has the price of the model that it names.
func TestOneModelByManyNames(t *testing.T) {
	for model, all := range map[string][]string{
		"anthropic/claude-opus-5": {
			"anthropic/claude-opus-5-20260801", "anthropic/claude-opus-5-latest", "anthropic/claude-opus-5-0", "anthropic/Claude-Opus-5", "anthropic/claude-opus-5@20260801",
			"work/anthropic/claude-opus-5", "work/anthropic/claude-opus-5-20260801", "openrouter/anthropic/claude-opus-5", "openrouter/anthropic/claude-opus-5-20260801",
		},
		"anthropic/claude-haiku-4-5-20251001": {"anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5-20260101", "gateway/anthropic/claude-haiku-4.5"},
		"openai/gpt-5.1":                      {"openai/gpt-5.1-2025-11-13", "work/openai/gpt-5.1", "work/openai/gpt-5.1-2025-11-13", "openai/gpt-5-1"},
		"xai/grok-4.5":                        {"work/x-ai/grok-4.5", "work/xai/grok-4.5-20260801"},
		"moonshot/kimi-k3":                    {"kimi/kimi-k3", "work/moonshotai/kimi-k3"},
		"minimax/MiniMax-M2.7":                {"minimax/minimax-m2.7"},
		"zai/glm-5.3":                         {"glm/glm-5.3", "work/z-ai/glm-5.3"},
	} {
		use := conversation.Usage{Input: 3_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000, Output: 1_000_000}
		want := lookUp(model)
		require.True(t, want.Price.Known(), model)
		for _, name := range all {
			require.Equal(t, want.Price.Of(use), lookUp(name).Price.Of(use), name)
			require.Equal(t, want.Window, lookUp(name).Window, name)
		}
	}
}

// TestAnotherGenerationHasNoPrice: the same holds for another size of the same generation, and for the same
// model elsewhere.
func TestAnotherGenerationHasNoPrice(t *testing.T) {
	for _, model := range []string{
		"anthropic/claude-opus-6", "anthropic/claude-opus-5-6", "anthropic/claude-opus-50", "anthropic/claude-opus-4-9", "anthropic/claude-opus-4-8-1", "anthropic/claude-opus-4",
		"anthropic/claude-opus", "anthropic/claude-opus-latest", "anthropic/claude-haiku-5", "anthropic/claude-sonnet-5-5-5", "anthropic/claude-", "anthropic/claude-opus-5-fast",
		"openai/gpt-7", "openai/gpt-6", "openai/gpt-6.2-sol", "openai/gpt-6.1-sol-pro", "openai/gpt-5.1.1", "openai/gpt-5.7", "openai/gpt-5-turbo", "openai/gpt", "openai/gpt-5.10",
		"google/gemini-5-argon", "google/gemini-4", "google/gemini-3.9-flash", "google/gemini-3.8-flash-lite", "google/gemini-flash-latest",
		"mistral/mistral-large-latest", "mistral/mistral-large-2601", "deepseek/deepseek-v5-pro", "deepseek/deepseek-v4", "kimi/kimi-k4", "glm/glm-6", "glm/glm-5.4",
		"xai/grok-5", "openrouter/anthropic/claude-opus-6", "openrouter/openai/gpt-7-sol", "work/anthropic/claude-opus-6", "work/claude-opus-5", "ollama/gpt-5", "ollama/openai/gpt-5",
		"lmstudio/google/gemini-3.8-flash", "vllm/deepseek-ai/deepseek-v4-pro", "groq/openai/gpt-5.1", "together/deepseek-ai/deepseek-v4-pro", "gpt-5", "", "anthropic/", "anthropic/\"", "anthropic/a\nb",
	} {
		require.False(t, lookUp(model).Price.Known(), model)
	}
}

// TestWindowOfTheFamily: the window of a model's other versions of the same generation counts.
func TestWindowOfTheFamily(t *testing.T) {
	for model, want := range map[string]int{
		"anthropic/claude-opus-5-fast": 1_000_000, "openai/gpt-6.1-sol-pro": 1_050_000, "google/gemini-3.8-flash-lite": 1_048_576, "openai/gpt-5.1-codex-huge": 400_000,
		"groq/openai/gpt-5.1": 400_000, "openrouter/anthropic/claude-opus-5.5:nitro": 1_000_000,
		"anthropic/claude-opus-6": 0, "anthropic/claude-opus-5-6": 0, "openai/gpt-7": 0, "mistral/mistral-large-latest": 0, "ollama/gpt-5": 0, "work/some-model": 0,
	} {
		require.Equal(t, want, lookUp(model).Window, model)
	}
}

// TestInventedGenerations: a known id with any other number has the price of an id of the table, or none.
func TestInventedGenerations(t *testing.T) {
	w := decoded(t, builtIn)
	rapid.Check(t, func(t *rapid.T) {
		vendor := rapid.SampledFrom([]string{"anthropic", "openai", "google", "openrouter", "moonshot", "xai"}).Draw(t, "vendor")
		id := rapid.SampledFrom(slices.Sorted(maps.Keys(w.Models[vendor]))).Draw(t, "id")
		more := rapid.StringMatching(`[-.]?[0-9]{1,2}(-(pro|mini|fast|[0-9]))?`).Draw(t, "more")
		invented := id + more
		for known := range w.Models[vendor] {
			if plain(known) == plain(invented) || undated(known) == undated(invented) {
				return
			}
		}
		if maker, behind, found := strings.Cut(invented, "/"); found {
			for known := range w.Models[tableOf(maker)] {
				if undated(known) == undated(behind) {
					return
				}
			}
		}
		m := BuiltIn().Model(Vendor{Name: vendor}, invented)
		require.False(t, m.Price.Known(), invented)
	})
}
