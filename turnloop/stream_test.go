package turnloop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/script"
	. "jp/turnloop"
)

func TestWholeTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turn.toml")
	require.NoError(t, os.WriteFile(path, []byte(`
[[reply]]
reasoning = "Look first."
message = "I look at both, then I write."
chunk_size = 5
[[reply.tool_call]]
name = "read"
arguments = { path = "a" }
[[reply.tool_call]]
name = "read"
arguments = { path = "b" }
[[reply.tool_call]]
name = "write"
[[reply]]
message = "Done."
`), 0o600))
	r := newRig(t, []*fakeTool{reads("read"), changes("write")})
	scripted, err := script.Open(path)
	require.NoError(t, err)
	r.opts.Model.Provider = scripted

	o := r.done()

	require.Equal(t, []conversation.Type{
		"turn_start", "prompt", "chat_request",
		"chat_response", "chat_response", "tool_call_request", "tool_call_request", "tool_call_request",
		"tool_call_response", "tool_call_response",
		"inquiry_request", "inquiry_response", // write is allowed by the configuration
		"tool_started", "tool_call_response",
		"chat_response", "turn_done",
	}, typesOf(r.stored()))
	require.Equal(t, Complete, o.Status)
	require.Equal(t, "Done.", o.Message)
	require.Equal(t, 1, o.Turn)
	require.Positive(t, o.Usage.Input)
	events := r.stored()
	require.Equal(t, conversation.PartReasoning, events[3].Body.(*conversation.ChatResponse).Part)
	last := events[7].Body.(*conversation.ToolCallRequest)
	require.Equal(t, conversation.FinishToolCalls, last.Finish, "the last event of a call has its end")
	require.NotEmpty(t, last.Prefix)
	require.NotNil(t, last.Usage)
	require.Empty(t, events[6].Body.(*conversation.ToolCallRequest).Finish)
	require.Equal(t, 2, events[15].Body.(*conversation.TurnDone).Calls)

	again, err := New(r.opts).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, o, again, "a complete turn stays as it is")
	require.Len(t, r.stored(), len(events))
}

func TestSecondTurnWritesNoPromptUnlessItDiffers(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read")}, answers("one"), answers("two"), answers("three"))
	r.done()
	r.done()
	require.Equal(t, []conversation.Type{"turn_start", "chat_request", "chat_response", "turn_done"}, typesOf(r.stored())[5:])
	r.opts.Model.System = "Be long."
	r.done()
	require.Equal(t, []conversation.Type{"turn_start", "prompt", "chat_request", "chat_response", "turn_done"}, typesOf(r.stored())[9:])
	require.Equal(t, "Be long.", r.model.requests[2].System)
}

func TestPartsAreDurableBeforeTheAnswerEnds(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read")})
	var during []conversation.Type
	look := func(context.Context) { during = typesOf(r.stored()) }
	r.model.replies = []reply{
		once(thinks("hm"), hasContent("I look", " now"), calls("read", "_1", "{}"), look, ends(conversation.FinishToolCalls)), answers("ok"),
	}
	r.done()
	require.Equal(t, []conversation.Type{"turn_start", "prompt", "chat_request", "chat_response", "chat_response"}, during,
		"the part that was closed last waits for the end of the call")
	require.Equal(t, conversation.FinishToolCalls, last[*conversation.ToolCallRequest](r).Finish)
	require.Equal(t, "chat_request chat_response chat_response tool_call_request tool_call_response chat_response", r.turn())
	for _, d := range r.deltas {
		e := r.opts.Conversation.Stream.Events()[d.Seq].Body.(*conversation.ChatResponse)
		require.Equal(t, d.Text, e.Text[d.At:d.At+len(d.Text)])
		require.Equal(t, d.Part, e.Part)
		require.Equal(t, d.Call, e.Call)
	}
	require.Len(t, r.deltas, 4)
}

