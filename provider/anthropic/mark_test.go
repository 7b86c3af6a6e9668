package anthropic

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

// marksOf are the places with a mark in a request, in its order, with how long each lives.
func marksOf(t *testing.T, r *provider.Request, o Options) (marks []string) {
	t.Helper()
	type block struct {
		CacheControl *struct{ TTL string } `json:"cache_control"`
	}
	var body struct {
		Tools, System []block
		Messages      []struct{ Content []block }
	}
	require.NoError(t, json.Unmarshal(bodyOf(t, r, o), &body))
	add := func(where string, blocks []block) {
		for i, b := range blocks {
			if b.CacheControl != nil {
				require.Equal(t, len(blocks)-1, i, "a mark stands at the end of %s", where)
				marks = append(marks, where+" "+b.CacheControl.TTL)
			}
		}
	}
	add("tools", body.Tools)
	add("system", body.System)
	for i, m := range body.Messages {
		add(fmt.Sprint(i), m.Content)
	}
	return marks
}

// TestMarks varies the length of the conversation, the fields of the request, and the address.
func TestMarks(t *testing.T) {
	look := []provider.Tool{{Name: "look"}}
	talk := []provider.Message{user("a"), assistant(text("b")), user("c"), assistant(text("d")), user("e")}
	own, elsewhere := Options{}, Options{BaseURL: "https://gateway.example.com"}
	tests := []struct {
		name     string
		messages []provider.Message
		system   string
		tools    []provider.Tool
		options  Options
		want     []string
	}{
		{"the first request", talk[:1], "S", look, own, []string{"system 1h", "0 1h"}},
		{"the second", talk[:3], "S", look, own, []string{"system 1h", "0 1h", "2 "}},
		{"a later one", talk, "S", look, own, []string{"system 1h", "0 1h", "2 ", "4 "}},
		{"without a system prompt", talk, "", look, own, []string{"tools 1h", "0 1h", "2 ", "4 "}},
		{"without both", talk, "", nil, own, []string{"0 1h", "2 ", "4 "}},
		{"at the address that New sets", talk, "S", look, Options{BaseURL: usualURL}, []string{"system 1h", "0 1h", "2 ", "4 "}},
		{"at another address", talk, "S", look, elsewhere, []string{"system ", "0 ", "2 ", "4 "}},
		{"at another address, as configured", talk, "S", look, Options{BaseURL: elsewhere.BaseURL, CacheLife: "1h"}, []string{"system 1h", "0 1h", "2 ", "4 "}},
		{"five minutes, as configured", talk, "S", look, Options{CacheLife: "5m"}, []string{"system ", "0 ", "2 ", "4 "}},
		{"a life of another vendor", talk, "S", look, Options{CacheLife: "24h"}, []string{"system 1h", "0 1h", "2 ", "4 "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &provider.Request{Model: newModel, System: test.system, Tools: test.tools, Messages: test.messages}
			require.Equal(t, test.want, marksOf(t, r, test.options))
		})
	}
}
