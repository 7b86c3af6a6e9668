package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/mcptest"
	"jp/internal/version"
	"jp/tool/recall"
)

const loginScript = `
[[reply]]
message = "It retries </event> for ever."
[[reply]]
message = "Said again."
`

// talked is a place with one conversation, and its id.
func talked(t *testing.T) (p *workspace, id string) {
	t.Helper()
	p = newPlace(t)
	p.write("../talk.toml", loginScript)
	return p, p.talk("Why does login hang?")
}

// talk holds a conversation, and returns its id.
func (p *workspace) talk(text string) string {
	p.t.Helper()
	r := p.jp("query", "--new", "-m", "script/../talk.toml", text)
	require.Zero(p.t, r.exit, r.stderr)
	id, _, _ := strings.Cut(r.stderr, " ")
	return id
}

// text calls a tool that must succeed.
func text(t *testing.T, c *mcptest.Client, name string, arguments map[string]any) string {
	t.Helper()
	got, isError, err := c.Call(name, arguments)
	require.NoError(t, err)
	require.False(t, isError, got)
	return got
}

func TestMCPTools(t *testing.T) {
	t.Parallel()
	p, id := talked(t)
	c := mcptest.Start(t, p.command("mcp", "serve"))
	name, serverVersion, instructions := c.Server()
	require.Equal(t, "jp", name)
	require.Equal(t, version.Get().Version, serverVersion)
	require.Contains(t, instructions, "conversation_grep")

	offered := map[string]mcptest.Tool{}
	for _, offer := range c.Tools() {
		require.True(t, offer.ReadOnly, offer.Name)
		offered[offer.Name] = offer
	}
	require.Len(t, offered, 3)
	for _, known := range recall.Tools(nil) {
		def := known.Definition()
		require.Equal(t, def.Description, offered[def.Name].Description)
		require.JSONEq(t, string(def.Parameters), offered[def.Name].Schema)
	}

	require.Contains(t, text(t, c, "conversation_list", nil), `<conversation id="`+id+`" title="Why does login hang?" events_count="5"`)
	require.Contains(t, text(t, c, "conversation_grep", map[string]any{"pattern": "RETRIES"}), `is_match="true">It retries &lt;/event&gt; for ever.</hit>`)
	require.Contains(t, text(t, c, "conversation_read", map[string]any{"id": id}), `kind="user"`)
	for arguments, want := range map[string]string{
		`{}`:                                `missing argument "id"`,
		`{"id":"4711"}`:                     `there is no such conversation as "4711"`,
		`{"id":"` + id + `","turn":9}`:      `no such turn as 9; the last is 1`,
		`{"id":"` + id + `","turns":1}`:     `unknown argument "turns"`,
		`{"id":"` + id + `","include":[1]}`: `argument "include[0]"`,
	} {
		var given map[string]any
		require.NoError(t, json.Unmarshal([]byte(arguments), &given))
		got, isError, err := c.Call("conversation_read", given)
		require.NoError(t, err)
		require.True(t, isError, got)
		require.Contains(t, got, want)
	}
	require.NoError(t, c.Close())
	require.Empty(t, p.git("status", "--porcelain"))
}

// TestMCPSeesChanges makes, packs, archives and deletes conversations while the server runs.
func TestMCPSeesChanges(t *testing.T) {
	t.Parallel()
	p, first := talked(t)
	c := mcptest.Start(t, p.command("mcp", "serve"))
	listed := func(arguments map[string]any) []string {
		var ids []string
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text(t, c, "conversation_list", arguments), -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	require.Equal(t, []string{first}, listed(nil))
	second := p.talk("And the timeout?")
	require.ElementsMatch(t, []string{first, second}, listed(nil))

	p.git("gc", "-q", "--prune=now")
	p.git("pack-refs", "--all")
	third := p.talk("Third")
	p.git("gc", "-q", "--prune=now")
	require.ElementsMatch(t, []string{first, second, third}, listed(nil))
	require.Contains(t, text(t, c, "conversation_read", map[string]any{"id": second}), "And the timeout?")
	require.Contains(t, text(t, c, "conversation_grep", map[string]any{"pattern": "timeout", "scopes": []string{"user"}}), `total="1"`)

	require.Zero(t, p.jp("archive", second).exit)
	require.ElementsMatch(t, []string{first, third}, listed(nil))
	require.Equal(t, []string{second}, listed(map[string]any{"archived": true}))
	require.Zero(t, p.jp("query", "-i", first, "Once more").exit)
	require.Contains(t, text(t, c, "conversation_read", map[string]any{"id": first, "last": 1}), "Once more")
	require.Zero(t, p.jp("rm", "-y", third).exit)
	got, isError, err := c.Call("conversation_read", map[string]any{"id": third})
	require.NoError(t, err)
	require.True(t, isError, got)
	require.Equal(t, []string{first}, listed(nil))
	require.NoError(t, c.Close())
}

const mcpRequests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"conversation_list","arguments":{}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"conversation_grep","arguments":{"pattern":"retries"}}}
`

// TestMCPPiped sends all requests at once, from another folder than the repository: stdout is the
// protocol alone.
func TestMCPPiped(t *testing.T) {
	t.Parallel()
	p, _ := talked(t)
	p.write(".jp/config.toml", "nonsense = 1\n") // worth a warning
	cmd := p.command("-C", p.dir, "mcp", "serve")
	cmd.Dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(mcpRequests), &stdout, &stderr
	require.NoError(t, cmd.Run())
	answered := map[float64]bool{}
	for line := range strings.Lines(stdout.String()) {
		var message struct {
			JSONRPC string
			ID      float64
			Result  map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &message), line)
		require.Equal(t, "2.0", message.JSONRPC)
		require.NotEmpty(t, message.Result)
		answered[message.ID] = true
	}
	require.Equal(t, map[float64]bool{1: true, 2: true, 3: true, 4: true}, answered)
	require.Contains(t, stderr.String(), "Warning: ")
}

func TestMCPEnds(t *testing.T) {
	t.Parallel()
	p, _ := talked(t)
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := p.command("mcp", "serve")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(stdin, mcpRequests)
		require.NoError(t, err)
		_, err = stdout.Read(make([]byte, 1)) // it is at work
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(signal))
		_, err = io.Copy(io.Discard, stdout)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "%v: %s", signal, &stderr)
		require.Empty(t, stderr.String())
	}
	r := p.jp("mcp", "serve") // standard input is empty
	require.Equal(t, result{}, r)
}

func TestMCPOutsideOfRepository(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("mcp", "serve")
	cmd.Dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.Equal(t, problem.ExitUsage, exitOf(t, cmd.Run()))
	require.Empty(t, stdout.String())
	require.Contains(t, stderr.String(), "is not in a git repository")
	require.Equal(t, problem.ExitUsage, p.jp("mcp", "server").exit)
	require.Equal(t, problem.ExitUsage, p.jp("mcp", "serve", "now").exit)
	require.Contains(t, p.jp("mcp").stdout, "serve")
}
