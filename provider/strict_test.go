package provider_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/vendortest"
	"jp/provider"
	"jp/provider/catalog"
)

// strictTools are tools with all that model servers refuse, and one that they take.
func strictTools() []provider.Tool {
	schemas := []string{
		`{"type":"object","properties":{}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		`{"type":"object","properties":{"filter[id]":{"type":["string","integer"],"format":"uri"},"tags":{"type":"array"}},"required":["filter[id]"]}`,
		`{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"n":{"$ref":"#/definitions/A"}}}}}`, `{"type":"string"}`, `{}`,
	}
	tools := []provider.Tool{{Name: "tool", Description: "A tool.", Parameters: json.RawMessage(schemas[2])}}
	for i := range 140 {
		tools = append(tools, provider.Tool{Name: "tool_" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Parameters: json.RawMessage(schemas[i%len(schemas)])})
	}
	return tools
}

// cuts are the results of a resume, a fork, a discard and a slice of a conversation.
func cuts(all []*conversation.Event, random *rand.Rand) map[string][]*conversation.Event {
	at := random.IntN(len(all))
	part := all[: at+1 : at+1]
	last := part[len(part)-1]
	first := last.Seq
	for _, e := range part {
		if e.Turn == last.Turn {
			first = min(first, e.Seq)
		}
	}
	discarded := part
	for i, b := range []conversation.Body{
		&conversation.TurnDiscarded{FromSeq: first, ToSeq: last.Seq, By: conversation.ByUser}, &conversation.TurnStart{}, &conversation.ChatRequest{Content: "a new request"},
	} {
		discarded = append(discarded, &conversation.Event{Seq: last.Seq + 1 + i, Turn: last.Turn + min(i, 1), Body: b})
	}
	return map[string][]*conversation.Event{
		"resumed": all, "forked": part, "discarded": discarded, "sliced": conversation.Select(part, conversation.Range{Last: 1, From: &at}),
	}
}

// TestStrictServersTakeEveryHistory lets servers that are as strict as their vendors judge requests of
// generated conversations: those of the model itself, and those of every other API, resumed, forked,
// discarded and sliced.
func TestStrictServersTakeEveryHistory(t *testing.T) {
	items := map[string]func(*conversation.Event) json.RawMessage{
		"anthropic": anthropicItem, "openai-responses": responsesItem, "google": geminiItem, "openai-chat": func(*conversation.Event) json.RawMessage { return nil },
	}
	vendors := append(vendortest.Vendors(), vendortest.Compatible()...)
	histories, requests := 0, 0
	for _, v := range vendors {
		s := vendortest.New(t)
		s.Strict()
		s.Loose()
		s.Always(vendortest.Reply{Text: "Ok."})
		settings := catalog.Settings{}
		for _, pair := range s.Env(vendortest.Compatible()...) {
			name, value, _ := strings.Cut(pair, "=")
			switch strings.TrimPrefix(name, "JP_CFG_PROVIDERS__"+strings.ToUpper(v.Name)+"__") {
			case "BASE_URL":
				settings.BaseURL = value
			case "DIALECT":
				settings.Dialect = value
			}
		}
		found, err := catalog.Find(v.Name, settings)
		require.NoError(t, err)
		asked := found.Open(v.Key(), catalog.Options{Client: s.Client()})
		for api, item := range items {
			for seed := range 3 {
				maker := provider.Target{API: api, Model: "m", Endpoint: "https://elsewhere"}
				if api == asked.API {
					maker = provider.Target{API: api, Model: v.Model, Endpoint: asked.Endpoint, Account: asked.Account}
				}
				random := rand.New(rand.NewPCG(uint64(seed), uint64(len(api))))
				all := rapid.Custom(func(rt *rapid.T) []*conversation.Event {
					session := provider.NewSessionBy(rt, provider.NewMaker(maker, item), nil)
					for range rapid.IntRange(5, 40).Draw(rt, "steps") {
						session.Step()
					}
					return session.Events()
				}).Example(seed)
				histories++
				for how, events := range cuts(all, random) {
					request, err := provider.Build(events, provider.Options{
						Model: v.Name + "/" + v.Model, API: asked.API, Endpoint: asked.Endpoint, Account: asked.Account, System: "Be brief.", Tools: strictTools(),
					})
					if errors.Is(err, provider.ErrNothingToAsk) {
						continue
					}
					require.NoError(t, err)
					requests++
					s.Gave(v, nil)
					if asked.API != "google" { // whose items have ids of their own
						s.Gave(v, givenIn(request))
					}
					for _, err := range asked.Stream(t.Context(), request) {
						require.NoError(t, err, "%s, made by %s, %s: %v", v.Name, api, how, s.Refused())
					}
				}
			}
		}
		require.Empty(t, s.Refused())
	}
	require.Greater(t, requests, 300)
	t.Logf("%d histories, %d requests to %d servers, none refused", histories, requests, len(vendors))
}

// givenIn are the ids that the endpoint of a request gave.
func givenIn(r *provider.Request) (ids []string) {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Kind == provider.BlockToolCall && b.Given {
				ids = append(ids, b.ID)
			}
		}
	}
	return ids
}
