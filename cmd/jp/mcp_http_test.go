package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/mcptest"
)

// A server over HTTP is approved, and called with the header from the environment. No record has its
// secret.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	handler := mcptest.Handler("said by far")
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Token") != "hunter2hunter2" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	p := newPlace(t)
	p.configure("[mcp.far]\nurl = \"" + at.URL + "\"\nheaders.X-Token = \"$FAR_TOKEN\"\n")
	p.write("../call.toml", strings.ReplaceAll(callRun, "mcp__fake__run", "mcp__far__say")+"[[reply]]\nmessage = \"Read.\"\n")

	r := p.jp("trust", "--mcp", "far", "--show")
	require.NotZero(t, r.exit)
	require.Contains(t, r.stderr, "FAR_TOKEN is not set")
	p.environ = append(p.environ, "FAR_TOKEN=hunter2hunter2")
	r = p.jp("trust", "--mcp", "far", "--show")
	require.Contains(t, r.stderr, "which is private (web.private", "a private address is the user's to allow")
	p.configure("[web]\nprivate = [\"127.0.0.1\"]\n")
	r = p.jp("trust", "--mcp", "far", "-y")
	require.Zero(t, r.exit, r.stderr)
	require.Contains(t, p.jp("trust", "--mcp", "far", "--show", "--json").stdout, `"url":"`+at.URL+`"`)
	r = p.jp("query", "-y", "-m", "script/../call.toml", "Look")
	require.Zero(t, r.exit, r.stderr)
	require.Contains(t, p.jp("print", "--tools").stdout, "said by far")
	r = p.jp("query", "-y", "-m", "script/../call.toml", "-a", "mcp:far:notes://all", "Read")
	require.Zero(t, r.exit, r.stderr)
	require.Contains(t, p.jp("print").stdout, "Attached: mcp:far:notes://all")
	for word, why := range map[string]string{
		"mcp:far:notes://none": "jp cannot attach mcp:far:notes://none", "mcp:near:x://y": "there is no MCP server near", "mcp:far": "want mcp:SERVER:URI",
	} {
		r = p.jp("query", "-m", "script/../call.toml", "-a", word, "Read")
		require.Equal(t, 2, r.exit, word)
		require.Contains(t, r.stderr, why)
	}
	require.NotContains(t, p.git("log", "--all", "--format=%B"), "hunter2hunter2")

	for _, wrong := range []string{"mcp.far.command=[\"x\"]", "mcp.other.headers.A=b"} {
		r = p.jp("query", "--cfg", wrong, "-m", "script/../call.toml", "Look")
		require.NotZero(t, r.exit, wrong)
		require.Contains(t, r.stderr, "mcp.", wrong)
	}
}

// A person signs in to a server in a browser. Its token is the person's alone, and a later turn uses it.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	g := &mcptest.Guarded{Serve: mcptest.Handler("said by far"), Lives: 3600}
	at := httptest.NewServer(g)
	g.URL = at.URL
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	p := newPlace(t)
	p.configure("[mcp.far]\nurl = \"" + at.URL + "/mcp\"\n[web]\nprivate = [\"127.0.0.1\"]\n")
	p.write("../call.toml", strings.ReplaceAll(callRun, "mcp__fake__run", "mcp__far__say"))
	r := p.jp("trust", "--mcp", "far", "-y")
	require.Equal(t, 1, r.exit)
	require.Contains(t, r.stderr, "it wants you to sign in (jp mcp login far)")

	login := p.command("mcp", "login", "far")
	said, err := login.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, login.Start())
	lines := bufio.NewScanner(said)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "Sign in to the MCP server far")
	require.True(t, lines.Scan())
	page, err := http.Get(lines.Text())
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.True(t, lines.Scan())
	require.Equal(t, "Signed in to the MCP server far.", lines.Text())
	require.NoError(t, login.Wait())

	require.Zero(t, p.jp("trust", "--mcp", "far", "-y").exit)
	require.Zero(t, p.jp("query", "-y", "-m", "script/../call.toml", "Look").exit)
	require.Contains(t, p.jp("print", "--tools").stdout, "said by far")
	require.Empty(t, g.Wrong())
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "home/.local/state/jp/mcp-tokens/*"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.NotContains(t, p.git("log", "--all", "--format=%B"), "secret-of-the-test")
	require.Contains(t, p.jp("mcp", "logout", "far").stderr, "jp has forgotten the token of the MCP server far. The server has no way to take it back.")
	require.Contains(t, p.jp("mcp", "logout", "far").stderr, "jp has no token of the MCP server far.")
	require.Equal(t, 2, p.jp("mcp", "login", "near").exit)
}

// If the browser runs on another machine, the user pastes the address at which it ends.
func TestMCPLoginPasted(t *testing.T) {
	t.Parallel()
	g := &mcptest.Guarded{Serve: mcptest.Handler("said by far"), Lives: 3600, Client: "mine", Secret: "of mine", Revokes: true}
	at := httptest.NewServer(g)
	g.URL = at.URL
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	p := newPlace(t)
	p.configure("[mcp.far]\nurl = \"" + at.URL + "/mcp\"\nclient_id = \"mine\"\nclient_secret = \"$FAR_SECRET\"\n[web]\nprivate = [\"127.0.0.1\"]\n")
	r := p.jp("mcp", "login", "far")
	require.Equal(t, 1, r.exit)
	require.Contains(t, r.stderr, "mcp.far.client_secret: FAR_SECRET is not set")
	p.environ = append(p.environ, "FAR_SECRET=of mine")
	s := p.sit(900, "mcp", "login", "far")
	s.WaitFor("Paste the address of that page here.")
	address := ""
	for line := range strings.Lines(s.Text()) {
		if strings.HasPrefix(line, at.URL+"/authorize?") {
			address = strings.TrimSpace(line)
		}
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	page, err := browser.Get(address)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	s.Type("https://example.com/\r")
	s.WaitFor("This is not the address at which the browser ends.")
	s.Type(page.Header.Get("Location") + "\r")
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "Signed in to the MCP server far.")
	require.Contains(t, p.jp("mcp", "logout", "far").stderr, "jp has forgotten the token of the MCP server far, and the server has taken it back.")
	require.Len(t, g.Revoked(), 2)
	require.Empty(t, g.Wrong())
}
