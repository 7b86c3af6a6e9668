package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server answers every request in the same way and keeps the requests.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	paths   []string
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bodies, s.headers, s.paths = append(s.bodies, string(body)), append(s.headers, r.Header), append(s.paths, r.URL.Path)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(func() {
		s.Client().CloseIdleConnections()
		s.Close()
	})
	return s
}

func (s *server) options(o openai.Options) openai.Options {
	o.BaseURL, o.Client = s.URL+"/v1", s.Client()
	return o
}

// writing answers with pieces, each of them sent by itself.
func writing(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

// events writes each piece of data as an event, the way both APIs do.
func events(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		out.WriteString("data: " + d + "\n\n")
	}
	return out.String()
}

const (
	chatStop      = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	responsesStop = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
)

// ask collects a provider's chunks.
func ask(ctx context.Context, p provider.Provider, r *provider.Request) (chunks []provider.Chunk, err error) {
	for chunk, failure := range p.Stream(ctx, r) {
		if failure != nil {
			return chunks, failure
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// A part is a part from the assembler, in short.
type part struct {
	Kind provider.ChunkKind
	Text string // or arguments
	ID   string
	Tool string
	Item string
}

// assembled are the parts of an answer and its last chunk.
func assembled(t *testing.T, chunks []provider.Chunk) ([]part, provider.Chunk) {
	t.Helper()
	var a provider.Assembler
	var parts []part
	var last provider.Chunk
	for _, c := range chunks {
		whole, err := a.Add(c)
		require.NoError(t, err)
		for _, p := range whole {
			text := p.Text
			if p.Kind == provider.ChunkToolCall {
				compact, err := conversation.Compact(p.Arguments)
				require.NoError(t, err)
				text = string(compact)
			}
			parts = append(parts, part{Kind: p.Kind, Text: text, ID: p.ToolID, Tool: p.Tool, Item: string(p.Item)})
		}
		last = c
	}
	return parts, last
}

func sentByChat(t *testing.T, o openai.Options, r *provider.Request) string {
	t.Helper()
	s := serve(t, writing(events(chatStop, "[DONE]")))
	_, err := ask(t.Context(), openai.NewChat(s.options(o)), r)
	require.NoError(t, err)
	require.Equal(t, []string{"/v1/chat/completions"}, s.paths)
	return s.bodies[0]
}

func sentByResponses(t *testing.T, o openai.Options, r *provider.Request) string {
	t.Helper()
	s := serve(t, writing(events(responsesStop)))
	_, err := ask(t.Context(), openai.NewResponses(s.options(o)), r)
	require.NoError(t, err)
	require.Equal(t, []string{"/v1/responses"}, s.paths)
	return s.bodies[0]
}

// member is one member of a body.
func member(t *testing.T, body, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &members))
	return string(members[name])
}

func user(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleUser, Blocks: blocks}
}

func assistant(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleAssistant, Blocks: blocks}
}

func results(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleTool, Blocks: blocks}
}

func text(text string) provider.Block {
	return provider.Block{Kind: provider.BlockText, Text: text}
}

func thought(item string) provider.Block {
	return provider.Block{Kind: provider.BlockReasoning, Text: "thinking", Item: json.RawMessage(item)}
}

func call(id, arguments string) provider.Block {
	return provider.Block{Kind: provider.BlockToolCall, ID: id, Name: "look", Arguments: json.RawMessage(arguments)}
}

func result(id, text string) provider.Block {
	return provider.Block{Kind: provider.BlockResult, ID: id, Name: "look", Text: text}
}

func file(name, media, data string) provider.Block {
	return provider.Block{Kind: provider.BlockFile, Name: name, MediaType: media, Data: []byte(data)}
}

func with(b provider.Block, item string) provider.Block {
	b.Item = json.RawMessage(item)
	return b
}

const (
	png = "\x89PNG\r\n\x1a\n"
	pdf = "%PDF-1.4\n\x80"
)

// Their data URLs.
const (
	pngURL = "data:image/png;base64,iVBORw0KGgo="
	pdfURL = "data:application/pdf;base64,JVBERi0xLjQKgA=="
)
