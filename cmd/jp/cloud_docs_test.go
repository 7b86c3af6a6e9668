package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// TestMyCloudsModels sends a request by each table of the page to a server, and checks its path,
// headers and model.
func TestMyCloudsModels(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/tasks/cloud.md")
	require.NoError(t, err)
	tables := regexp.MustCompile("(?s)```toml\n(\\[providers\\.(\\w+)\\]\n.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, tables, 3)
	for _, table := range tables {
		want := map[string]struct {
			model, path string
			headers     map[string]string
		}{
			"entra":   {"gpt-6", "/openai/v1/responses", map[string]string{"Authorization": "Bearer token-of-the-cloud", "Api-Key": ""}},
			"bedrock": {"anthropic.claude-sonnet-4-5-20250929-v1:0", "/anthropic/v1/messages", map[string]string{"X-Api-Key": "token-of-the-cloud", "Authorization": "", "Anthropic-Version": "2023-06-01"}},
			"vertex":  {"google/gemini-2.5-pro", "/v1/projects/PROJECT/locations/global/endpoints/openapi/chat/completions", map[string]string{"Authorization": "Bearer token-of-the-cloud"}},
		}[table[2]]
		t.Run(table[2], func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			var seen *http.Request
			var body []byte
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = r
				body, _ = io.ReadAll(r.Body)
				w.WriteHeader(http.StatusTeapot)
			}))
			defer s.Close()
			for _, program := range []string{"az", "gcloud"} {
				p.write("../bin/"+program, "#!/bin/sh\necho token-of-the-cloud\n")
			}
			p.environ = append(p.environ, "AWS_BEARER_TOKEN_BEDROCK=token-of-the-cloud", "PATH="+filepath.Join(filepath.Dir(p.dir), "bin")+":"+os.Getenv("PATH"))
			p.configure(regexp.MustCompile(`(base_url = ")https://[^/]*`).ReplaceAllString(table[1], "${1}"+s.URL))
			out := p.jp("query", "-m", table[2]+"/"+want.model, "Hello")
			require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
			require.NotNil(t, seen)
			require.Equal(t, want.path, seen.URL.Path)
			for name, value := range want.headers {
				require.Equal(t, value, seen.Header.Get(name), name)
			}
			var sent struct {
				Model  string
				Stream bool
			}
			require.NoError(t, json.Unmarshal(body, &sent))
			require.Equal(t, want.model, sent.Model)
			require.True(t, sent.Stream)
			require.NotContains(t, p.git("log", "--format=raw", strings.TrimSpace(p.jp("show", "--ref").stdout)), "token-of-the-cloud")
		})
	}
}
