package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

func TestStateGoesOnlyToItsMaker(t *testing.T) {
	maker := Target{API: "messages", Model: "claude-sonnet-4-5-20250929", Endpoint: "https://a", Account: "12345678"}
	tests := []struct {
		name string
		to   Target
		want bool
	}{
		{"itself", maker, true},
		{"the family's newest", Target{API: "messages", Model: "claude-sonnet-4-5-latest"}, true},
		{"the family", Target{API: "messages", Model: "claude-sonnet-4-5"}, true},
		{"another model", Target{API: "messages", Model: "claude-sonnet-4-6"}, false},
		{"a larger one", Target{API: "messages", Model: "claude-opus-4-5"}, false},
		{"another API", Target{API: "chat", Model: maker.Model}, false},
		{"another endpoint", Target{API: "messages", Model: maker.Model, Endpoint: "https://b"}, false},
		{"another account", Target{API: "messages", Model: maker.Model, Account: "87654321"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := events("T Q R M. T Q")
			item := json.RawMessage(`{"b":1.0, "a":"é"}`)
			all[2].Provider = maker.State(item)
			blocks := Project(all, test.to)[1].Blocks
			if !test.want {
				require.Len(t, blocks, 1)
				require.Equal(t, BlockText, blocks[0].Kind)
				return
			}
			require.Equal(t, BlockReasoning, blocks[0].Kind)
			require.JSONEq(t, string(item), string(blocks[0].Item))
		})
	}
}

func TestStateOfNothing(t *testing.T) {
	require.Nil(t, Target{}.State(nil))
	require.Nil(t, Target{}.State(json.RawMessage("{")))
	all := events("T Q R M. T Q")
	for _, kept := range []string{"", "{", "null", `{"api":"test","model":"model-1"}`, `{"api":"test","model":"model-1","item":null}`} {
		all[2].Provider = json.RawMessage(kept)
		require.Equal(t, "U[Q1.] A[M3.] U[Q5.]", show(Project(all, writer)), kept)
	}
}

func TestStateTooLargeForAHeader(t *testing.T) {
	all := events("T Q R M. T Q")
	kept := all[2].Provider
	all[2].Provider = nil
	all[2].Payloads = []conversation.Payload{{Name: conversation.PayloadProvider, OID: "ab"}}
	require.Equal(t, "U[Q1.] A[M3.] U[Q5.]", show(Project(all, writer)))
	target := writer
	target.Content = func(conversation.Payload) ([]byte, bool) { return kept, true }
	require.Equal(t, "U[Q1.] A[(R2.) M3.] U[Q5.]", show(Project(all, target)))
}

func TestLongTextIsFetched(t *testing.T) {
	all := events("T Q C1+ D1")
	all[3].Payloads = []conversation.Payload{{Name: conversation.PayloadText, OID: "ab", Bytes: 99}}
	require.Contains(t, show(Project(all, writer)), "D3.\n[the rest of this text is not available: 99 bytes in all]")
	target := writer
	target.Content = func(conversation.Payload) ([]byte, bool) { return []byte("all of it\x00\xff"), true }
	require.Equal(t, "U[Q1.] A[call(call_1)] R[call_1=all of it\uFFFD\uFFFD]", show(Project(all, target)))
}

func TestLongArgumentsAreFetched(t *testing.T) {
	all := events("T Q C1+ D1")
	all[2].Payloads = []conversation.Payload{{Name: conversation.PayloadText, OID: "ab", Bytes: 99}}
	require.Equal(t, "{}", string(Project(all, writer)[1].Blocks[0].Arguments), "half an object is none")
	target := writer
	target.Content = func(conversation.Payload) ([]byte, bool) { return []byte(`{ "all": 1 }`), true }
	require.Equal(t, `{"all":1}`, string(Project(all, target)[1].Blocks[0].Arguments))
}

