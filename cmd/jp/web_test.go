package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// composedScript makes the model fetch an address that neither the user nor a result has named.
const composedScript = "[[reply]]\n[[reply.tool_call]]\nname = \"web_fetch\"\narguments = { url = \"https://example.com/?q=read\" }\n[[reply]]\nmessage = \"Over.\"\n"

// Each front end that asks says that the model composed the address: another terminal, a program that
// follows, an editor.
func TestAComposedAddressIsSaidEverywhere(t *testing.T) {
	t.Parallel()
	const warning = "the model composed this address"
	t.Run("attach", func(t *testing.T) {
		t.Parallel()
		p, id := inBackground(t, composedScript)
		p.waits()
		program := p.command("attach", "--json", string(id))
		program.Dir, program.Env = p.dir, p.environ
		out, err := program.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, program.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.Contains(lines.Text(), `"type":"inquiry"`) {
		}
		require.Contains(t, lines.Text(), `"warning":"`+warning)
		_ = program.Process.Kill()
		_ = program.Wait()
		s := p.sit(100, "attach", string(id))
		s.prompted()
		require.Contains(t, s.Text(), "! "+warning)
		s.Type("n")
		require.Zero(t, s.exit())
	})
	t.Run("an editor", func(t *testing.T) {
		t.Parallel()
		p := acpPlace(t, composedScript)
		e := p.connects(`{}`)
		asked := make(chan string, 1)
		e.Requests["session/request_permission"] = func(params json.RawMessage) (any, bool) {
			asked <- string(params)
			return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, true
		}
		e.Prompts(e.Opens(p.dir), "Read it")
		require.Contains(t, <-asked, "! "+warning)
		e.Leaves()
	})
}

// A person at a terminal allows a call of web_fetch, and the page comes as Markdown. A
// private address is refused all the same, unless the user's configuration has its host.
func TestAPersonAllowsAPageOfTheWeb(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Retries</h1><p hidden>HID</p><p>Cap them.</p>")
	}))
	t.Cleanup(server.Close)
	for name, tt := range map[string]struct {
		flags []string
		names string // of the page in the user's words
		want  string
		wrong bool
	}{
		"private": {nil, "", "which is private", true},
		"allowed": {[]string{"--cfg", `web.private=["127.0.0.1"]`}, "a", "# Retries\n\nCap them.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../web.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"web_fetch\"\narguments = { url = \""+server.URL+"/a\" }\n[[reply]]\nmessage = \"Over.\"\n")
			s := p.sit(100, append([]string{"query", "-m", "script/../web.toml", "Read " + server.URL + "/" + tt.names}, tt.flags...)...)
			s.prompted()
			require.Contains(t, s.Text(), server.URL+"/a", "the whole address")
			require.Equal(t, tt.names == "", strings.Contains(s.Text(), "! the model composed this address"))
			s.Type("y")
			require.Zero(t, s.exit())
			result := p.ofType("tool_call_response")[0]
			require.Contains(t, result["content"], tt.want)
			require.NotContains(t, result["content"], "HID")
			require.Equal(t, tt.wrong, result["is_error"] == true)
			require.Zero(t, p.jp("verify").exit)
		})
	}
}
