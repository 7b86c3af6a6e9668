package provider

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// feed adds the chunks and returns everything that came out.
func feed(t require.TestingT, a *Assembler, chunks ...Chunk) []Part {
	var all []Part
	for _, c := range chunks {
		parts, err := a.Add(c)
		require.NoError(t, err)
		all = append(all, parts...)
	}
	return all
}

func message(index int, text string) Chunk {
	return Chunk{Kind: ChunkMessage, Index: index, Text: text}
}
func closed(index int) Chunk { return Chunk{Kind: ChunkClose, Index: index} }

func TestAssembler(t *testing.T) {
	call := func(index int, id, tool, text string) Chunk {
		return Chunk{Kind: ChunkToolCall, Index: index, ToolID: id, Tool: tool, Text: text}
	}
	finish := Chunk{Kind: ChunkFinish}
	tests := []struct {
		name   string
		chunks []Chunk
		want   []Part
	}{
		{"text of one part is joined", []Chunk{message(0, "a"), message(0, "b"), closed(0)}, []Part{{Text: "ab"}}},
		{"interleaved parts stay apart", []Chunk{message(0, "a"), message(1, "x"), message(0, "b"), closed(0), closed(1)},
			[]Part{{Text: "ab"}, {Index: 1, Text: "x"}}},
		{"an early one waits", []Chunk{message(0, "a"), message(1, "x"), closed(1), closed(0)}, []Part{{Text: "a"}, {Index: 1, Text: "x"}}},
		{"at the end nothing waits", []Chunk{message(0, "a"), message(1, "x"), closed(1), finish}, []Part{{Index: 1, Text: "x"}}},
		{"another kind is ignored", []Chunk{message(0, "a"), {Kind: ChunkReasoning, Text: "b"}, closed(0)}, []Part{{Text: "a"}}},
		{"closed is closed", []Chunk{message(0, "a"), closed(0), closed(0), message(0, "b"), closed(0)}, []Part{{Text: "a"}}},
		{"closed while waiting is closed", []Chunk{message(0, "a"), message(1, "x"), closed(1), message(1, "y"), closed(1), closed(0)},
			[]Part{{Text: "a"}, {Index: 1, Text: "x"}}},
		{"a part that never began", []Chunk{closed(3), finish}, nil},
		{"white space says nothing", []Chunk{message(0, " \n"), closed(0)}, nil},
		{"reasoning without text or item says nothing", []Chunk{{Kind: ChunkReasoning}, closed(0)}, nil},
		{"reasoning may be an item alone", []Chunk{{Kind: ChunkReasoning}, {Kind: ChunkClose, Item: json.RawMessage(`{"s":1}`)}},
			[]Part{{Kind: ChunkReasoning, Item: json.RawMessage(`{"s":1}`)}}},
		{"broken data is kept", []Chunk{{Kind: ChunkData, Text: `{"a":`}, closed(0)}, []Part{{Kind: ChunkData, Text: `{"a":`}}},
		{"the first id and name win", []Chunk{call(0, "", "", ""), call(0, "a", "f", `{"n"`), call(0, "b", "g", `:1.50}`), closed(0)},
			[]Part{{Kind: ChunkToolCall, ToolID: "a", Tool: "f", Arguments: json.RawMessage("{\n  \"n\": 1.50\n}")}}},
		{"no arguments are the empty object", []Chunk{call(0, "a", "f", " "), closed(0)},
			[]Part{{Kind: ChunkToolCall, ToolID: "a", Tool: "f", Arguments: json.RawMessage("{}")}}},
		{"an open call is lost at the end", []Chunk{call(0, "a", "f", "{"), message(1, "x"), closed(1), finish}, []Part{{Index: 1, Text: "x"}}},
		{"a sign of life", []Chunk{{Kind: ChunkKeepAlive}}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, feed(t, new(Assembler), test.chunks...))
		})
	}
}

