package instructions

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// codexVariable names the program if it is not in PATH.
const codexVariable = "JP_TEST_CODEX"

// A codexModel is a server that answers Codex with one sentence and keeps the requests.
type codexModel struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (m *codexModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		fmt.Fprint(w, `{"object":"list","data":[],"models":[]}`)
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, body)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"response.created","response":{"id":"r1","object":"response","status":"in_progress"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`,
		`{"type":"response.completed","response":{"id":"r1","object":"response","status":"completed","usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}

// instructed is the text of project files in Codex's last request.
func (m *codexModel) instructed(t *testing.T) string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.NotEmpty(t, m.bodies, "Codex asked its model")
	var body struct {
		Input []struct {
			Content []struct{ Text string }
		}
	}
	require.NoError(t, json.Unmarshal(m.bodies[len(m.bodies)-1], &body))
	for _, item := range body.Input {
		for _, c := range item.Content {
			if strings.HasPrefix(c.Text, "# AGENTS.md instructions") {
				_, text, ok := strings.Cut(c.Text, "<INSTRUCTIONS>\n")
				require.True(t, ok, c.Text)
				text, ok = strings.CutSuffix(text, "\n</INSTRUCTIONS>")
				require.True(t, ok, "%.200s", c.Text)
				return text
			}
		}
	}
	return ""
}

// TestCodex runs the real Codex in each tree. It gives its model the same text as jp, byte for byte.
func TestCodex(t *testing.T) {
	codex := os.Getenv(codexVariable)
	if codex == "" {
		var err error
		if codex, err = exec.LookPath("codex"); err != nil {
			t.Skipf("Codex is not installed: it is neither in PATH nor named by %s. TestTrees has the table that it confirmed.", codexVariable)
		}
	}
	for n := range trees {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			root, home := t.TempDir(), t.TempDir()
			start := makeTree(t, root, n)
			model := &codexModel{}
			server := httptest.NewServer(model)
			defer server.Close()
			config := fmt.Sprintf("model = \"mock\"\nmodel_provider = \"local\"\nproject_doc_fallback_filenames = [%q, %q]\n"+
				"[model_providers.local]\nname = \"local\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"LOCALKEY\"\n", fallback[0], fallback[1], server.URL)
			require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
			cmd := exec.CommandContext(t.Context(), codex, "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "hello")
			cmd.Dir = filepath.Join(root, start)
			cmd.Env = []string{"HOME=" + home, "CODEX_HOME=" + home, "LOCALKEY=x", "PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			var texts []string
			for _, f := range found(t, root, start) {
				texts = append(texts, f.Text)
			}
			want := strings.Join(texts, "\n\n")
			if got := model.instructed(t); got != want {
				t.Fatalf("in %s\nCodex gives %d bytes: %.600q\njp gives    %d bytes: %.600q", start, len(got), got, len(want), want)
			}
		})
	}
}
