package google

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/provider"
)

// streamOf makes events of lists of parts. The last one ends the answer.
func streamOf(reason string, parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		end := ""
		if i == len(parts)-1 {
			end = `,"finishReason":"` + reason + `"`
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":`+
			`{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":%d,"thoughtsTokenCount":2},"modelVersion":"m"}`+"\n\n", p, end, i+1)
	}
	return b.String()
}

// wholeStream has parts of every kind.
var wholeStream = streamOf("STOP",
	`{"text":"Thin","thought":true}`, `{"text":"king.","thought":true}`,
	`{"text":"Hé"}`, `{"text":"llo 🙂"}`,
	`{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"abc"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"now","args":{}}}`,
	`{"text":"","thoughtSignature":"c2lo"}`)

func wholeParts() []provider.Part {
	return []provider.Part{
		{Kind: provider.ChunkReasoning, Index: 0, Text: "Thinking."},
		{Kind: provider.ChunkMessage, Index: 1, Text: "Héllo 🙂"},
		{
			Kind: provider.ChunkToolCall, Index: 2, ToolID: "abc", Tool: "read", Arguments: json.RawMessage("{\n  \"n\": 12345678901234567890\n}"),
			Item: json.RawMessage(`{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"abc"},"thoughtSignature":"c2ln"}`),
		},
		{
			Kind: provider.ChunkToolCall, Index: 3, ToolID: "call_4_2", Tool: "now", Arguments: json.RawMessage("{}"),
			Item: json.RawMessage(`[{"functionCall":{"name":"now","args":{}}},{"text":"","thoughtSignature":"c2lo"}]`),
		},
	}
}

func requireWhole(t *testing.T, chunks []provider.Chunk, err error) {
	t.Helper()
	require.NoError(t, err)
	parts, last := assemble(t, chunks)
	require.Equal(t, wholeParts(), parts)
	require.Equal(t, conversation.FinishToolCalls, last.Finish)
	require.Equal(t, &conversation.Usage{Input: 10, Output: 8, CacheRead: 4}, last.Usage)
}

func TestStream(t *testing.T) {
	request := question()
	request.Ended = 3
	chunks, err := collect(t, serve(t, streaming(wholeStream)), request)
	requireWhole(t, chunks, err)
}

func TestStreamInPieces(t *testing.T) {
	request := question()
	request.Ended = 3
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range len(wholeStream) {
			_, _ = io.WriteString(w, wholeStream[i:i+1])
			w.(http.Flusher).Flush()
		}
	})
	chunks, err := collect(t, p, request)
	requireWhole(t, chunks, err)
}

// Additional data in the stream leaves the answer the same.
func TestStreamWithMore(t *testing.T) {
	request := question()
	request.Ended = 3
	for name, stream := range map[string]string{
		"comments":        ": ping\n\n" + strings.ReplaceAll(wholeStream, "data: ", ": ping\nevent: message\nid: 1\nretry: 5\ndata:"),
		"other line ends": strings.ReplaceAll(wholeStream, "\n", "\r\n"),
		"two lines":       strings.ReplaceAll(wholeStream, `"role":"model"}`, "\ndata: \"role\":\"model\"}"),
		"no last line":    strings.TrimRight(wholeStream, "\n"),
		"an end mark":     wholeStream + "data: [DONE]\n\n",
		"a cut event":     wholeStream + "data: {\"usageMeta",
		"unknown fields":  strings.ReplaceAll(wholeStream, `"index":0`, `"index":0,"new":{"a":[1]},"safetyRatings":7`),
		"other answers":   strings.ReplaceAll(wholeStream, `"candidates":[`, `"candidates":[{"index":1,"content":{"parts":[{"text":"No"}]},"finishReason":"SAFETY"},`),
		"unknown parts":   strings.ReplaceAll(wholeStream, `"parts":[`, `"parts":[{"executableCode":{"code":"1"}},5,{"text":""},`),
	} {
		t.Run(name, func(t *testing.T) {
			chunks, err := collect(t, serve(t, streaming(stream)), request)
			requireWhole(t, chunks, err)
		})
	}
}

func TestSignsOfLife(t *testing.T) {
	chunks, err := collect(t, serve(t, streaming(": ping\n\n"+streamOf("STOP", `{"text":"A"}`))), question())
	require.NoError(t, err)
	require.Equal(t, provider.Chunk{Kind: provider.ChunkKeepAlive}, chunks[0])
}