func TestInterleavedParts(t *testing.T) {
	chunk := func(kind provider.ChunkKind, index int, text string) any {
		return provider.Chunk{Kind: kind, Index: index, Text: text}
	}
	const message, reasoning, closed = provider.ChunkMessage, provider.ChunkReasoning, provider.ChunkClose
	r := newRig(t, nil, reply{[]any{
		chunk(reasoning, 0, "hm"), chunk(message, 1, "first "), chunk(message, 2, "sec"), chunk(message, 1, "text"), chunk(closed, 2, ""),
		chunk(reasoning, 0, "m"), chunk(closed, 0, ""), chunk(message, 1, "."), chunk(closed, 1, ""), ends(conversation.FinishStop),
	}})
	o := r.done()
	require.Equal(t, "first text.\n\nsec", o.Message, "in the order of the indices")
	require.Equal(t, "chat_request chat_response chat_response chat_response", r.turn())
	require.Equal(t, conversation.FinishStop, last[*conversation.ChatResponse](r).Finish)
	for _, d := range r.deltas {
		e := r.opts.Conversation.Stream.Events()[d.Seq].Body.(*conversation.ChatResponse)
		require.Equal(t, d.Text, e.Text[d.At:d.At+len(d.Text)])
	}
}

func TestBlankPartsAreNotStreamed(t *testing.T) {
	chunk := func(kind provider.ChunkKind, index int, text string) any {
		return provider.Chunk{Kind: kind, Index: index, Text: text}
	}
	const message, reasoning, closed = provider.ChunkMessage, provider.ChunkReasoning, provider.ChunkClose
	cases := map[string][]any{
		"closed":                {chunk(reasoning, 0, "\n\n"), chunk(closed, 0, ""), chunk(message, 1, "\n"), chunk(message, 1, "\n"), chunk(message, 1, "Hello"), chunk(message, 1, " ")},
		"open":                  {chunk(reasoning, 0, "\n\n"), chunk(message, 1, "\n\nHello"), chunk(message, 1, " ")},
		"closed behind another": {chunk(reasoning, 0, "\n"), chunk(reasoning, 1, " "), chunk(closed, 1, ""), chunk(message, 2, "\n\nHello"), chunk(message, 2, " ")},
	}
	for name, chunks := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, reply{append(chunks, ends(conversation.FinishStop))}, once(ends(conversation.FinishStop)))
			r.done()
			require.Equal(t, "chat_request chat_response note chat_response", r.turn(), "the open part is no answer")
			require.Len(t, r.deltas, 2)
			text := ""
			for _, d := range r.deltas {
				require.Equal(t, conversation.PartMessage, d.Part)
				require.Same(t, r.opts.Conversation.Stream.Events()[3].Body, r.opts.Conversation.Stream.Events()[d.Seq].Body)
				require.Equal(t, len(text), d.At)
				text += d.Text
			}
			require.Equal(t, "\n\nHello ", text)
		})
	}
}