func TestACallThatComesAgainIsOneCall(t *testing.T) {
	call := func(index int, id, tool, text string) []Chunk {
		return []Chunk{{Kind: ChunkToolCall, Index: index, ToolID: id, Tool: tool, Text: text}, closed(index)}
	}
	tests := []struct {
		name     string
		calls    [][]Chunk
		come     []int // indices of those that come out
		repeated []int
	}{
		{"the same", [][]Chunk{call(0, "c", "f", `{"a":1}`), call(1, "c", "f", `{"a":1}`)}, []int{0}, []int{1}},
		{"three times", [][]Chunk{call(0, "c", "f", ""), call(1, "c", "f", "{}"), call(2, "c", "f", " { } ")}, []int{0}, []int{1, 2}},
		{"laid out otherwise", [][]Chunk{call(0, "c", "f", `{"a":1,"b":[2]}`), call(1, "c", "f", ` { "b" : [ 2 ], "a" : 1 } `)}, []int{0}, []int{1}},
		{"another between", [][]Chunk{call(0, "c", "f", `{}`), call(1, "d", "f", `{}`), call(2, "c", "f", `{}`)}, []int{0, 1}, []int{2}},
		{"text between", [][]Chunk{call(0, "c", "f", `{}`), {message(1, "x"), closed(1)}, call(2, "c", "f", `{}`)}, []int{0, 1}, []int{2}},
		{"malformed in the same way", [][]Chunk{call(0, "c", "f", `{"a":`), call(1, "c", "f", `{"a":`)}, []int{0}, []int{1}},
		{"repaired, and whole", [][]Chunk{call(0, "c", "f", `{"a":1}{"a":1}`), call(1, "c", "f", `{"a":1}`)}, []int{0}, []int{1}},
		{"malformed in another way", [][]Chunk{call(0, "c", "f", `{"a":`), call(1, "c", "f", `{"a`)}, []int{0, 1}, nil},
		{"malformed, and whole", [][]Chunk{call(0, "c", "f", `[1]`), call(1, "c", "f", `{}`)}, []int{0, 1}, nil},
		{"other arguments", [][]Chunk{call(0, "c", "f", `{"a":1}`), call(1, "c", "f", `{"a":2}`)}, []int{0, 1}, nil},
		{"another tool", [][]Chunk{call(0, "c", "f", `{}`), call(1, "c", "g", `{}`)}, []int{0, 1}, nil},
		{"another id", [][]Chunk{call(0, "c", "f", `{}`), call(1, "d", "f", `{}`)}, []int{0, 1}, nil},
		{"no ids", [][]Chunk{call(0, "", "f", `{}`), call(1, "", "f", `{}`)}, []int{0, 1}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, together := range []bool{false, true} {
				a, come, repeated := new(Assembler), []int(nil), []int(nil)
				add := func(chunks ...Chunk) {
					for _, p := range feed(t, a, chunks...) {
						come = append(come, p.Index)
					}
					for _, p := range a.Repeated() {
						repeated = append(repeated, p.Index)
					}
				}
				if together { // all of them are whole at once
					add(message(-1, "open"))
				}
				for _, chunks := range test.calls {
					add(chunks...)
				}
				add(Chunk{Kind: ChunkFinish})
				require.Equal(t, test.come, come)
				require.Equal(t, test.repeated, repeated)
				require.Empty(t, a.Repeated())
			}
		})
	}
}

func TestAssemblerMalformedArguments(t *testing.T) {
	for _, raw := range []string{`{"a": `, `[1]`, `"x"`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}"} {
		a := new(Assembler)
		parts := feed(t, a, Chunk{Kind: ChunkToolCall, Tool: "f", Text: raw}, closed(0))
		require.Len(t, parts, 1, raw)
		require.True(t, parts[0].Malformed, raw)
		require.Equal(t, "{}", string(parts[0].Arguments), raw)
		require.Equal(t, raw, parts[0].RawArguments)
	}
}

func TestAssemblerEnds(t *testing.T) {
	a := new(Assembler)
	feed(t, a, Chunk{Kind: ChunkFinish})
	_, err := a.Add(message(0, "late"))
	require.ErrorIs(t, err, ErrFinished)
	_, err = new(Assembler).Add(Chunk{Kind: 99})
	require.ErrorIs(t, err, ErrChunk)
}

func TestPartialIsTextInOrder(t *testing.T) {
	a := new(Assembler)
	feed(t, a,
		message(2, "text"), Chunk{Kind: ChunkReasoning, Index: 1, Text: "thought"}, Chunk{Kind: ChunkToolCall, Index: 3, Text: "{"},
		Chunk{Kind: ChunkData, Index: 4, Text: "{"}, message(5, " "), message(6, "whole"), closed(6))
	require.Equal(t, []Part{{Kind: ChunkReasoning, Index: 1, Text: "thought"}, {Kind: ChunkMessage, Index: 2, Text: "text"}}, a.Partial())
}

func TestAssemblerKeepsIndexOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "parts")
		a := new(Assembler)
		for i := range n {
			feed(t, a, message(i, "p"))
		}
		var indices []int
		for _, i := range rapid.Permutation(seqs(n)).Draw(t, "order") {
			for _, p := range feed(t, a, closed(i)) {
				indices = append(indices, p.Index)
			}
		}
		require.Equal(t, seqs(n), indices)
	})
}

func seqs(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestChatPart(t *testing.T) {
	require.Equal(t, conversation.PartMessage, Part{Kind: ChunkMessage}.ChatPart())
	require.Equal(t, conversation.PartReasoning, Part{Kind: ChunkReasoning}.ChatPart())
	require.Equal(t, conversation.PartData, Part{Kind: ChunkData}.ChatPart())
	require.Empty(t, Part{Kind: ChunkToolCall}.ChatPart())
}
