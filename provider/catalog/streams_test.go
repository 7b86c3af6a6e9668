package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// A wire is how a protocol words a piece of an answer.
type wire struct {
	text, thought, data func(piece string) string // pieces are JSON strings without their quotes
	arguments           func(first bool, piece string) string
	finish              string // the reason for the end of the answer; more may follow
	last                string // follows
	alive               string // a sign of life
	whole               string // a whole answer without a stream: "Hello", and a call of look with {"a":1}
}

func wires() map[string]wire {
	chat := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n" }
	block := func(index int, start, delta string) func(string) string {
		begun := false
		return func(piece string) string {
			out := fmt.Sprintf(`data: {"type":"content_block_delta","index":%d,"delta":%s}`+"\n\n", index, fmt.Sprintf(delta, piece))
			if !begun {
				out = fmt.Sprintf(`data: {"type":"content_block_start","index":%d,"content_block":%s}`+"\n\n", index, start) + out
			}
			begun = true
			return out
		}
	}
	event := func(format string) func(string) string {
		return func(piece string) string { return "data: " + fmt.Sprintf(format, piece) + "\n\n" }
	}
	gemini := func(part string) string {
		return `data: {"candidates":[{"content":{"parts":[` + part + `]}}]}` + "\n\n"
	}
	arguments := block(2, `{"type":"tool_use","id":"c1","name":"look","input":{}}`, `{"type":"input_json_delta","partial_json":"%s"}`)
	const output = `{"object":"response","status":"completed","output":[{"type":"message","id":"m1","content":[{"type":"output_text","text":"Hello"}]},` +
		`{"type":"function_call","id":"f1","call_id":"c1","name":"look","arguments":"{\"a\":1}"}],"usage":{"input_tokens":5,"output_tokens":2}}`
	return map[string]wire{
		"anthropic": {
			text:      block(1, `{"type":"text","text":""}`, `{"type":"text_delta","text":"%s"}`),
			thought:   block(0, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"%s"}`),
			data:      block(1, `{"type":"text","text":""}`, `{"type":"text_delta","text":"%s"}`),
			arguments: func(_ bool, piece string) string { return arguments(piece) },
			finish:    `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n",
			last:      `data: {"type":"message_stop"}` + "\n\n",
			alive:     "event: ping\ndata: {\"type\":\"ping\"}\n\n",
			whole:     `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"tool_use","id":"c1","name":"look","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":2}}`,
		},
		"openai-chat": {
			text:    func(piece string) string { return chat(`{"content":"` + piece + `"}`) },
			thought: func(piece string) string { return chat(`{"reasoning_content":"` + piece + `"}`) },
			data:    func(piece string) string { return chat(`{"content":"` + piece + `"}`) },
			arguments: func(first bool, piece string) string {
				if first {
					return chat(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"` + piece + `"}}]}`)
				}
				return chat(`{"tool_calls":[{"index":0,"function":{"arguments":"` + piece + `"}}]}`)
			},
			finish: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n",
			last:   `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n",
			alive:  chat(`{"content":""}`),
			whole: `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"c1","type":"function",` +
				`"function":{"name":"look","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
		},
		"openai-responses": {
			text:    event(`{"type":"response.output_text.delta","output_index":1,"delta":"%s"}`),
			thought: event(`{"type":"response.reasoning_text.delta","output_index":0,"delta":"%s"}`),
			data:    event(`{"type":"response.output_text.delta","output_index":1,"delta":"%s"}`),
			arguments: func(first bool, piece string) string {
				out := event(`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"%s"}`)(piece)
				if first {
					return `data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"look","arguments":""}}` + "\n\n" + out
				}
				return out
			},
			finish: `data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":2}}}` + "\n\n",
			alive:  `data: {"type":"keepalive"}` + "\n\n",
			whole:  output,
		},
		"google": {
			text:    func(piece string) string { return gemini(`{"text":"` + piece + `"}`) },
			thought: func(piece string) string { return gemini(`{"text":"` + piece + `","thought":true}`) },
			data:    func(piece string) string { return gemini(`{"text":"` + piece + `"}`) },
			finish:  `data: {"candidates":[{"finishReason":"STOP"}]}` + "\n\n",
			last:    `data: {"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}` + "\n\n",
			alive:   `data: {"usageMetadata":{"promptTokenCount":5}}` + "\n\n",
			whole: `{"candidates":[{"content":{"parts":[{"text":"Hello"},{"functionCall":{"id":"c1","name":"look","args":{"a":1}}}]},"finishReason":"STOP"}],` +
				`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}`,
		},
	}
}