// The place of a signature in the text decides which parts are kept.
func TestSignatures(t *testing.T) {
	for _, test := range []struct {
		name  string
		parts []string
		want  []provider.Part
	}{
		{
			"behind the text", []string{`{"text":"He"}`, `{"text":"llo"}`, `{"text":"","thoughtSignature":"c2ln"}`},
			[]provider.Part{{Kind: provider.ChunkMessage, Text: "Hello", Item: json.RawMessage(`{"text":"","thoughtSignature":"c2ln"}`)}},
		},
		{
			"on the text", []string{`{"text":"He"}`, `{"text":"llo","thoughtSignature":"c2ln","new":1}`, `{"text":"\n"}`},
			[]provider.Part{{Kind: provider.ChunkMessage, Text: "Hello\n", Item: json.RawMessage(`[{"text":"He"},{"text":"llo","thoughtSignature":"c2ln","new":1},{"text":"\n"}]`)}},
		},
		{
			"on a thought", []string{`{"text":"Hm","thought":true,"thoughtSignature":"c2ln"}`, `{"text":"A"}`},
			[]provider.Part{
				{Kind: provider.ChunkReasoning, Text: "Hm", Item: json.RawMessage(`{"text":"Hm","thought":true,"thoughtSignature":"c2ln"}`)},
				{Kind: provider.ChunkMessage, Index: 1, Text: "A"},
			},
		},
		{
			"before everything", []string{`{"text":"","thoughtSignature":"c2ln"}`, `{"text":"A"}`},
			[]provider.Part{
				{Kind: provider.ChunkReasoning, Item: json.RawMessage(`{"text":"","thoughtSignature":"c2ln"}`)},
				{Kind: provider.ChunkMessage, Index: 1, Text: "A"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			chunks, err := collect(t, serve(t, streaming(streamOf("STOP", test.parts...))), question())
			require.NoError(t, err)
			parts, last := assemble(t, chunks)
			require.Equal(t, test.want, parts)
			require.Equal(t, conversation.FinishStop, last.Finish)
		})
	}
}

func TestStructuredAnswer(t *testing.T) {
	request := question()
	request.Schema = json.RawMessage(`{"type":"object"}`)
	chunks, err := collect(t, serve(t, streaming(streamOf("STOP", `{"text":"{\"a\""}`, `{"text":": 1}"}`))), request)
	require.NoError(t, err)
	parts, _ := assemble(t, chunks)
	require.Equal(t, []provider.Part{{Kind: provider.ChunkData, Text: `{"a": 1}`}}, parts)
}

func TestFinish(t *testing.T) {
	const words, called = `{"text":"A"}`, `{"functionCall":{"name":"f","args":null}}`
	for _, test := range []struct {
		reason, parts string
		want          conversation.Finish
	}{
		{"STOP", words, conversation.FinishStop},
		{"STOP", called, conversation.FinishToolCalls},
		{"MAX_TOKENS", words, conversation.FinishLength},
		{"MAX_TOKENS", called, conversation.FinishLength},
		{"CONTEXT_WINDOW_EXCEEDED", words, conversation.FinishContext},
		{"CONTEXT_LENGTH", called, conversation.FinishContext},
		{"SAFETY", called, conversation.FinishFiltered},
		{"RECITATION", words, conversation.FinishFiltered},
		{"BLOCKLIST", "", conversation.FinishFiltered},
		{"PROHIBITED_CONTENT", "", conversation.FinishFiltered},
		{"SPII", "", conversation.FinishFiltered},
		{"IMAGE_SAFETY", "", conversation.FinishFiltered},
		{"MALFORMED_FUNCTION_CALL", "", conversation.FinishToolCalls},
		{"SOMETHING_NEW", words, conversation.FinishFiltered},
	} {
		t.Run(test.reason, func(t *testing.T) {
			chunks, err := collect(t, serve(t, streaming(streamOf(test.reason, test.parts))), question())
			require.NoError(t, err)
			_, last := assemble(t, chunks)
			require.Equal(t, provider.ChunkFinish, last.Kind)
			require.Equal(t, test.want, last.Finish)
		})
	}
}

func TestBlockedPrompt(t *testing.T) {
	p := serve(t, streaming(`data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}`+"\n\n"))
	chunks, err := collect(t, p, question())
	require.NoError(t, err)
	parts, last := assemble(t, chunks)
	require.Empty(t, parts)
	require.Equal(t, conversation.FinishFiltered, last.Finish)
	require.Equal(t, 7, last.Usage.Input)
}

// Cut anywhere, in either way, a stream is whole or a lost connection, and the beginning of the answer is
// always the same.
func TestCutAnywhere(t *testing.T) {
	request := question()
	request.Ended = 3
	type end struct {
		at    int
		abort bool
	}
	next := make(chan end, 1)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		end := <-next
		_, _ = io.WriteString(w, wholeStream[:end.at])
		if end.abort {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	for cut := range len(wholeStream) + 1 {
		for _, abort := range []bool{false, true} {
			next <- end{cut, abort}
			chunks, err := collect(t, p, request)
			if err == nil {
				require.Greater(t, cut, len(wholeStream)-3)
				requireWhole(t, chunks, err)
				continue
			}
			requireClass(t, provider.ClassDisconnect, err)
			if len(chunks) == 0 {
				continue
			}
			parts, last := assemble(t, chunks)
			require.NotEqual(t, provider.ChunkFinish, last.Kind)
			require.ElementsMatch(t, wholeParts()[:len(parts)], parts)
			said := ""
			for _, c := range chunks {
				if c.Kind == provider.ChunkMessage {
					said += c.Text
				}
			}
			require.True(t, strings.HasPrefix("Héllo 🙂", said), said)
		}
	}
}

// Any bytes become an answer or an error.
func TestAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(wholeStream)).Draw(t, "from")
		to := rapid.IntRange(from, len(wholeStream)).Draw(t, "to")
		between := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"null", "[]", "{}", "7", `""`, "\n\n", "data:", "{\"error\":{}}\n\n"})).Draw(t, "between")
		var assembler provider.Assembler
		ended := false
		w, ctx := provider.NewStreamWatch(t.Context(), provider.StreamLimits{})
		defer w.Close()
		err := provider.ReceiveStream(ctx, w, strings.NewReader(wholeStream[:from]+between+wholeStream[to:]), &answer{call: 1}, func(c provider.Chunk) bool {
			_, err := assembler.Add(c)
			require.NoError(t, err)
			ended = c.Kind == provider.ChunkFinish
			return true
		})
		require.Equal(t, err == nil, ended)
	})
}