func TestAnswersWithoutWords(t *testing.T) {
	stop, toolCalls := ends(conversation.FinishStop), ends(conversation.FinishToolCalls)
	cases := []struct {
		name    string
		replies []reply
		turn    string
		status  Status
		message string
	}{
		{"nothing at all, twice", []reply{once(stop), once(stop)}, "chat_request chat_response note chat_response", Complete, ""},
		{"nothing at all, then an answer", []reply{once(stop), answers("Done.")}, "chat_request chat_response note chat_response", Complete, "Done."},
		{
			"only reasoning, twice", []reply{once(thinks("hm"), stop), once(thinks("hm"), stop), answers("never asked for")},
			"chat_request chat_response note chat_response", Complete, "",
		},
		{
			"blanks, then a call, then nothing, then an answer", []reply{once(hasContent(" \n"), stop), asksFor("read"), once(stop), answers("Done.")},
			"chat_request chat_response note tool_call_request tool_call_response chat_response note chat_response", Complete, "Done.",
		},
		{
			"empty behind results, again later", []reply{asksFor("read"), once(stop), asksFor("read"), once(stop), answers("Done.")},
			"chat_request tool_call_request tool_call_response chat_response note tool_call_request tool_call_response chat_response note chat_response", Complete, "Done.",
		},
		{"cut off before the first word", []reply{once(thinks("hm"), ends(conversation.FinishLength))}, "chat_request chat_response", Length, ""},
		{
			"tool calls without a call, then an answer", []reply{once(toolCalls), answers("Done.")},
			"chat_request chat_response note chat_response", Complete, "Done.",
		},
		{
			"words and no call, then the call", []reply{once(hasContent("I edit it."), toolCalls), asksFor("read"), answers("Done.")},
			"chat_request chat_response note tool_call_request tool_call_response chat_response", Complete, "Done.",
		},
		{"no reason", []reply{once(hasContent("hi"), ends(""))}, "chat_request chat_response", Complete, "hi"},
		{
			"empty behind results, then an answer", []reply{asksFor("read"), once(stop), answers("Done.")},
			"chat_request tool_call_request tool_call_response chat_response note chat_response", Complete, "Done.",
		},
		{
			"empty behind results, twice", []reply{asksFor("read"), once(stop), once(stop), answers("never asked for")},
			"chat_request tool_call_request tool_call_response chat_response note chat_response", Complete, "",
		},
		{"refused", []reply{once(hasContent("No."), ends(conversation.FinishRefusal))}, "chat_request chat_response", Refused, "No."},
		{"filtered", []reply{once(ends(conversation.FinishFiltered))}, "chat_request chat_response", Refused, ""},
		{"cut off", []reply{once(hasContent("Half"), ends(conversation.FinishLength))}, "chat_request chat_response", Length, "Half"},
		{
			"cut off in a tool call", []reply{once(calls("read", "_1", `{"path":`), ends(conversation.FinishLength)), answers("Done.")},
			"chat_request tool_call_request tool_call_response chat_response", Complete, "Done.",
		},
		{
			"cut off behind a tool call", []reply{once(calls("read", "_1", `{}`), ends(conversation.FinishLength)), answers("Done.")},
			"chat_request tool_call_request tool_call_response chat_response", Complete, "Done.",
		},
		{
			"refused with a tool call", []reply{once(calls("read", "_1", `{}`), ends(conversation.FinishRefusal))},
			"chat_request tool_call_request tool_call_response", Refused, "",
		},
		{
			"filtered with a tool call", []reply{once(calls("read", "_1", `{}`), ends(conversation.FinishFiltered))},
			"chat_request tool_call_request tool_call_response", Refused, "",
		},
		{
			"paused", []reply{once(hasContent(paused), ends(conversation.FinishPause)), answers("Done.")},
			"chat_request chat_response chat_response", Complete, "Done.",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			read := reads("read")
			r := newRig(t, []*fakeTool{read}, c.replies...)
			o := r.done()
			require.Equal(t, c.turn, r.turn())
			require.Equal(t, c.status, o.Status)
			require.Equal(t, c.message, o.Message)
			require.Equal(t, c.message == "" && c.status != Refused, o.Empty)
			if strings.HasPrefix(c.name, "nothing at all") {
				require.Contains(t, r.model.sent(), "Your answer was empty. Please answer.")
			}
			if strings.HasPrefix(c.name, "empty behind") {
				require.Contains(t, r.model.sent(), "Please continue.")
			}
			if strings.Contains(c.name, "in a tool call") || strings.Contains(c.name, "behind a tool call") || strings.HasSuffix(c.name, "ed with a tool call") {
				require.Empty(t, read.runs)
				require.True(t, r.result().IsError)
			}
		})
	}
}

func TestCallThatStaysMissing(t *testing.T) {
	missing := once(hasContent("I edit it."), ends(conversation.FinishToolCalls))
	r := newRig(t, []*fakeTool{reads("read")}, missing, missing, answers("Done."))
	o, err := r.start(t.Context())
	var failed *ProviderError
	var cause *provider.Error
	require.ErrorAs(t, err, &failed)
	require.ErrorAs(t, err, &cause)
	require.Equal(t, provider.ClassNoCall, cause.Class)
	require.Equal(t, Incomplete, o.Status)
	require.Equal(t, "chat_request chat_response note chat_response turn_interrupted", r.turn())
	require.Contains(t, r.model.sent(), "no call arrived")
}

func TestStructuredAnswer(t *testing.T) {
	r := newRig(t, nil, once(part(provider.ChunkData, `{"ok":`, `true}`), ends(conversation.FinishStop)))
	o := r.done()
	require.JSONEq(t, `{"ok":true}`, string(o.Data))
	require.Empty(t, o.Message)
	require.Equal(t, "0.5", o.Usage.CostUSD)
}

