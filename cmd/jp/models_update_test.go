package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// A user's own table counts until the built-in one is newer, unless it differs from the table that jp
// wrote. A refused table leaves the former one.
func TestModelsUpdate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const good = `{"anthropic":{"models":{"claude-new-9":{"limit":{"context":3000000},"cost":{"input":1,"output":2}}},"env":["PATH"],"api":"http://127.0.0.1:1/"}}`
	answers := map[string]string{
		"/good": good, "/garbage": "<html>", "/long": good + strings.Repeat(" ", 16<<20),
		"/priced": strings.ReplaceAll(good, `"input":1`, `"input":-1`), "/cached": strings.ReplaceAll(good, `"input":1`, `"input":1,"cache_read":2`),
		"/small": strings.ReplaceAll(good, "3000000", "999"), "/wide": strings.ReplaceAll(good, "3000000", "20000001"),
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if text, known := answers[r.URL.Path]; known {
			_, _ = w.Write([]byte(text))
			return
		}
		http.Redirect(w, r, "/good", http.StatusFound)
	}))
	defer s.Close()
	p.environ = append(p.environ, "ANTHROPIC_API_KEY=k")
	window := func() string {
		return p.jp("query", "--new", "--dry-run", "-m", "anthropic/claude-new-9", "Hello").stdout
	}
	update := func(path string) result { return p.jp("models", "--update", "--cfg", "models_url="+s.URL+path) }

	for _, path := range []string{"/garbage", "/long", "/priced", "/cached", "/small", "/wide", "/elsewhere"} {
		out := update(path)
		require.Equal(t, problem.ExitProvider, out.exit, path)
		require.Contains(t, out.stderr, "jp could not update the table of models: ", path)
		require.NotContains(t, window(), " of 3M", path)
	}
	require.Equal(t, 7, asked, "a redirect is not followed, and only an update asks")

	out := update("/good")
	require.Zero(t, out.exit, out.stderr)
	require.Regexp(t, `The table has prices and limits of \d{4}-\d\d-\d\d, from 127\.0\.0\.1:`, out.stderr)
	require.Contains(t, window(), " of 3M")
	require.Contains(t, p.jp("doctor", "-v").stdout, "anthropic: key from ANTHROPIC_API_KEY, endpoint api.anthropic.com")
	require.NotZero(t, update("/garbage").exit)
	require.Contains(t, window(), " of 3M", "the former one stays")
	require.Equal(t, 9, asked)

	files, err := filepath.Glob(filepath.Join(p.dir, "..", "*", ".cache", "jp", "models.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], []byte(strings.ReplaceAll(string(text), "3000000", "4000000")), 0o600))
	require.NotContains(t, window(), " of 4M", "another than jp wrote it")
}