// A script is a transport whose server writes pieces, at times, and then ends as told.
type script struct {
	kind   string // content type
	pieces []string
	every  time.Duration // between them
	again  string        // is then written for ever, that often
	end    error         // ends the connection; nil: it stays open
}

func (s script) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(r.Context().Err()) })
	go func() {
		for i := 0; i < len(s.pieces) || s.again != ""; i++ {
			piece := s.again
			if i < len(s.pieces) {
				piece = s.pieces[i]
			}
			if s.every > 0 {
				select {
				case <-time.After(s.every): // by the clock of the test's bubble
				case <-r.Context().Done():
					return
				}
			}
			if _, err := io.WriteString(in, piece); err != nil {
				return
			}
		}
		if s.end != nil {
			_ = in.CloseWithError(s.end)
		}
	}()
	kind := s.kind
	if kind == "" {
		kind = "text/event-stream"
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: out, Request: r}, nil
}

// answered is the outcome of a server's script: the parts of its answer and its last chunk, or an error.
func answered(t *testing.T, dialect string, s script, schema bool) ([]provider.Part, provider.Chunk, error) {
	t.Helper()
	v, err := Find("work", Settings{BaseURL: "http://server.invalid", Dialect: dialect})
	require.NoError(t, err)
	request := &provider.Request{Model: "m", Messages: []provider.Message{
		{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Hello"}}},
	}}
	if schema {
		request.Schema = []byte(`{"type":"object"}`)
	}
	var a provider.Assembler
	var parts []provider.Part
	var last provider.Chunk
	for c, err := range v.Open("sk-of-a-test", Options{Client: &http.Client{Transport: s}, Silence: 5 * time.Minute}).Stream(t.Context(), request) {
		if err != nil {
			return parts, last, err
		}
		whole, err := a.Add(c)
		require.NoError(t, err)
		parts, last = append(parts, whole...), c
	}
	return parts, last, nil
}

// A character that a server cuts in two stays one, in every kind of part.
func TestCharactersCutInTwo(t *testing.T) {
	cuts := map[string]struct {
		pieces []string
		want   string
	}{
		"between the halves":       {[]string{`a\ud83c`, `\udf89b`}, "a🎉b"},
		"with nothing between":     {[]string{`a\ud83c`, ``, `\udf89b`}, "a🎉b"},
		"twice":                    {[]string{`\ud83c`, `\udf89\ud83d`, `\ude00`}, "🎉😀"},
		"a half alone at the end":  {[]string{`a\ud83c`}, "a\uFFFD"},
		"a half alone in the text": {[]string{`a\ud83c`, `b`}, "a\uFFFDb"},
		"between bytes":            {[]string{"a\xe4\xbd", "\xa0b"}, "a你b"},
	}
	for dialect := range wires() {
		for name, tc := range cuts {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				w := wires()[dialect]
				var pieces []string
				for _, piece := range tc.pieces {
					pieces = append(pieces, w.thought(piece))
				}
				for _, piece := range tc.pieces {
					pieces = append(pieces, w.text(piece))
				}
				if w.arguments != nil {
					pieces = append(pieces, w.arguments(true, `{\"t\":\"`))
					for _, piece := range tc.pieces {
						pieces = append(pieces, w.arguments(false, piece))
					}
					pieces = append(pieces, w.arguments(false, `\"}`))
				}
				parts, _, err := answered(t, dialect, script{pieces: append(pieces, w.finish, w.last), end: io.EOF}, false)
				require.NoError(t, err)
				require.Equal(t, tc.want, parts[0].Text)
				require.Equal(t, tc.want, parts[1].Text)
				if w.arguments != nil {
					require.Equal(t, "{\n  \"t\": \""+tc.want+"\"\n}", string(parts[2].Arguments))
				}
				for _, part := range parts {
					if part.Item != nil {
						require.NotContains(t, string(part.Item), "\uFFFD\uFFFD")
					}
				}

				w = wires()[dialect]
				pieces = []string{w.data(`{\"t\":\"`)}
				for _, piece := range tc.pieces {
					pieces = append(pieces, w.data(piece))
				}
				parts, _, err = answered(t, dialect, script{pieces: append(pieces, w.data(`\"}`), w.finish, w.last), end: io.EOF}, true)
				require.NoError(t, err)
				require.Equal(t, provider.ChunkData, parts[0].Kind)
				require.Equal(t, `{"t":"`+tc.want+`"}`, parts[0].Text)
			})
		}
	}
}

