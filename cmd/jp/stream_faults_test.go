package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// scriptedServer is a server on loopback that answers each request with the next text, and keeps the
// line open behind it if the text ends with a mark.
func scriptedServer(t *testing.T, status int, kind string, answers ...string) string {
	t.Helper()
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer := ""
		select {
		case answer = <-next:
		default: // a list of models, or one request too many
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		text, stays := strings.CutSuffix(answer, stayOpen)
		_, _ = io.WriteString(w, text) // the client may be gone
		for stays {
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
				_, _ = io.WriteString(w, ": ping\n\n")
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// stayOpen ends a text that endless comments follow.
const stayOpen = "<comments for ever>"

// TestWhatAServerSendsIsRead asks servers that are loose, broken, or in the way.
func TestWhatAServerSendsIsRead(t *testing.T) {
	t.Parallel()
	const chatEnd = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	chat := func(pieces ...string) (out string) {
		for _, piece := range pieces {
			out += `data: {"choices":[{"index":0,"delta":{"content":"` + piece + `"}}]}` + "\n\n"
		}
		return out
	}
	const blocks = `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"REASON"}}` + "\n\n"
	for name, tc := range map[string]struct {
		dialect string
		status  int
		kind    string
		answer  string
		exit    int
		stdout  string
		stderr  []string
	}{
		"a character cut in two":      {"openai-chat", 200, "text/event-stream", chat(`a\ud83c`, `\udf89b`) + chatEnd, 0, "a🎉b\n", nil},
		"comments behind the finish":  {"openai-chat", 200, "text/event-stream", chat("Hello") + chatEnd + stayOpen, 0, "Hello\n", nil},
		"no ends, comments for ever":  {"anthropic", 200, "text/event-stream", strings.Replace(blocks, "REASON", "end_turn", 1) + stayOpen, 0, "Hello\n", nil},
		"a whole answer":              {"openai-chat", 200, "application/json", `{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`, 0, "Hello\n", nil},
		"a line of llama.cpp":         {"openai-chat", 200, "text/event-stream", `error: {"code":400,"message":"the request exceeds the available context size"}` + "\n\n", problem.ExitProvider, "", []string{"t cannot read so much: ", "the request exceeds the available context size"}},
		"a full context":              {"anthropic", 200, "text/event-stream", strings.Replace(blocks, "REASON", "model_context_window_exceeded", 1), 0, "Hello\n", []string{"with it the conversation fills the context of the model. What helps: make room (jp compact "}},
		"nothing at the address":      {"openai-chat", 404, "text/plain", "404 page not found\n", problem.ExitProvider, "", []string{"t has nothing that answers at its address", "404 page not found (asked: http://127.0.0.1:", "/v1/chat/completions)", "jp config set providers.t.base_url URL"}},
		"no such model, for contrast": {"openai-chat", 404, "application/json", `{"error":{"message":"The model 'x' does not exist"}}`, problem.ExitProvider, "", []string{"t has no such model"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			url := scriptedServer(t, tc.status, tc.kind, tc.answer)
			out := p.jp("query", "--cfg", "providers.t.base_url="+url+"/v1", "--cfg", "providers.t.dialect="+tc.dialect,
				"--cfg", `providers.t.key_command=["echo","sk-of-a-test"]`, "-m", "t/x", "Hello")
			require.Equal(t, tc.exit, out.exit, out.stderr)
			require.Equal(t, tc.stdout, out.stdout)
			for _, words := range tc.stderr {
				require.Contains(t, out.stderr, words)
			}
			require.NotContains(t, out.stderr, "trying again")
		})
	}
}

// The hint beside a wrong address helps: with the right one the question is asked again.
func TestAWrongAddressIsSetRight(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wrong := scriptedServer(t, 404, "text/plain", "404 page not found\n")
	right := scriptedServer(t, 200, "application/json", `{"choices":[{"message":{"content":"After all."}}]}`)
	require.Zero(t, p.jp("config", "set", "providers.t.base_url", wrong).exit)
	out := p.jp("query", "-m", "t/x", "Hello")
	require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
	set := p.helps(out.stderr, "set-base-url", "URL="+right)
	require.Zero(t, set.exit, set.stderr)
	require.Equal(t, "After all.\n", p.jp("continue").stdout)
}
