package anthropic

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

// played is a conversation with a server whose answers are given.
type played struct {
	*testing.T
	stream  *conversation.Stream
	from    *Provider
	options provider.Options
	bodies  []string
}

func play(t *testing.T, answers ...string) *played {
	p := &played{T: t, stream: conversation.NewStream(nil)}
	p.from = serve(t, Options{Key: "sk-1"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.bodies = append(p.bodies, string(body))
		sending(answers[len(p.bodies)-1])(w, r)
	})
	p.options = provider.Options{
		Model: "anthropic/" + strictModel, API: API, Endpoint: p.from.Endpoint(), Account: p.from.Account(), System: "Be brief.",
		Tools: []provider.Tool{{Name: "look"}, {Name: "list"}},
	}
	return p
}

func (p *played) build(mut *conversation.TurnBuilder) {
	p.Helper()
	require.NoError(p, mut.Build(func([]*conversation.Event) error { return nil }))
}

func (p *played) start(text string) {
	p.build(p.stream.StartTurn(conversation.TurnStart{Model: p.options.Model}, conversation.ChatRequest{Content: text}))
}

// ask asks the model and keeps its answer as the given call of the turn.
func (p *played) ask(ordinal int) {
	p.Helper()
	request, err := provider.Build(p.stream.Events(), p.options)
	require.NoError(p, err)
	chunks, err := collect(p.Context(), p.from, request)
	parts, last := assembled(p.T, chunks, err)
	mut := p.stream.CurrentTurn()
	for i, part := range parts {
		var end conversation.CallEnd
		if i == len(parts)-1 {
			end = conversation.CallEnd{Finish: last.Finish, Usage: last.Usage}
		}
		state := conversation.WithProvider(p.options.Target().State(part.Item))
		if part.Kind == provider.ChunkToolCall {
			mut.AddToolCallRequest(conversation.ToolCallRequest{Call: ordinal, ID: part.ToolID, Name: part.Tool, Arguments: part.Arguments, CallEnd: end}, state)
			continue
		}
		mut.AddChatResponse(conversation.ChatResponse{Call: ordinal, Part: part.ChatPart(), Text: part.Text, CallEnd: end}, state)
	}
	p.build(mut)
}

// results answers every open call.
func (p *played) results() {
	_, tail := conversation.SplitTail(p.stream.Events())
	mut := p.stream.CurrentTurn()
	for _, open := range tail.Ledger().Open() {
		mut.AddToolCallResponse(conversation.ToolCallResponse{For: open.Event.Seq, ID: open.Request.ID, Name: open.Request.Name, Content: "found"})
	}
	p.build(mut)
}

// prefix is the part of a body up to its first n messages, without the marks of the cache.
func prefix(t *testing.T, body string, n int) string {
	t.Helper()
	var fields struct {
		System, Tools any
		Messages      []any
	}
	require.NoError(t, json.Unmarshal([]byte(body), &fields))
	all := []any{fields.System, fields.Tools, fields.Messages[:n]}
	unmark(all)
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

func unmark(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			unmark(element)
		}
	case map[string]any:
		delete(v, "cache_control")
		for _, member := range v {
			unmark(member)
		}
	}
}

func TestConversation(t *testing.T) {
	spoken := start + begin(0, `{"type":"text","text":""}`) + delta(0, `{"type":"text_delta","text":"Done."}`) + end(0)
	p := play(t, everything, spoken+stop("pause_turn"), spoken+stop("end_turn"), spoken+stop("end_turn"))
	p.start("Why?")
	p.ask(1)
	p.results()
	p.ask(2)
	p.ask(3)
	p.start("Thanks <&>.")
	p.ask(1)
	require.Len(t, p.bodies, 4)
	for i, messages := range []int{1, 3, 4, 5} {
		body := p.bodies[i]
		require.NoError(t, check([]byte(body), i == 2), body)
		for later := i + 1; later < 4; later++ {
			n := min(messages, 3) // a paused answer grows
			require.Equal(t, prefix(t, body, n), prefix(t, p.bodies[later], n), "what was sent does not change")
		}
		require.Len(t, strings.Split(body, `"role":`), messages+1)
	}
	for _, item := range []string{
		`{"type":"thinking","thinking":"Let me see <b> 深é.","signature":"c2ln+/=="}`,
		`{"type":"redacted_thinking","data":"b3Bh"}`,
		`{"type":"tool_use","id":"toolu_1","name":"look","input":{"z":"é","a":1.0},"caller":{"type":"direct"}}`,
	} {
		require.NotContains(t, p.bodies[0], item)
		for _, body := range p.bodies[1:] {
			require.Contains(t, body, item)
		}
	}
	require.Contains(t, p.bodies[1], `"tool_use_id":"toolu_1"`)
	require.Contains(t, p.bodies[3], `{"text":"Thanks <&>.","cache_control":`)
}

func TestAResumeSendsTheSame(t *testing.T) {
	p := play(t, everything, start, start+event(wire("overloaded_error", "full")))
	p.start("Why?")
	p.ask(1)
	p.results()
	for range 2 {
		request, err := provider.Build(p.stream.Events(), p.options)
		require.NoError(t, err)
		_, err = collect(t.Context(), p.from, request)
		require.Error(t, err)
	}
	require.Equal(t, p.bodies[1], p.bodies[2])
}

func TestAnotherModelReadsNoThinking(t *testing.T) {
	p := play(t, everything)
	p.start("Why?")
	p.ask(1)
	p.results()
	p.options.Model = "anthropic/" + oldModel
	request, err := provider.Build(p.stream.Events(), p.options)
	require.NoError(t, err)
	body := bodyOf(t, request, Options{})
	require.NoError(t, check(body, false))
	require.NotContains(t, string(body), "thinking")
	require.Contains(t, string(body), `"toolu_1"`)
}