// A chat completion lacks the ends of parts. A part that is cut within a character continues behind a piece
// of another part.
func TestCharactersCutByAnotherPart(t *testing.T) {
	w := wires()["openai-chat"]
	call := w.arguments(true, `{}`)
	for name, tc := range map[string]struct {
		pieces []string
		want   []string // text of the parts
	}{
		"reasoning, by text":             {[]string{w.thought(`a\ud83c`), w.text(`b`), w.thought(`\udf89c`)}, []string{"a🎉c", "b"}},
		"text, by reasoning":             {[]string{w.text(`a\ud83c`), w.thought(`b`), w.text(`\udf89c`)}, []string{"a🎉c", "b"}},
		"reasoning, by several pieces":   {[]string{w.thought(`a\ud83c`), w.text(`b`), w.text(`b`), w.thought(`\udf89`), w.text("c")}, []string{"a🎉", "bb", "c"}},
		"both, in turn":                  {[]string{w.thought(`a\ud83c`), w.text(`b\ud83d`), w.thought(`\udf89`), w.text(`\ude00`)}, []string{"a🎉", "b😀"}},
		"reasoning, by a call":           {[]string{w.thought(`a\ud83c`), call, w.thought(`\udf89c`)}, []string{"a🎉c", ""}},
		"text, by a call":                {[]string{w.text(`a\ud83c`), call, w.text(`\udf89c`)}, []string{"a🎉c", ""}},
		"the rest never comes":           {[]string{w.thought(`a\ud83c`), w.text(`b`)}, []string{"a\uFFFD", "b"}},
		"bytes of a character":           {[]string{w.thought("a\xe4\xbd"), w.text(`b`), w.thought("\xa0c")}, []string{"a你c", "b"}},
		"whole parts begin and end":      {[]string{w.thought(`a`), w.text(`b`), w.thought(`c`), w.text(`d`)}, []string{"a", "b", "c", "d"}},
		"whole characters of two halves": {[]string{w.thought(`\ud83c\udf89`), w.text(`b`), w.thought(`c`)}, []string{"🎉", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			parts, _, err := answered(t, "openai-chat", script{pieces: append(tc.pieces, w.finish, w.last), end: io.EOF}, false)
			require.NoError(t, err)
			var texts []string
			for _, part := range parts {
				texts = append(texts, part.Text)
				if part.Item != nil && !strings.Contains(part.Text, "\uFFFD") {
					require.NotContains(t, string(part.Item), "\uFFFD")
				}
			}
			require.Equal(t, tc.want, texts)
		})
	}
}

// The wait for an answer is limited, and signs of life do not extend it.
func TestTimeWithoutContent(t *testing.T) {
	for dialect, w := range wires() {
		for name, tc := range map[string]struct {
			script script
			says   string
			took   time.Duration
		}{
			"nothing at all":        {script{}, "nothing came for 5m0s (limits.model_silence)", 5 * time.Minute},
			"comments for ever":     {script{again: ": ping\n\n", every: time.Second}, "nothing of an answer came for 10m0s, only signs of life (limits.model_stall)", 10 * time.Minute},
			"pings for ever":        {script{again: w.alive, every: time.Second}, "nothing of an answer came for 10m0s", 10 * time.Minute},
			"a line without an end": {script{again: "x", every: time.Minute}, "nothing of an answer came for 10m0s", 10 * time.Minute},
			"text, then comments":   {script{pieces: []string{w.text("a"), w.text("b")}, again: ": ping\n\n", every: time.Minute}, "nothing of an answer came for 10m0s", 12 * time.Minute},
			"comments, then text, then nothing": {
				script{pieces: append(repeated(": ping\n\n", 8), w.text("a")), every: time.Minute}, "nothing came for 5m0s", 14 * time.Minute,
			},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					_, _, err := answered(t, dialect, tc.script, false)
					var failure *provider.Error
					require.ErrorAs(t, err, &failure)
					require.Equal(t, provider.ClassTimeout, failure.Class)
					require.ErrorContains(t, err, tc.says)
					require.Equal(t, tc.took, time.Since(began))
				})
			})
		}
	}
}

func repeated(text string, times int) []string {
	all := make([]string, times)
	for i := range all {
		all[i] = text
	}
	return all
}

