package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"jp/internal/publicnet"
	"jp/tool"
)

// A place is a server over HTTP of a test.
type httpPlace struct {
	*httptest.Server
	mu      sync.Mutex
	headers []string // of Authorization, one for each request
	slow    chan struct{}
	heard   chan struct{} // closed when the client has heard how far the call is
}

func overHTTP(t *testing.T) *httpPlace {
	t.Helper()
	p := &httpPlace{slow: make(chan struct{}), heard: make(chan struct{})}
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "say", Description: "Says", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
				select {
				case <-p.heard:
				case <-ctx.Done():
				}
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "said"}}}, nil
		})
	server.AddTool(&sdk.Tool{Name: "wait", Description: "Waits", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			select {
			case <-p.slow:
			case <-ctx.Done():
			}
			return &sdk.CallToolResult{}, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.headers = append(p.headers, r.Header.Get("Authorization"))
		p.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(p.slow)
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func httpServer(t *testing.T, spec Spec, change func(*Options)) *Server {
	t.Helper()
	root := t.TempDir()
	o := Options{
		Approvals: Approvals{Dir: t.TempDir(), Root: root}, Dir: root, Version: "test", Private: []string{"127.0.0.1"}, StartTimeout: 30 * time.Second,
		Header: func(_, value string) (string, error) { return "Bearer " + value, nil },
	}
	if change != nil {
		change(&o)
	}
	s := NewServer(spec, o)
	t.Cleanup(s.Close)
	return s
}

func TestHTTPServer(t *testing.T) {
	t.Parallel()
	p := overHTTP(t)
	s := httpServer(t, Spec{Name: "far", URL: p.URL, Headers: map[string]string{"Authorization": "$TOKEN"}}, nil)
	listing, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listing.Offers, 2)
	require.Empty(t, s.Tools(func(string) bool { return false }), "nothing is approved")
	require.NoError(t, s.Approve(listing.Offers))
	tools := s.Tools(func(string) bool { return false })
	require.Len(t, tools, 2)

	var mu sync.Mutex
	var progress []string
	result, err := tools[0].Run(t.Context(), tool.Call{Arguments: []byte(`{}`), Progress: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, text)
		close(p.heard)
	}})
	require.NoError(t, err)
	require.Equal(t, "said", string(result.Content))
	mu.Lock()
	require.Equal(t, []string{"1/2, half"}, progress)
	mu.Unlock()
	p.mu.Lock()
	for _, header := range p.headers {
		require.Equal(t, "Bearer $TOKEN", header, "the header goes with each request")
	}
	p.mu.Unlock()

	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	_, err = tools[1].Run(ctx, tool.Call{Arguments: []byte(`{}`)})
	require.ErrorIs(t, err, stop)
	result, err = tools[0].Run(t.Context(), tool.Call{Arguments: []byte(`{}`)})
	require.NoError(t, err)
	require.Contains(t, string(result.Content), "said", "the next call works")
}

// Refused addresses, and refused acts of a server.
func TestHTTPServerRefused(t *testing.T) {
	t.Parallel()
	p := overHTTP(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(p.URL, http.StatusTemporaryRedirect))
	t.Cleanup(elsewhere.Close)
	huge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = ' '
		}
		for range maxLine>>20 + 2 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	t.Cleanup(huge.Close)
	for name, test := range map[string]struct {
		url    string
		change func(*Options)
		want   string
	}{
		"a private address": {p.URL, func(o *Options) { o.Private = nil }, "which is private"},
		"a file":            {"file:///etc/passwd", nil, "its scheme"},
		"a password":        {"http://me:secret@127.0.0.1/", nil, "has a user or a password"},
		"no host":           {"http:///x", nil, "names no host"},
		"a redirect":        {elsewhere.URL, nil, "follows no redirect"},
		"too much":          {huge.URL, nil, ""},
		"no header": {p.URL, func(o *Options) {
			o.Header = func(string, string) (string, error) { return "", errors.New("TOKEN is not set") }
		}, "TOKEN is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpServer(t, Spec{Name: "far", URL: test.url, Headers: map[string]string{"Authorization": "x"}}, test.change)
			_, err := s.List(t.Context())
			var failed *StartError
			require.ErrorAs(t, err, &failed)
			require.Contains(t, err.Error(), test.want)
			if name == "a private address" {
				var private *publicnet.PrivateError
				require.ErrorAs(t, err, &private)
			}
		})
	}
}

// A server that goes away fails the call, and the next one finds it again.
func TestHTTPServerGoesAway(t *testing.T) {
	t.Parallel()
	p := overHTTP(t)
	s := httpServer(t, Spec{Name: "far", URL: p.URL}, nil)
	listing, err := s.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Approve(listing.Offers))
	say := s.Tools(func(string) bool { return false })[0]
	failing := true
	handler := p.Config.Handler
	var mu sync.Mutex
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if failing {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	})
	result, err := say.Run(t.Context(), tool.Call{Arguments: []byte(`{}`)})
	require.NoError(t, err)
	require.True(t, result.IsError)
	mu.Lock()
	failing = false
	mu.Unlock()
	result, err = say.Run(t.Context(), tool.Call{Arguments: []byte(`{}`)})
	require.NoError(t, err)
	require.False(t, result.IsError, "%s", result.Content)
}