func TestAttachments(t *testing.T) {
	all := events("T Q C1+ D1")
	attached := []conversation.Attachment{{Name: "a.png", MediaType: "image/png"}, {Name: "gone.pdf", MediaType: "application/pdf"}, {Name: "none"}}
	payloads := []conversation.Payload{
		{Name: "a.png", OID: "ab", Bytes: 3}, {Name: "gone.pdf", OID: "cd", Bytes: 1234}, {Name: "none", Bytes: 0},
	}
	all[1].Body.(*conversation.ChatRequest).Attachments, all[1].Payloads = attached, payloads
	all[3].Body.(*conversation.ToolCallResponse).Attachments, all[3].Payloads = attached[:2], payloads
	target := writer
	target.Content = func(p conversation.Payload) ([]byte, bool) { return []byte("png"), p.OID == "ab" }

	messages := Project(all, target)
	require.NoError(t, validate(all, messages))
	require.Equal(t, Block{Kind: BlockFile, Name: "a.png", MediaType: "image/png", Data: []byte("png")}, messages[0].Blocks[0])
	require.Equal(t, `[file "gone.pdf" (application/pdf), 1234 bytes, is not available]`, messages[0].Blocks[1].Text)
	require.Equal(t, `[file "none" is empty]`, messages[0].Blocks[2].Text)
	require.Equal(t, "Q1.", messages[0].Blocks[3].Text)

	results := messages[2].Blocks
	require.Equal(t, "D3.\n"+messages[0].Blocks[1].Text, results[0].Text)
	require.Equal(t, Block{Kind: BlockFile, ID: "call_1", Name: "a.png", MediaType: "image/png", Data: []byte("png")}, results[1])
}

func TestContentStillInMemoryNeedsNoStore(t *testing.T) {
	data, ok := Target{}.content(conversation.Payload{Data: []byte("new")})
	require.True(t, ok)
	require.Equal(t, "new", string(data))
}

func TestWhatIsSentAsWhat(t *testing.T) {
	all := events("T Q M. T Q C1+ D1 M. T Q")
	data := all[2].Body.(*conversation.ChatResponse)
	data.Part, data.Text = conversation.PartData, "{ \"b\": 1.50,\n\"a\": true }"
	call := all[5].Body.(*conversation.ToolCallRequest)
	call.Arguments, call.Name = json.RawMessage("{\n  \"n\": 1.50\n}"), "my tool"
	all[6].Body.(*conversation.ToolCallResponse).Content = " \n"
	messages := Project(all, writer)
	require.Equal(t, `{"a":true,"b":1.50}`, messages[1].Blocks[0].Text)
	require.Equal(t, `{"n":1.50}`, string(messages[3].Blocks[0].Arguments))
	require.Equal(t, WireName("my tool"), messages[3].Blocks[0].Name)
	require.Equal(t, noOutput, messages[4].Blocks[0].Text)

	call.Malformed = true
	require.Equal(t, `{}`, string(Project(all, writer)[3].Blocks[0].Arguments))
}

func TestHostileBytesBecomeValidRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := events("T N Q R M C1 C2+ D2 r H1 L1 e1 P S T Q M. T Q")
		bytes := rapid.SliceOf(rapid.Byte())
		for _, e := range all {
			if _, ok := e.Text(); ok && e.Type() != conversation.TypeInquiryResponse {
				e.SetText(strings.Repeat("\xed\xa0\x80", 2) + string(bytes.Draw(t, "text")))
			}
			switch b := e.Body.(type) {
			case *conversation.ToolCallRequest:
				b.ID, b.Name = string(bytes.Draw(t, "id")), rapid.String().Draw(t, "name")
			case *conversation.ToolCallResponse:
				b.Attachments = []conversation.Attachment{{Name: string(bytes.Draw(t, "file")), MediaType: string(bytes.Draw(t, "media"))}}
			case *conversation.InquiryResponse:
				b.Arguments = json.RawMessage(bytes.Draw(t, "arguments"))
			}
			e.Provider = json.RawMessage(bytes.Draw(t, "provider"))
		}
		messages := Project(all, writer)
		v := &validator{messages: messages, ids: map[string]bool{}}
		v.order(all)
		for i, m := range messages {
			v.message(i, m)
		}
		require.Empty(t, v.problems)
		_, err := json.Marshal(messages)
		require.NoError(t, err)
	})
}