// An answer counts once its finish is known, even if the transport fails after that.
func TestAnAnswerCountsOnceItsFinishIsKnown(t *testing.T) {
	reset := errors.New("connection reset")
	for dialect, w := range wires() {
		said := []string{w.text("Hello"), w.finish}
		for name, tc := range map[string]struct {
			script script
			atMost time.Duration
		}{
			"it ends":               {script{pieces: append(said, w.last), end: io.EOF}, 0},
			"it ends too soon":      {script{pieces: said, end: io.EOF}, 0},
			"it is cut":             {script{pieces: said, end: io.ErrUnexpectedEOF}, 0},
			"it is reset":           {script{pieces: said, end: reset}, 0},
			"it stays open":         {script{pieces: said}, 5 * time.Second},
			"comments for ever":     {script{pieces: said, again: ": ping\n\n", every: time.Second}, 7 * time.Second},
			"pings for ever":        {script{pieces: said, again: w.alive, every: time.Second}, 7 * time.Second},
			"half an event":         {script{pieces: append(said, "data: {\"cho"), end: io.EOF}, 0},
			"something else":        {script{pieces: append(said, "data: {\"cho\n\n"), end: io.EOF}, 0},
			"an error":              {script{pieces: append(said, "data: {\"error\":{\"message\":\"no usage\"}}\n\n"), end: io.EOF}, 0},
			"the last line is late": {script{pieces: []string{w.text("Hello"), w.finish, w.last}, every: 4 * time.Second, end: io.EOF}, 12 * time.Second},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					parts, last, err := answered(t, dialect, tc.script, false)
					require.NoError(t, err)
					require.Equal(t, "Hello", parts[0].Text)
					require.Equal(t, provider.ChunkFinish, last.Kind)
					require.Equal(t, conversation.FinishStop, last.Finish)
					require.LessOrEqual(t, time.Since(began), tc.atMost)
					if w.last != "" && strings.HasSuffix(strings.Join(tc.script.pieces, ""), w.last) {
						require.Equal(t, 2, last.Usage.Output)
					}
				})
			})
		}
	}
}

// The server's own words are shown, from any place, and decide the next step.
func TestTheServersOwnWords(t *testing.T) {
	for dialect, w := range wires() {
		for name, tc := range map[string]struct {
			stream string
			class  provider.Class
			says   string
		}{
			"a line of llama.cpp":              {`error: {"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}` + "\n\n", provider.ClassContext, "the request exceeds the available context size"},
			"the same behind text":             {w.text("a") + `error: {"code":400,"message":"the request exceeds the available context size"}` + "\n\n", provider.ClassContext, "the request exceeds the available context size"},
			"a field of an event":              {`data: {"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}` + "\n\n", provider.ClassRateLimit, "Rate limit reached"},
			"a field that is text":             {`data: {"error":"model is overloaded"}` + "\n\n", provider.ClassOverloaded, "model is overloaded"},
			"an event of that name":            {"event: error\ndata: {\"message\":\"prompt is too long\"}\n\n", provider.ClassContext, "prompt is too long"},
			"an event with words":              {"event: error\ndata: upstream went away\n\n", provider.ClassOverloaded, "upstream went away"},
			"a bare line of JSON":              {`{"error":{"message":"invalid api key","code":401}}` + "\n", provider.ClassAuth, "invalid api key"},
			"bare JSON over several lines":     {"{\n  \"error\": {\n    \"message\": \"Too many requests\",\n    \"code\": 429\n  }\n}\n", provider.ClassRateLimit, "Too many requests"},
			"bare JSON behind text":            {w.text("a") + `{"error":{"message":"out of memory"}}` + "\n", provider.ClassOverloaded, "out of memory"},
			"a list":                           {`[{"error":{"message":"prompt is too long"}}]`, provider.ClassContext, "prompt is too long"},
			"words":                            {"upstream connect error or disconnect/reset before headers", provider.ClassOverloaded, "upstream connect error"},
			"words that say nothing":           {"hello world", provider.ClassInvalid, "the server sent no answer: hello world"},
			"words behind text":                {w.text("a") + "\nbad gateway\n", provider.ClassOverloaded, "bad gateway"},
			"a page":                           {"<html><head><title>Log in</title></head>\n<body>…</body></html>", provider.ClassInvalid, "the server sent no answer: a web page, Log in"},
			"JSON that is neither":             {`{"message":"no Route matched with those values"}`, provider.ClassInvalid, "no Route matched with those values"},
			"words in an event":                {"data: Internal server error\n\n", provider.ClassOverloaded, "Internal server error"},
			"a detail in an event":             {`data: {"detail":"The adapter is not loaded"}` + "\n\n", provider.ClassInvalid, "The adapter is not loaded"},
			"a detail that may pass":           {`data: {"detail":"Server is overloaded"}` + "\n\n", provider.ClassOverloaded, "Server is overloaded"},
			"a detail behind text":             {w.text("a") + `data: {"detail":"CUDA error"}` + "\n\n", provider.ClassOverloaded, "CUDA error"},
			"a list of details":                {`data: {"detail":[{"loc":["body","tools",0],"msg":"field required","type":"missing"},{"msg":"extra field"}]}` + "\n\n", provider.ClassInvalid, "field required (at body.tools.0); extra field"},
			"an object that is an error":       {`data: {"object":"error","message":"Invalid model id","code":3}` + "\n\n", provider.ClassModel, "Invalid model id"},
			"an object with a status":          {`data: {"object":"error","message":"bad tools","type":"BadRequestError","code":400}` + "\n\n", provider.ClassInvalid, "bad tools"},
			"a list of errors":                 {`data: {"errors":[{"message":"unknown model x","code":5007}]}` + "\n\n", provider.ClassModel, "unknown model x"},
			"a list of errors with words":      {`data: {"errors":["no such adapter"]}` + "\n\n", provider.ClassInvalid, "no such adapter"},
			"a message in an event":            {`data: {"message":"no Route matched"}` + "\n\n", provider.ClassInvalid, "no Route matched"},
			"a message with a status":          {`data: {"message":"come back","code":503}` + "\n\n", provider.ClassOverloaded, "come back"},
			"bare errors":                      {`{"errors":[{"message":"tool 3 is refused"}]}` + "\n", provider.ClassInvalid, "tool 3 is refused"},
			"JSON that is neither, by FastAPI": {`{"detail":"Not authenticated: missing api key"}`, provider.ClassAuth, "missing api key"},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				_, _, err := answered(t, dialect, script{pieces: []string{tc.stream}, end: io.EOF}, false)
				var failure *provider.Error
				require.ErrorAs(t, err, &failure)
				require.Equal(t, tc.class, failure.Class, failure)
				require.ErrorContains(t, failure, tc.says)
				require.Equal(t, "work", failure.Provider)
			})
		}
	}
}

