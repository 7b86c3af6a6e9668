package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

var devDay = time.Date(2030, 2, 3, 4, 5, 6, 0, time.UTC)

// TestLayout: the table that jp writes is laid out as that of tools/models.
func TestLayout(t *testing.T) {
	w := decoded(t, builtIn)
	mine := tableText(BuiltIn().Date(), w.Source, w.Models)
	_, want, _ := strings.Cut(builtIn, "\n \"models\": {")
	_, got, _ := strings.Cut(mine, "\n \"models\": {")
	require.Equal(t, want, got)
	require.Equal(t, w.Models, decoded(t, mine).Models)
}

const good = `{"limit":{"context":2000000,"output":9000},"cost":{"input":7,"output":70,"cache_read":0.7,"cache_write":8.75},"modalities":{"input":["text","image"]}}`

func TestFromDev(t *testing.T) {
	text := `{
	"anthropic": {"id":"anthropic","env":["STOLEN_KEY"],"api":"https://evil.example/v1","models":{
		"claude-opus-5": ` + good + `,
		"claude-opus-9": {"id":"claude-opus-9","limit":{"context":3000000,"output":1},"cost":{"input":1,"output":2,
			"tiers":[{"input":3,"output":4,"tier":{"type":"context","size":1000}},{"input":5,"output":6,"tier":{"type":"time","size":2000}}],"context_over_200k":{"input":9,"output":9}}},
		"claude-haiku-4-5-20251001": {"limit":{"context":200000,"output":64000},"cost":{"input":0,"output":0}}
	}},
	"google": {"models":{"gemini-9": {"limit":{"context":1048576},"cost":{"input":1,"output":2,"context_over_200k":{"input":3,"output":4}}}}},
	"togetherai": {"models":{"m/free": {"limit":{"context":5000},"cost":{"input":0,"output":0}}}},
	"evil": {"env":["PATH"],"api":"https://evil.example","models":{"x": ` + good + `}}
	}`
	table, err := FromDev([]byte(text), devDay, "here.example")
	require.NoError(t, err)
	table = Newest(table.Text())
	require.Equal(t, "2030-02-03", table.Date().Format(time.DateOnly))
	require.Equal(t, "here.example", table.Source())
	require.NotContains(t, table.Text(), "evil")
	require.NotContains(t, table.Text(), "STOLEN")

	anthropic := Vendor{Name: "anthropic"}
	m := table.Model(anthropic, "claude-opus-5")
	require.Equal(t, "77", m.Price.Of(conversation.Usage{Input: 1_000_000, Output: 1_000_000}))
	require.Equal(t, "9.45", m.Price.Of(conversation.Usage{Input: 2_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000}))
	require.Equal(t, []any{2_000_000, 9000, false, true}, []any{m.Window, m.Output, m.NoImages, m.NoPDF})
	require.Equal(t, BuiltIn().Model(anthropic, "claude-opus-5").Levels, m.Levels, "the update says nothing of them")

	m = table.Model(anthropic, "claude-opus-9")
	require.Equal(t, "0.001", m.Price.Of(conversation.Usage{Input: 1000}))
	require.Equal(t, "0.003003", m.Price.Of(conversation.Usage{Input: 1001}))
	require.Equal(t, "0.6", table.Model(Vendor{Name: "google"}, "gemini-9").Price.Of(conversation.Usage{Input: 200_000 + 0, Output: 200_000}))
	require.Equal(t, "0.600003", table.Model(Vendor{Name: "google"}, "gemini-9").Price.Of(conversation.Usage{Input: 200_001}))

	use := conversation.Usage{Input: 1000, Output: 1000}
	haiku := table.Model(anthropic, "claude-haiku-4-5")
	require.Equal(t, BuiltIn().Model(anthropic, "claude-haiku-4-5").Price.Of(use), haiku.Price.Of(use), "0 and 0 is no price")
	require.Equal(t, "0", table.Model(Vendor{Name: "together"}, "m/free").Price.Of(use))
	require.True(t, table.Model(Vendor{Name: "openai"}, "gpt-6-sol").Price.Known(), "what the update lacks stays")
	v, known := tabled("groq")
	require.True(t, known)
	require.Equal(t, "https://api.groq.com/openai/v1", v.BaseURL)
}