// The thoughts of someone else's model are never sent after an adoption.
func TestAdoptionDropsState(t *testing.T) {
	all := events("T Q R M.")
	sent := func(more ...*conversation.Event) string {
		return show(Project(append(all[:len(all):len(all)], more...), writer))
	}
	ours := &conversation.Event{Seq: len(all), Turn: 1, Body: &conversation.ForkOrigin{}}
	require.Contains(t, sent(ours), "R2.")
	theirs := &conversation.Event{Seq: len(all), Turn: 1, Body: &conversation.ForkOrigin{Adopted: true}}
	require.NotContains(t, sent(theirs), "R2.")
	require.Contains(t, sent(theirs), "M3.")
}

// TestIDsGoBackToTheEndpointThatGaveThem has one id in each place, with its endpoint, and the id that every
// other endpoint gets.
func TestIDsGoBackToTheEndpointThatGaveThem(t *testing.T) {
	maker := Target{API: "openai-chat", Model: "kimi-k2", Endpoint: "https://a/v1", Account: "12345678"}
	const id = "functions.fs_read_file:0"
	for _, test := range []struct {
		name string
		to   Target
		want string
	}{
		{"itself", maker, id},
		{"another model there", Target{API: maker.API, Model: "kimi-k3", Endpoint: maker.Endpoint}, id},
		{"another key", Target{API: maker.API, Model: maker.Model, Endpoint: maker.Endpoint, Account: "87654321"}, id},
		{"without opaque state", Target{API: maker.API, Model: maker.Model, Endpoint: maker.Endpoint, NoState: true}, id},
		{"another endpoint", Target{API: maker.API, Model: maker.Model, Endpoint: "https://b/v1"}, "jp2"},
		{"another API", Target{API: "anthropic", Model: maker.Model, Endpoint: maker.Endpoint}, "jp2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := events("T Q C1+ D1")
			all[2].Body.(*conversation.ToolCallRequest).ID = id
			all[2].Provider = maker.StateOf(Part{Kind: ChunkToolCall, ToolID: id}, "")
			require.Equal(t, "U[Q1.] A[call("+test.want+")] R["+test.want+"=D3.]", show(Project(all, test.to)))
			require.Equal(t, test.want == id, Project(all, test.to)[1].Blocks[0].Given)
			all[2].Provider = nil
			require.Equal(t, "U[Q1.] A[call(jp2)] R[jp2=D3.]", show(Project(all, test.to)), "it is not known who gave it")
		})
	}
	t.Run("twice in one answer", func(t *testing.T) {
		all := events("T Q C1 C2+ D1 D2 M. T Q C3+ D3")
		for _, at := range []int{2, 3, 9} {
			all[at].Body.(*conversation.ToolCallRequest).ID = id
			all[at].Provider = maker.StateOf(Part{Kind: ChunkToolCall, ToolID: id}, "")
		}
		before := show(Project(all[:6], maker))
		require.Equal(t, "U[Q1.] A[call("+id+") call(jp3)] R["+id+"=D4. jp3=D5.]", before)
		require.Equal(t, before+" A[M6.] U[Q8.] A[call(jp9)] R[jp9=D10.]", show(Project(all, maker)), "no id changes later")
	})
	require.Nil(t, maker.StateOf(Part{Kind: ChunkMessage, Text: "a"}, ""))
	require.Nil(t, maker.StateOf(Part{Kind: ChunkToolCall, ToolID: ""}, ""))
	require.JSONEq(t, string(maker.State([]byte(`{"a":1}`))), string(maker.StateOf(Part{Kind: ChunkToolCall, ToolID: id, Item: []byte(`{"a":1}`)}, "")))
}
