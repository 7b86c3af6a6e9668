package catalog

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

// lists answers the lists of all protocols, in two pages if the protocol has pages, and wants the key "k".
func lists(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
	answers := map[string]string{
		"/anthropic/v1/models":          `{"data":[{"type":"model","id":"claude-b","display_name":"B","created_at":"2026-01-01T00:00:00Z"}],"has_more":true,"first_id":"claude-b","last_id":"claude-b"}`,
		"/anthropic/v1/models?claude-b": `{"data":[{"type":"model","id":"claude-a","display_name":"A","created_at":"2025-01-01T00:00:00Z"}],"has_more":false,"first_id":"claude-a","last_id":"claude-a"}`,
		"/openai/models":                `{"object":"list","data":[{"id":"gpt-b","object":"model","created":1,"owned_by":"x"},{"id":"gpt-a","object":"model"}]}`,
		"/google/v1beta/models":         `{"models":[{"name":"models/gemini-b","supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"n"}`,
		"/google/v1beta/models?n":       `{"models":[{"name":"models/gemini-a","supportedGenerationMethods":["generateContent"]}]}`,
		"/elsewhere/models":             "",
	}
	page := r.URL.Query().Get("after_id") + r.URL.Query().Get("pageToken")
	if page != "" {
		page = "?" + page
	}
	answer, known := answers[r.URL.Path+page]
	switch {
	case strings.HasPrefix(r.URL.Path, "/moved"):
		http.Redirect(w, r, "/openai/models", http.StatusTemporaryRedirect)
	case key != "k":
		w.WriteHeader(http.StatusUnauthorized)
		w.Write([]byte(`{"type":"error","error":{"type":"authentication_error","code":401,"status":"UNAUTHENTICATED","message":"bad key k2"}}`))
	case !known:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Write([]byte(answer))
	}
}

func TestModels(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(lists))
	defer server.Close()
	tests := map[string]struct {
		dialect string
		path    string
		want    []string
	}{
		"anthropic": {"anthropic", "/anthropic", []string{"claude-b", "claude-a"}},
		"responses": {"openai-responses", "/openai", []string{"gpt-b", "gpt-a"}},
		"chat":      {"openai-chat", "/openai", []string{"gpt-b", "gpt-a"}},
		"google":    {"google", "/google", []string{"gemini-b", "gemini-a"}},
	}
	for name, tc := range tests {
		v, err := Find("work", Settings{BaseURL: server.URL + tc.path, Dialect: tc.dialect})
		require.NoError(t, err, name)
		got, err := v.Open("k", Options{}).Models(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, tc.want, got, name)

		var refused *provider.Error
		_, err = v.Open("k2", Options{}).Models(t.Context())
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, provider.ClassAuth, refused.Class, name)
		require.Equal(t, http.StatusUnauthorized, refused.Status, name)
		require.NotContains(t, err.Error(), "k2", "%s: a server that repeats the key", name)

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = v.Open("k", Options{}).Models(gone)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestModelsOfNobody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(lists))
	url := server.URL
	server.Close()
	for _, dialect := range []string{"anthropic", "openai-responses", "openai-chat", "google"} {
		v, err := Find("work", Settings{BaseURL: url, Dialect: dialect})
		require.NoError(t, err)
		_, err = v.Open("k", Options{}).Models(t.Context())
		var refused *provider.Error
		require.ErrorAs(t, err, &refused, dialect)
		require.Equal(t, provider.ClassDisconnect, refused.Class, dialect)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(lists))
	defer server.Close()
	for _, dialect := range []string{"anthropic", "openai-responses", "openai-chat", "google"} {
		v, err := Find("work", Settings{BaseURL: server.URL + "/moved", Dialect: dialect})
		require.NoError(t, err)
		names, err := v.Open("k", Options{}).Models(t.Context())
		require.Error(t, err, dialect)
		require.Empty(t, names, dialect)
	}
}
