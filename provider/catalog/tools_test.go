package catalog

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// A model answers with chunks, and keeps the request.
type model struct {
	chunks []provider.Chunk
	asked  *provider.Request
}

func (m *model) Stream(_ context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	m.asked = r
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range m.chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestArgumentsAreTranslated has a tool whose parameter has another name on the wire, in an answer in pieces
// of every length, beside a tool without one.
func TestArgumentsAreTranslated(t *testing.T) {
	renamed := provider.Tool{Name: "list", Parameters: json.RawMessage(`{"type":"object","properties":{"filter[id]":{"type":"string"}},"required":["filter[id]"]}`)}
	plain := provider.Tool{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{"filter_id":{"type":"string"}}}`)}
	call := provider.Block{Kind: provider.BlockToolCall, ID: "c1", Name: "list", Arguments: json.RawMessage(`{"filter[id]":"7"}`)}
	request := &provider.Request{
		Tools: []provider.Tool{renamed, plain},
		Messages: []provider.Message{
			{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Q"}}},
			{Role: conversation.RoleAssistant, Blocks: []provider.Block{call}},
			{Role: conversation.RoleTool, Blocks: []provider.Block{{Kind: provider.BlockResult, ID: "c1", Name: "list", Text: "ok"}}},
		},
	}
	for _, size := range []int{1, 5, 100} {
		for _, late := range []bool{false, true} {
			m := &model{}
			for index, tool := range []string{"list", "look"} {
				name := provider.Chunk{Kind: provider.ChunkToolCall, Index: index, ToolID: tool, Tool: tool}
				if !late {
					m.chunks = append(m.chunks, name)
				}
				arguments := `{"filter_id":"a b","n":1.0}`
				for i := 0; i < len(arguments); i += size {
					m.chunks = append(m.chunks, provider.Chunk{Kind: provider.ChunkToolCall, Index: index, Text: arguments[i:min(i+size, len(arguments))]})
				}
				if late {
					m.chunks = append(m.chunks, name)
				}
				m.chunks = append(m.chunks, provider.Chunk{Kind: provider.ChunkClose, Index: index})
			}
			m.chunks = append(m.chunks,
				provider.Chunk{Kind: provider.ChunkToolCall, Index: 2, ToolID: "x", Tool: "list", Text: `{"filter_id`}, provider.Chunk{Kind: provider.ChunkClose, Index: 2},
				provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.FinishToolCalls})
			var parts provider.Assembler
			var got []provider.Part
			for c, err := range (adapting{m, provider.ToolRules{}}).Stream(t.Context(), request) {
				require.NoError(t, err)
				whole, err := parts.Add(c)
				require.NoError(t, err)
				got = append(got, whole...)
			}
			require.Len(t, got, 3)
			require.JSONEq(t, `{"filter[id]":"a b","n":1.0}`, string(got[0].Arguments))
			require.JSONEq(t, `{"filter_id":"a b","n":1.0}`, string(got[1].Arguments))
			require.True(t, got[2].Malformed)
			require.Equal(t, `{"filter_id`, got[2].RawArguments)
			require.Equal(t, []string{"list", "look", "list"}, []string{got[0].Tool, got[1].Tool, got[2].Tool})

			require.Equal(t, `{"filter_id":"7"}`, string(m.asked.Messages[1].Blocks[0].Arguments))
			require.True(t, strings.Contains(string(m.asked.Tools[0].Parameters), `"required":["filter_id"]`))
			require.Equal(t, `{"filter[id]":"7"}`, string(request.Messages[1].Blocks[0].Arguments), "others read the request")
		}
	}
}

// TestKnownToolsAreThoseOfTheRequest varies the differences between the requests of one conversation.
func TestKnownToolsAreThoseOfTheRequest(t *testing.T) {
	tools := func(schemas ...string) (all []provider.Tool) {
		for i, schema := range schemas {
			all = append(all, provider.Tool{Name: string(rune('a' + i)), Description: "One.", Parameters: json.RawMessage(schema)})
		}
		return all
	}
	calls := []provider.Message{{Role: conversation.RoleAssistant, Blocks: []provider.Block{{Kind: provider.BlockToolCall, ID: "1", Name: "b"}}}}
	object, renamed, none := `{"type":"object"}`, `{"type":"object","properties":{"a[0]":{}}}`, `[]`
	described := tools(object, object)
	described[1].Description = "Another."
	first := provider.Request{Tools: tools(object, object)}
	steps := []struct {
		request provider.Request
		rules   provider.ToolRules
	}{
		{first, provider.ToolRules{}}, {first, provider.ToolRules{}}, {provider.Request{Tools: tools(object)}, provider.ToolRules{}}, {provider.Request{Tools: described}, provider.ToolRules{}},
		{provider.Request{Tools: tools(object, renamed)}, provider.ToolRules{}}, {provider.Request{Tools: tools(object, none)}, provider.ToolRules{}},
		{provider.Request{Tools: tools(object, none), Messages: calls}, provider.ToolRules{}}, {provider.Request{Tools: tools(object, object), Messages: calls}, provider.ToolRules{Max: 1}},
		{first, provider.ToolRules{Max: 1}}, {provider.Request{}, provider.ToolRules{}}, {first, provider.ToolRules{Max: -1}},
	}
	var known adaptedTools
	for i, step := range steps {
		anew := new(adaptedTools)
		require.Equal(t, anew.of(&step.request, step.rules), known.of(&step.request, step.rules), i)
		made := known.of(&step.request, step.rules)
		if len(made.Tools) > 0 {
			require.Same(t, &made.Tools[0], &known.of(&step.request, step.rules).Tools[0], i)
		}
	}
}
