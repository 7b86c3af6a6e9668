package models

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If a server sends an incomplete table, jp names it, its answer and the way out.
func TestServersThatSendNoWholeTable(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/drips":
			_, _ = w.Write([]byte(strings.Repeat(" ", 2000)))
			w.(http.Flusher).Flush()
			<-gone
		case "/silent":
			<-gone
		case "/cut":
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write([]byte("{}"))
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(gone) })
	for path, tt := range map[string]struct {
		limit time.Duration
		want  string
	}{
		"/drips":  {2 * time.Second, " sent only 2.0 kB of the table within 2 s ("},
		"/silent": {time.Second, " did not answer within 1 s ("},
		"/cut":    {time.Hour, " broke off after 2 B of the table: unexpected EOF ("},
	} {
		_, _, err := fetchTable(t.Context(), s.URL+path+"?key=secret", tt.limit)
		require.ErrorContains(t, err, tt.want, path)
		require.ErrorContains(t, err, "run the command again, or set models_url to another address", path)
		require.NotContains(t, err.Error(), "deadline", path)
		require.NotContains(t, err.Error(), "secret", path)
	}
}
