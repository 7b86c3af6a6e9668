package google

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// A session is a conversation with a model, kept as events alone.
type session struct {
	t      *testing.T
	stream *conversation.Stream
	call   int
	asked  []string // contents of the requests
}

// keep commits everything.
func keep([]*conversation.Event) error { return nil }

func (s *session) options() provider.Options {
	return provider.Options{Model: "google/gemini-3-flash", API: API}
}

// ask has the model answer with the stream, and records the answer.
func (s *session) ask(answer string) {
	request, err := provider.Build(s.stream.Events(), s.options())
	require.NoError(s.t, err)
	bodies := make(chan []byte, 1)
	p := serve(s.t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
		streaming(answer)(w, r)
	})
	chunks, err := collect(s.t, p, request)
	require.NoError(s.t, err)
	var body struct{ Contents json.RawMessage }
	require.NoError(s.t, json.Unmarshal(<-bodies, &body))
	s.asked = append(s.asked, canonical(s.t, body.Contents))
	s.record(assemble(s.t, chunks))
}

func (s *session) record(parts []provider.Part, last provider.Chunk) {
	s.call++
	mut := s.stream.CurrentTurn()
	for i, p := range parts {
		end := conversation.CallEnd{}
		if i == len(parts)-1 {
			end.Finish = last.Finish
		}
		made := func(e *conversation.Event) { e.Provider = s.options().Target().State(p.Item) }
		if p.Kind == provider.ChunkToolCall {
			mut.AddToolCallRequest(conversation.ToolCallRequest{Call: s.call, ID: p.ToolID, Name: p.Tool, Arguments: p.Arguments, CallEnd: end}, made)
			continue
		}
		mut.AddChatResponse(conversation.ChatResponse{Call: s.call, Part: p.ChatPart(), Text: p.Text, CallEnd: end}, made)
	}
	require.NoError(s.t, mut.Build(keep))
}

// run answers the calls that are open.
func (s *session) run() {
	mut := s.stream.CurrentTurn()
	for _, e := range s.stream.Events() {
		if b, ok := e.Body.(*conversation.ToolCallRequest); ok && b.Call == s.call {
			mut.AddToolCallResponse(conversation.ToolCallResponse{For: e.Seq, ID: b.ID, Name: b.Name, Content: "ran"})
		}
	}
	require.NoError(s.t, mut.Build(keep))
}

// Signed parts come back to the model through the events, with the signature in any place, and sent messages
// stay the same.
func TestSignaturesComeBack(t *testing.T) {
	s := &session{t: t, stream: conversation.NewStream(nil)}
	turn := s.stream.StartTurn(conversation.TurnStart{Model: "google/gemini-3-flash"}, conversation.ChatRequest{Content: "Q"})
	require.NoError(t, turn.Build(keep))

	s.ask(streamOf("STOP",
		`{"text":"","thoughtSignature":"c2lnMA=="}`, `{"text":"Hm.","thought":true}`,
		`{"text":"I "}`, `{"text":"look."}`, `{"text":"","thoughtSignature":"c2lnMQ=="}`,
		`{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"abc"},"thoughtSignature":"c2lnMg=="},{"functionCall":{"name":"now","args":{}}}`,
		`{"text":"","thoughtSignature":"c2lnMw=="}`))
	s.run()
	s.ask(streamOf("STOP", `{"functionCall":{"name":"now","args":{},"id":"def"}}`))
	s.run()
	s.ask(streamOf("STOP", `{"text":"Do"}`, `{"text":"ne.","thoughtSignature":"c2lnNA=="}`))
	next := s.stream.StartTurn(conversation.TurnStart{}, conversation.ChatRequest{Content: "Q2"})
	require.NoError(t, next.Build(keep))
	s.call = 0
	s.ask(streamOf("STOP", `{"text":"Bye."}`))

	want := canonical(t, []byte(`[
		{"role":"user","parts":[{"text":"Q"}]},
		{"role":"model","parts":[
			{"text":"","thoughtSignature":"c2lnMA=="},
			{"text":"I look."},{"text":"","thoughtSignature":"c2lnMQ=="},
			{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"abc"},"thoughtSignature":"c2lnMg=="},
			{"functionCall":{"name":"now","args":{}}},{"text":"","thoughtSignature":"c2lnMw=="}]},
		{"role":"user","parts":[
			{"functionResponse":{"name":"read","id":"abc","response":{"output":"ran"}}},
			{"functionResponse":{"name":"now","response":{"output":"ran"}}}]},
		{"role":"model","parts":[{"functionCall":{"name":"now","args":{},"id":"def"},"thoughtSignature":"skip_thought_signature_validator"}]},
		{"role":"user","parts":[{"functionResponse":{"name":"now","id":"def","response":{"output":"ran"}}}]},
		{"role":"model","parts":[{"text":"Do"},{"text":"ne.","thoughtSignature":"c2lnNA=="}]},
		{"role":"user","parts":[{"text":"Q2"}]}]`))
	require.Equal(t, want, s.asked[3])
	for i := range s.asked[1:] {
		require.True(t, strings.HasPrefix(s.asked[i+1], strings.TrimSuffix(s.asked[i], "]")))
	}
}
