package anthropic

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// serve runs a server on the loopback and returns a provider that asks it.
func serve(t *testing.T, o Options, handler http.HandlerFunc) *Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o.BaseURL, o.Client = server.URL, &http.Client{Transport: transport}
	return New(o)
}

// sending is a handler that answers with the events, one write for each piece.
func sending(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
}

func ask() *provider.Request {
	return &provider.Request{Model: newModel, Messages: []provider.Message{user("a")}}
}

// collect reads a whole answer: its chunks and the error that ended it.
func collect(ctx context.Context, p *Provider, request *provider.Request) ([]provider.Chunk, error) {
	var chunks []provider.Chunk
	for c, err := range p.Stream(ctx, request) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// assembled are the parts of an answer that ends well, and its end.
func assembled(t *testing.T, chunks []provider.Chunk, err error) ([]provider.Part, provider.Chunk) {
	t.Helper()
	require.NoError(t, err)
	var a provider.Assembler
	var parts []provider.Part
	for _, c := range chunks {
		whole, err := a.Add(c)
		require.NoError(t, err)
		parts = append(parts, whole...)
	}
	last := chunks[len(chunks)-1]
	require.Equal(t, provider.ChunkFinish, last.Kind)
	return parts, last
}

// event is an event as it goes over the wire.
func event(data string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return "event: " + kind + "\ndata: " + data + "\n\n"
}

func begin(index int, block string) string {
	return event(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func delta(index int, delta string) string {
	return event(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta))
}

func end(index int) string {
	return event(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func stop(reason string) string {
	return event(`{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":42}}`) +
		event(`{"type":"message_stop"}`)
}

var start = event(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,` +
	`"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}`)

// everything is an answer with all that jp knows, two blocks of it interleaved.
var everything = start + event(`{"type":"ping"}`) +
	begin(0, `{"type":"thinking","thinking":"","signature":""}`) +
	delta(0, `{"type":"thinking_delta","thinking":"Let me "}`) + ": a comment\n\n" +
	delta(0, `{"type":"thinking_delta","thinking":"see <b> 深\u00e9."}`) +
	delta(0, `{"type":"signature_delta","signature":"c2ln"}`) + delta(0, `{"type":"signature_delta","signature":"+/=="}`) + end(0) +
	begin(1, `{"type":"redacted_thinking","data":"b3Bh"}`) + end(1) +
	event(`{"type":"something_new","index":1}`) +
	begin(2, `{"type":"text","text":""}`) + delta(2, `{"type":"text_delta","text":"I look "}`) +
	begin(3, `{"type":"tool_use","id":"toolu_1","name":"look","input":{},"caller":{"type":"direct"}}`) +
	delta(3, `{"type":"input_json_delta","partial_json":""}`) + delta(3, `{"type":"input_json_delta","partial_json":"{\"z\": \"é"}`) +
	delta(2, `{"type":"text_delta","text":"now 😀."}`) + delta(3, `{"type":"input_json_delta","partial_json":"\", \"a\": 1.0}"}`) + end(3) + end(2) +
	begin(4, `{"type":"tool_use","id":"toolu_2","name":"list","input":{}}`) + end(4) +
	stop("tool_use")

func checkEverything(t *testing.T, chunks []provider.Chunk, err error) {
	t.Helper()
	parts, last := assembled(t, chunks, err)
	require.Len(t, parts, 5)
	require.Equal(t, provider.ChunkReasoning, parts[0].Kind)
	require.Equal(t, "Let me see <b> 深é.", parts[0].Text)
	require.Equal(t, `{"type":"thinking","thinking":"Let me see <b> 深é.","signature":"c2ln+/=="}`, string(parts[0].Item))
	require.Equal(t, provider.ChunkReasoning, parts[1].Kind)
	require.Empty(t, parts[1].Text)
	require.Equal(t, `{"type":"redacted_thinking","data":"b3Bh"}`, string(parts[1].Item))
	require.Equal(t, provider.ChunkMessage, parts[2].Kind)
	require.Equal(t, "I look now 😀.", parts[2].Text)
	require.Equal(t, `{"type":"text","text":"I look now 😀."}`, string(parts[2].Item))
	require.Equal(t, provider.ChunkToolCall, parts[3].Kind)
	require.Equal(t, "toolu_1 look", parts[3].ToolID+" "+parts[3].Tool)
	require.Equal(t, "{\n  \"z\": \"é\",\n  \"a\": 1.0\n}", string(parts[3].Arguments))
	require.Equal(t, `{"type":"tool_use","id":"toolu_1","name":"look","input":{"z": "é", "a": 1.0},"caller":{"type":"direct"}}`, string(parts[3].Item))
	require.Equal(t, "{}", string(parts[4].Arguments))
	require.Equal(t, conversation.FinishToolCalls, last.Finish)
	require.Equal(t, &conversation.Usage{Input: 60, Output: 42, CacheRead: 30, CacheWrite: 20}, last.Usage)
	var alive int
	for _, c := range chunks {
		if c.Kind == provider.ChunkKeepAlive {
			alive++
		}
	}
	require.Positive(t, alive)
}

func TestAnswer(t *testing.T) {
	var headers http.Header
	var path string
	p := serve(t, Options{Key: "sk-secret\n"}, func(w http.ResponseWriter, r *http.Request) {
		headers, path = r.Header, r.URL.Path
		sending(everything)(w, r)
	})
	chunks, err := collect(t.Context(), p, ask())
	checkEverything(t, chunks, err)
	require.Equal(t, "/v1/messages", path)
	require.Equal(t, "sk-secret", headers.Get("X-Api-Key"))
	require.Equal(t, "application/json", headers.Get("Content-Type"))
	require.NotEmpty(t, headers.Get("Anthropic-Version"))
	require.Empty(t, headers.Get("Authorization"))
}

func TestAnswerInSmallPieces(t *testing.T) {
	for _, text := range []string{everything, strings.ReplaceAll(everything, "\n", "\r\n")} {
		var pieces []string
		for at := 0; at < len(text); at += 3 {
			pieces = append(pieces, text[at:min(at+3, len(text))])
		}
		p := serve(t, Options{}, sending(pieces...))
		chunks, err := collect(t.Context(), p, ask())
		checkEverything(t, chunks, err)
	}
}

func TestBodyGoesOverTheWireAsRendered(t *testing.T) {
	var got []byte
	p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		sending(start, stop("end_turn"))(w, r)
	})
	r := ask()
	r.Messages = append(r.Messages, assistant(thought(signed), call("1", `{"a":"<"}`)), tools(result("1", "x", false)))
	_, err := collect(t.Context(), p, r)
	require.NoError(t, err)
	require.Equal(t, string(bodyOf(t, r, Options{CacheLife: "5m"})), string(got))
	require.Contains(t, string(got), signed)
}

func TestFinish(t *testing.T) {
	tests := map[string]conversation.Finish{
		"end_turn": conversation.FinishStop, "stop_sequence": conversation.FinishStop, "tool_use": conversation.FinishToolCalls,
		"max_tokens": conversation.FinishLength, "model_context_window_exceeded": conversation.FinishContext, "context_length_exceeded": conversation.FinishContext,
		"refusal": conversation.FinishRefusal, "pause_turn": conversation.FinishPause, "something_new": conversation.FinishStop,
	}
	for reason, want := range tests {
		p := serve(t, Options{}, sending(start, stop(reason)))
		chunks, err := collect(t.Context(), p, ask())
		_, last := assembled(t, chunks, err)
		require.Equal(t, want, last.Finish, reason)
	}
}

func TestUsageOfTheEndCounts(t *testing.T) {
	p := serve(t, Options{}, sending(start,
		event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":11,"cache_creation_input_tokens":0,"cache_read_input_tokens":31,"output_tokens":7}}`),
		event(`{"type":"message_stop"}`)))
	chunks, err := collect(t.Context(), p, ask())
	_, last := assembled(t, chunks, err)
	require.Equal(t, &conversation.Usage{Input: 42, Output: 7, CacheRead: 31}, last.Usage)
}

func TestStructuredAnswer(t *testing.T) {
	p := serve(t, Options{}, sending(start, begin(0, `{"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"{\"a\":1}"}`), end(0), stop("end_turn")))
	r := ask()
	r.Schema = []byte(`{"type":"object"}`)
	chunks, err := collect(t.Context(), p, r)
	parts, _ := assembled(t, chunks, err)
	require.Equal(t, provider.ChunkData, parts[0].Kind)
	require.Equal(t, `{"a":1}`, parts[0].Text)
}

func TestBlocks(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		text   string
		item   string // optional
	}{
		{"hidden thinking", []string{begin(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"signature_delta","signature":"s"}`)}, "", `{"type":"thinking","thinking":"","signature":"s"}`},
		{"thinking without a signature", []string{begin(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"thinking_delta","thinking":"x"}`)}, "x", ""},
		{"thinking with something new", []string{begin(0, `{"type":"thinking","thinking":"x","signature":"s"}`), delta(0, `{"type":"new_delta"}`)}, "x", ""},
		{"text that is there at the start", []string{begin(0, `{"type":"text","text":"a"}`), delta(0, `{"type":"text_delta","text":"b"}`)}, "ab", `{"type":"text","text":"ab"}`},
		{"text that is not there at the start", []string{begin(0, `{"type":"text"}`), delta(0, `{"type":"text_delta","text":"b"}`)}, "b", `{"type":"text","text":"b"}`},
		{"thinking with a piece of another kind", []string{begin(0, `{"type":"thinking","thinking":"x","signature":"s"}`), delta(0, `{"type":"text_delta","text":"b"}`)}, "x", ""},
		{"a type that is new, in pieces", []string{begin(0, `{"type":"server_call","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`)}, "", `{"type":"server_call","input":{"a":1}}`},
		{"citations", []string{begin(0, `{"citations":null,"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"b"}`), delta(0, `{"type":"citations_delta","citation":{"type":"x","n":1}}`)}, "b", `{"citations":[{"type":"x","n":1}],"type":"text","text":"b"}`},
		{"a type that is new", []string{begin(0, `{"type":"server_note","b":1,"a":{}}`)}, "", `{"type":"server_note","b":1,"a":{}}`},
		{"half a surrogate", []string{begin(0, `{"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"a\ud83d"}`)}, "a\uFFFD", `{"type":"text","text":"a` + "\uFFFD" + `"}`},
		{"bytes that are not UTF-8", []string{begin(0, `{"type":"text","text":""}`), delta(0, "{\"type\":\"text_delta\",\"text\":\"a\xff\"}")}, "a\uFFFD", `{"type":"text","text":"a` + "\uFFFD" + `"}`},
		{"a call cut off", []string{begin(0, `{"type":"tool_use","id":"1","name":"look","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"a\": \"b"}`)}, "", ""},
		{"a call that is whole at the start", []string{begin(0, `{"type":"tool_use","id":"1","name":"look","input":{"a":1}}`)}, "", `{"type":"tool_use","id":"1","name":"look","input":{"a":1}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, Options{}, sending(start+strings.Join(test.events, "")+end(0)+stop("end_turn")))
			chunks, err := collect(t.Context(), p, ask())
			parts, _ := assembled(t, chunks, err)
			require.Len(t, parts, 1)
			require.Equal(t, test.text, parts[0].Text)
			require.Equal(t, test.item, string(parts[0].Item))
			if test.name == "a call cut off" {
				require.True(t, parts[0].Malformed)
			}
			if test.name == "a call that is whole at the start" {
				require.JSONEq(t, `{"a":1}`, string(parts[0].Arguments))
			}
		})
	}
}

func TestHugeDelta(t *testing.T) {
	huge := strings.Repeat("0123456789abcdef", 1<<18)
	p := serve(t, Options{}, sending(start+begin(0, `{"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"`+huge+`"}`), end(0)+stop("end_turn")))
	chunks, err := collect(t.Context(), p, ask())
	parts, _ := assembled(t, chunks, err)
	require.Equal(t, len(huge), len(parts[0].Text))
}

func TestAReaderMayStop(t *testing.T) {
	gone := make(chan struct{})
	p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		sending(start, event(`{"type":"ping"}`))(w, r)
		<-r.Context().Done()
		close(gone)
	})
	for range p.Stream(t.Context(), ask()) {
		break
	}
	<-gone
}

func TestStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		sending(start, event(`{"type":"ping"}`))(w, r)
		<-r.Context().Done()
	})
	var last error
	for _, err := range p.Stream(ctx, ask()) {
		cancel()
		last = err
	}
	require.Equal(t, context.Canceled, last)
	_, err := collect(ctx, p, ask())
	require.Equal(t, context.Canceled, err, "nothing is sent")
}

func TestSilence(t *testing.T) {
	tests := []struct {
		name string
		say  []string
	}{{"from the start", nil}, {"after a while", []string{start}}, {"inside of an event", []string{start, "event: ping\ndata: {"}}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, Options{IdleTimeout: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
				// Unless it reads the body, a server misses that its client left.
				_, _ = io.Copy(io.Discard, r.Body)
				if test.say != nil {
					sending(test.say...)(w, r)
				}
				<-r.Context().Done()
			})
			_, err := collect(t.Context(), p, ask())
			var failure *provider.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, provider.ClassTimeout, failure.Class)
			require.ErrorContains(t, err, "nothing came for 20ms")
		})
	}
}