func TestCallsThatNeverRun(t *testing.T) {
	strict := reads("strict")
	strict.def.Parameters = []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)
	r := newRig(t, []*fakeTool{strict}, once(
		calls("strict", "_1", `{"path": "a`), calls("none", "_2", `{}`), calls("strict", "_3", `{"file":"a"}`), calls("strict", "_4", `{"path":"a"}`),
		ends(conversation.FinishToolCalls),
	), answers("ok"))
	r.done()
	require.Len(t, strict.runs, 1)
	results := r.results()
	require.Contains(t, results[0].Content, `not a valid JSON object. You wrote: {"path": "a`)
	require.Contains(t, results[1].Content, "There is no tool named")
	require.Contains(t, results[2].Content, `"file"`)
	for _, result := range results[:3] {
		require.True(t, result.IsError)
	}
	require.False(t, results[3].IsError)
}

func TestModelCallLimit(t *testing.T) {
	read := reads("read")
	r := newRig(t, []*fakeTool{read}, asksFor("read"), asksFor("read"), asksFor("read"))
	r.opts.Limits.ModelCalls = 2
	o := r.done()
	require.Equal(t, Stopped, o.Status)
	require.Equal(t, conversation.ByLimit, o.By)
	require.Len(t, read.runs, 2)
	require.True(t, strings.HasSuffix(r.turn(), "tool_call_response turn_stopped"))
	require.True(t, r.opts.Conversation.Stream.Tail().Complete())
}

func TestRecordsAndAttachmentsGoWithTheRequest(t *testing.T) {
	r := newRig(t, nil, answers("ok"))
	title := "A title"
	_, err := r.request(t.Context(), Request{
		Chat:        conversation.ChatRequest{Content: "look", Attachments: []conversation.Attachment{{Name: "a.txt", MediaType: "text/plain"}}},
		Attachments: []conversation.Payload{{Name: "a.txt", MediaType: "text/plain", Data: []byte("attached")}},
		Records:     []*conversation.Event{{Body: &conversation.Metadata{Title: &title}}},
	})
	require.NoError(t, err)
	require.Equal(t, "metadata chat_request chat_response", r.turn())
	require.Equal(t, "attached", string(r.model.requests[0].Messages[0].Blocks[0].Data))
	require.Equal(t, "append turn_start prompt metadata chat_request", r.trace.lines[0], "one append, before the model is called")
	r.requireOrder("append turn_start", "model")
}

func TestErrorsOfTheRequestStopTheTurn(t *testing.T) {
	r := newRig(t, nil)
	r.opts.Model.Name = "nonsense"
	o, err := r.start(t.Context())
	require.ErrorIs(t, err, provider.ErrModel)
	require.Equal(t, Incomplete, o.Status)
	require.Equal(t, conversation.ByError, last[*conversation.TurnInterrupted](r).By)
	var failure *ProviderError
	require.True(t, errors.As(err, &failure))
}

func TestNothingToRun(t *testing.T) {
	r := newRig(t, nil)
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)

	_, err = r.journal.Create(t.Context(), testID, "", []*conversation.Event{{Seq: 0, Turn: 1, Version: conversation.Version, Body: &conversation.TurnStart{Model: "test/model"}}})
	require.NoError(t, err)
	o, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status, "a start that nothing followed waits for nothing")
	require.Len(t, r.stored(), 1)
}

// Opaque state of a model is kept with its source, and goes only there.
func TestStateIsKeptWithItsEndpointAndAccount(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read")},
		once(thinks("hm"), hasContent("I look"), calls("read", "_1", "{}"), ends(conversation.FinishToolCalls)), answers("ok"), answers("again"))
	r.opts.Model.Endpoint, r.opts.Model.Account = "https://a.example", "12345678"
	r.done()
	for _, e := range r.stored() {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == conversation.PartReasoning {
			require.JSONEq(t, `{"api":"test","model":"model","endpoint":"https://a.example","account":"12345678","item":{"signature":"s"}}`, string(e.Provider))
		}
	}
	require.Contains(t, string(r.model.requests[1].Messages[1].Blocks[0].Item), "signature")

	r.reload()
	r.opts.Model.Account = "87654321"
	r.done()
	for _, m := range r.model.requests[2].Messages {
		for _, b := range m.Blocks {
			require.NotEqual(t, provider.BlockReasoning, b.Kind)
		}
	}
}
