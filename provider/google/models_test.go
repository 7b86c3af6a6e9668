package google

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestModelsOfSeveralPages(t *testing.T) {
	var asked []string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		require.Equal(t, testKey, r.Header.Get("X-Goog-Api-Key"))
		pages := map[string]string{
			"": `{"models":[{"name":"models/a","supportedGenerationMethods":["countTokens","generateContent"]},` +
				`{"name":"models/embeds","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"t&k =1"}`,
			"t&k =1": `{"models":[{"name":"b"}],"nextPageToken":"last"}`,
			"last":   `{"nextPageToken":"last"}`, // a server that would never end
		}
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("pageToken")])
	})
	names, err := p.Models(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names)
	require.Equal(t, []string{
		"GET /v1beta/models", "GET /v1beta/models?pageToken=t%26k+%3D1", "GET /v1beta/models?pageToken=last",
	}, asked)
}

// Any other value than a list is an error, as opposed to an empty list or a panic.
func TestModelsThatAreNoList(t *testing.T) {
	for _, test := range []struct {
		name, body string
		status     int
		class      provider.Class
		says       string
	}{
		{"nothing", "", 200, provider.ClassInvalid, "no list of models"},
		{"words", "<html>\n hello", 200, provider.ClassInvalid, "no list of models: <html> hello"},
		{"a list of values", "[]", 200, provider.ClassInvalid, "no list of models: []"},
		{"a number of models", `{"models":5}`, 200, provider.ClassInvalid, `no list of models: {"models":5}`},
		{"names that are numbers", `{"models":[{"name":5}]}`, 200, provider.ClassInvalid, "no list of models"},
		{"a refusal that passes for success", `{"error":{"code":400,"message":"API key not valid."}}`, 200, provider.ClassAuth, "API key not valid."},
		{"a refusal", `{"error":{"code":429,"message":"Slow down."}}`, 429, provider.ClassRateLimit, "Slow down."},
		{"another address", "404 page not found", 404, provider.ClassAddress, "404 page not found (asked: http://127.0.0.1:"},
		{"another place", "", 307, provider.ClassInvalid, "307 Temporary Redirect"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			_, err := p.Models(t.Context())
			require.ErrorContains(t, requireClass(t, test.class, err), test.says)
		})
	}
	for _, body := range []string{"{}", "null", `{"models":null}`, `{"models":[]}`} {
		p := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) })
		names, err := p.Models(t.Context())
		require.NoError(t, err, body)
		require.Empty(t, names, body)
	}
}
