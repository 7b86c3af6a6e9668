package google

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

const testKey = "AIza-secret"

// serve answers every request of the provider it returns.
func serve(t *testing.T, handler http.HandlerFunc) *Provider {
	t.Helper()
	return serveWith(t, Options{}, handler)
}

func serveWith(t *testing.T, o Options, handler http.HandlerFunc) *Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.Key, o.BaseURL, o.Client = testKey, server.URL, server.Client()
	return New(o)
}

// streaming writes the stream and ends it well.
func streaming(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}
}

// hanging writes the stream and then stays silent until the client has gone.
func hanging(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // a server notices a lost client only once it has read everything
		if stream != "" {
			_, _ = io.WriteString(w, stream)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func question() *provider.Request {
	return &provider.Request{Model: "gemini-3-flash", Messages: []provider.Message{user(text("Q"))}}
}

// collect is the whole stream. An error or the end must be its last value.
func collect(t *testing.T, p *Provider, request *provider.Request) ([]provider.Chunk, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var chunks []provider.Chunk
	var failure error
	for c, err := range p.Stream(ctx, request) {
		require.NoError(t, failure, "something behind an error")
		if n := len(chunks); n > 0 {
			require.NotEqual(t, provider.ChunkFinish, chunks[n-1].Kind, "something behind the end")
		}
		if failure = err; err == nil {
			chunks = append(chunks, c)
		}
	}
	return chunks, failure
}

// assemble is the parts of the chunks, and the last chunk.
func assemble(t *testing.T, chunks []provider.Chunk) ([]provider.Part, provider.Chunk) {
	t.Helper()
	require.NotEmpty(t, chunks)
	var a provider.Assembler
	var parts []provider.Part
	for _, c := range chunks {
		whole, err := a.Add(c)
		require.NoError(t, err)
		parts = append(parts, whole...)
	}
	return parts, chunks[len(chunks)-1]
}

func requireClass(t *testing.T, class provider.Class, err error) *provider.Error {
	t.Helper()
	var failure *provider.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, class, failure.Class, "%v", err)
	require.Equal(t, Name, failure.Provider)
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		require.NotContains(t, cause.Error(), testKey)
	}
	return failure
}
