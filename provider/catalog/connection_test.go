package catalog_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
)

// A recorder keeps all requests, and refuses them.
type recorder struct {
	mu       sync.Mutex
	requests []*http.Request
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
}

// asked are the requests of a question and of a list of models.
func (r *recorder) asked(t *testing.T, v catalog.Vendor, client *http.Client) []*http.Request {
	t.Helper()
	p := v.Open("k", catalog.Options{Client: client})
	question := &provider.Request{Model: "m", Messages: []provider.Message{{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Q"}}}}}
	for _, err := range p.Stream(t.Context(), question) {
		require.Error(t, err)
	}
	_, err := p.Models(t.Context())
	require.Error(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

var protocols = []string{"anthropic", "openai-responses", "openai-chat", "google", "ollama", "mistral"}

// TestWhatAProviderWantsWithEveryRequest: the query of its address, and headers, go
// with questions and with lists of models, in each protocol.
func TestWhatAProviderWantsWithEveryRequest(t *testing.T) {
	for _, dialect := range protocols {
		for query, want := range map[string]url.Values{
			"?api-version=2024-10-21":       {"api-version": {"2024-10-21"}},
			"/?a=1&a=2&b=x%20y%26z&empty=":  {"a": {"1", "2"}, "b": {"x y&z"}, "empty": {""}},
			"?sig=a%2Fb%20c&flag":           {"sig": {"a/b c"}, "flag": {""}},
			"/?api-version=preview&alt=own": {"api-version": {"preview"}, "alt": {"own"}},
			"":                              {},
		} {
			t.Run(dialect+query, func(t *testing.T) {
				r := &recorder{}
				s := httptest.NewServer(r)
				defer s.Close()
				connection := catalog.Connection{Headers: map[string]string{"api-key": "secret", "X-Team": "a b"}}
				v, err := catalog.Find("mine", catalog.Settings{BaseURL: s.URL + "/deep/v1" + query, Dialect: dialect, Connection: connection})
				require.NoError(t, err)
				require.Equal(t, s.URL+"/deep/v1", v.Address())
				client, err := connection.Client()
				require.NoError(t, err)
				requests := r.asked(t, v, client)
				require.Len(t, requests, 2)
				for _, request := range requests {
					_, sent, _ := strings.Cut(query, "?")
					require.True(t, strings.HasPrefix(request.URL.RawQuery, sent), request.URL.RawQuery)
					for name, values := range want {
						require.Equal(t, values, request.URL.Query()[name], request.URL)
					}
					require.Equal(t, "secret", request.Header.Get("Api-Key"))
					require.Equal(t, "a b", request.Header.Get("X-Team"))
					require.Contains(t, request.URL.Path, "/deep/v1/")
				}
			})
		}
	}
}

// TestCertificatesOfOnesOwn: a server with a private certificate.
func TestCertificatesOfOnesOwn(t *testing.T) {
	for _, dialect := range protocols {
		r := &recorder{}
		s := httptest.NewTLSServer(r)
		s.Config.ErrorLog = nil
		file := filepath.Join(t.TempDir(), "ca.pem")
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
		v, err := catalog.Find("mine", catalog.Settings{BaseURL: s.URL, Dialect: dialect})
		require.NoError(t, err)
		require.Empty(t, r.asked(t, v, nil), "it is not trusted without")
		client, err := catalog.Connection{CAFile: file}.Client()
		require.NoError(t, err)
		require.Len(t, r.asked(t, v, client), 2, dialect)
		s.Close()
	}
}

// TestProxies: a request goes to the configured proxy alone.
func TestProxies(t *testing.T) {
	for _, dialect := range protocols {
		r := &recorder{}
		proxy := httptest.NewServer(r)
		v, err := catalog.Find("mine", catalog.Settings{BaseURL: "http://llm.invalid/v1?a=1", Dialect: dialect})
		require.NoError(t, err)
		client, err := catalog.Connection{Proxy: proxy.URL}.Client()
		require.NoError(t, err)
		requests := r.asked(t, v, client)
		require.Len(t, requests, 2, dialect)
		require.Equal(t, "llm.invalid", requests[0].URL.Host)
		require.Equal(t, "1", requests[1].URL.Query().Get("a"))
		proxy.Close()
	}
	direct, err := catalog.Connection{Proxy: "none"}.Client()
	require.NoError(t, err)
	require.NotNil(t, direct)
}

func TestWrongConnections(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("no certificate"), 0o600))
	for _, test := range []struct {
		c    catalog.Connection
		says string
	}{
		{catalog.Connection{Headers: map[string]string{"a b": "x"}}, "headers.a b: is not the name of a header"},
		{catalog.Connection{Headers: map[string]string{"": "x"}}, "is not the name of a header"},
		{catalog.Connection{Headers: map[string]string{"content-type": "x"}}, "jp sets this header itself"},
		{catalog.Connection{Headers: map[string]string{"X-A": "x\r\nX-B: y"}}, "headers.X-A: has control characters"},
		{catalog.Connection{CAFile: "ca.pem"}, "ca_file: must begin with / or ~/"},
		{catalog.Connection{CAFile: "/nowhere/ca.pem"}, "ca_file: open /nowhere/ca.pem: no such file"},
		{catalog.Connection{CAFile: empty}, "has no certificate in PEM form"},
		{catalog.Connection{Proxy: "localhost:8080"}, "proxy: must be"},
		{catalog.Connection{Proxy: "ftp://x"}, "proxy: must be"},
	} {
		_, err := test.c.Client()
		require.ErrorContains(t, err, test.says)
	}
	_, err := catalog.Find("mine", catalog.Settings{BaseURL: "http://h/v1#x"})
	require.ErrorIs(t, err, catalog.ErrAddress)
	_, err = catalog.Find("mine", catalog.Settings{BaseURL: "http://h/v1", Connection: catalog.Connection{Proxy: "x"}})
	require.Error(t, err)
}