// TestBoundsOfATable: a bad record is left out, and a text with more bad than good ones is refused whole.
func TestBoundsOfATable(t *testing.T) {
	limit := func(window string) string { return `{"limit":{"context":` + window + `}}` }
	cost := func(c string) string { return `{"limit":{"context":100000},"cost":{` + c + `}}` }
	bad := map[string]string{
		"a price below 0":         cost(`"input":-1,"output":1`),
		"an output below 0":       cost(`"input":1,"output":-0.0001`),
		"a price above 1000":      cost(`"input":1000.1,"output":1`),
		"a cached price below 0":  cost(`"input":1,"output":1,"cache_read":-1`),
		"cached above the input":  cost(`"input":1,"output":1,"cache_read":1.01`),
		"a write above 1000":      cost(`"input":1,"output":1,"cache_write":1001`),
		"half a price":            cost(`"input":1`),
		"a price in words":        cost(`"input":"1","output":1`),
		"a number beyond numbers": cost(`"input":1e999,"output":1`),
		"a wrong tier":            cost(`"input":1,"output":1,"tiers":[{"input":-1,"output":1,"tier":{"type":"context","size":5}}]`),
		"a tier from 0 on":        cost(`"input":1,"output":1,"tiers":[{"input":1,"output":1,"tier":{"type":"context","size":0}}]`),
		"a wrong long price":      cost(`"input":1,"output":1,"context_over_200k":{"input":1,"output":1,"cache_read":2}`),
		"a small window":          limit("999"),
		"a large window":          limit("20000001"),
		"no window":               `{}`,
		"a window below 0":        limit("-5"),
		"a long output":           `{"limit":{"context":100000,"output":20000001}}`,
		"no record":               `"x"`,
		"null":                    `null`,
	}
	for name, record := range bad {
		half := fmt.Sprintf(`{"anthropic":{"models":{"bad-1":%s,"good-1":%s}}}`, record, good)
		table, err := FromDev([]byte(half), devDay, "x")
		require.NoError(t, err, name)
		require.Zero(t, table.Model(Vendor{Name: "anthropic"}, "bad-1").Window, name)
		require.Equal(t, 2_000_000, table.Model(Vendor{Name: "anthropic"}, "good-1").Window, name)

		most := fmt.Sprintf(`{"anthropic":{"models":{"bad-1":%s,"bad-2":%s,"good-1":%s}}}`, record, record, good)
		_, err = FromDev([]byte(most), devDay, "x")
		require.ErrorIs(t, err, ErrTable, name)
	}
	for name, text := range map[string]string{
		"garbage": "<html>", "nothing": "", "an empty object": "{}", "a list": "[]", "no models": `{"anthropic":{}}`, "cut": `{"anthropic":{"models":{"a":` + good,
		"more behind it": `{"anthropic":{"models":{"a":` + good + `}}} x`, "too long": `{"anthropic":{"models":{"a":` + good + `}}}` + strings.Repeat(" ", MostBytes),
		"deep": strings.Repeat(`{"a":`, 20000), "a text": `{"anthropic":{"models":"x"}}`, "a number": "5",
	} {
		_, err := FromDev([]byte(text), devDay, "x")
		require.ErrorIs(t, err, ErrTable, name)
		require.NotContains(t, err.Error(), "Go ", name)
	}
	for _, id := range []string{"", "a b", "a\\nb", "a\\u001b[2Jb", strings.Repeat("x", 201)} {
		_, err := FromDev([]byte(`{"anthropic":{"models":{"`+id+`":`+good+`}}}`), devDay, "x")
		require.ErrorIs(t, err, ErrTable, id)
	}
	for _, edge := range []string{limit("1000"), limit("20000000"), cost(`"input":1000,"output":1000,"cache_read":1000`), cost(`"input":0.5,"output":0,"cache_read":0`), cost(``)} {
		_, err := FromDev([]byte(`{"anthropic":{"models":{"a":`+edge+`}}}`), devDay, "x")
		require.NoError(t, err, edge)
	}
}

func TestNewest(t *testing.T) {
	at := func(day string) string {
		when, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		table, err := FromDev([]byte(`{"anthropic":{"models":{"a-1":`+good+`}}}`), when, "x")
		require.NoError(t, err)
		return table.Text()
	}
	own := BuiltIn().Date().Format(time.DateOnly)
	for text, want := range map[string]bool{at("2099-01-01"): true, at(own): false, at("2020-01-01"): false, "": false, "{}": false, "\n \"date\": \"2099\",": false} {
		require.Equal(t, want, Newest(text).Model(Vendor{Name: "anthropic"}, "a-1").Window > 0, text[:min(len(text), 40)])
	}
}