// jp gives up an event without an end, and does not ask for it again.
func TestAnEventIsNotReadForEver(t *testing.T) {
	for dialect := range wires() {
		_, _, err := answered(t, dialect, script{pieces: []string{"data: "}, again: strings.Repeat("x", 8<<20)}, false)
		var failure *provider.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, provider.ClassInvalid, failure.Class)
		require.ErrorContains(t, err, "an event of more than 64 MiB")
	}
}

// jp understands a server that does not stream.
func TestAWholeAnswerIsOneEvent(t *testing.T) {
	for dialect, w := range wires() {
		for name, s := range map[string]script{
			"JSON":                   {kind: "application/json", pieces: []string{w.whole}},
			"JSON, as a stream":      {pieces: []string{w.whole}},
			"JSON, in pieces":        {kind: "application/json; charset=utf-8", pieces: strings.SplitAfter(w.whole, ",")},
			"JSON over lines":        {kind: "application/json", pieces: []string{strings.ReplaceAll(strings.ReplaceAll(w.whole[:len(w.whole)-1], `,"`, ",\n  \""), `{"`, "{ \"") + "\n}\n"}},
			"a list":                 {kind: "application/json", pieces: []string{"[" + w.whole + "\n]\n"}},
			"one event":              {pieces: []string{"data: " + w.whole + "\n\n"}},
			"one event, and the end": {pieces: []string{"data: " + w.whole + "\n\ndata: [DONE]\n\n"}},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				s.end = io.EOF
				parts, last, err := answered(t, dialect, s, false)
				require.NoError(t, err)
				require.Len(t, parts, 2)
				require.Equal(t, "Hello", parts[0].Text)
				require.Equal(t, "c1 look", parts[1].ToolID+" "+parts[1].Tool)
				require.JSONEq(t, `{"a":1}`, string(parts[1].Arguments))
				require.Equal(t, conversation.FinishToolCalls, last.Finish)
				require.Equal(t, [2]int{5, 2}, [2]int{last.Usage.Input, last.Usage.Output})
			})
		}
		t.Run(dialect+"/cut", func(t *testing.T) {
			for at := range len(w.whole) {
				_, _, err := answered(t, dialect, script{kind: "application/json", pieces: []string{w.whole[:at]}, end: io.ErrUnexpectedEOF}, false)
				require.Error(t, err, "cut at %d", at)
			}
		})
	}
}