func TestBrokenStreams(t *testing.T) {
	begun := strings.TrimSuffix(streamOf("", `{"text":"A"}`), "\n\n") + "\n\n"
	begun = strings.Replace(begun, `"finishReason":"",`, "", 1)
	for _, test := range []struct {
		name, stream string
		class        provider.Class
		status       int
	}{
		{"an error", begun + `data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}` + "\n\n", provider.ClassOverloaded, 503},
		{"a gateway's type alone", begun + `data: {"error":{"message":"bad WORDS","type":"invalid_request_error"}}` + "\n\n", provider.ClassInvalid, 400},
		{"a gateway's type for a limit", begun + `data: {"error":{"message":"bad WORDS","type":"rate_limit_error"}}` + "\n\n", provider.ClassRateLimit, 429},
		{"a type that is unknown", begun + `data: {"error":{"message":"bad WORDS","type":"odd"}}` + "\n\n", provider.ClassOverloaded, 0},
		{"an error without a code", begun + `data: {"error":{"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}` + "\n\n", provider.ClassRateLimit, 429},
		{"an error outside of events", begun + "{\n  \"error\": {\n    \"code\": 500,\n    \"message\": \"Internal\"\n  }\n}\n", provider.ClassOverloaded, 500},
		{"a list of errors", begun + "[{\"error\":{\"code\":400,\"message\":\"No.\"}}\n]\n", provider.ClassInvalid, 400},
		{"an early end", begun, provider.ClassDisconnect, 0},
		{"nothing", "", provider.ClassDisconnect, 0},
		{"a page", "<html>\n\n</html>\n", provider.ClassInvalid, 0},
		{"no JSON", "data: {\n\n", provider.ClassDisconnect, 0},
		{"no answer", "data: {\"candidates\":7}\n\n", provider.ClassDisconnect, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := collect(t, serve(t, streaming(test.stream)), question())
			require.Equal(t, test.status, requireClass(t, test.class, err).Status)
		})
	}
}

func TestSilence(t *testing.T) {
	begun := `data: {"candidates":[{"content":{"parts":[{"text":"A"}]}}]}` + "\n\n"
	for name, handler := range map[string]http.HandlerFunc{"before the answer": hanging(""), "in the answer": hanging(begun)} {
		t.Run(name, func(t *testing.T) {
			_, err := collect(t, serveWith(t, Options{IdleTimeout: 20 * time.Millisecond}, handler), question())
			requireClass(t, provider.ClassTimeout, err)
		})
	}
	t.Run("in a refusal", func(t *testing.T) {
		p := serveWith(t, Options{IdleTimeout: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			hanging("{")(w, r)
		})
		_, err := collect(t, p, question())
		requireClass(t, provider.ClassTimeout, err)
	})
}
