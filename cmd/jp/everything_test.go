package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// everythingPlace is a place whose configuration names the official reference
// server of the protocol.
func everythingPlace(t *testing.T) *workspace {
	t.Helper()
	server, err := filepath.Abs("testdata/everything/node_modules/.bin/mcp-server-everything")
	require.NoError(t, err)
	if _, err := os.Stat(server); err != nil {
		// It comes from npm, which make test does not ask; CI installs it first.
		t.Skip("the reference MCP server is not installed: make inspector")
	}
	if _, err := exec.LookPath("node"); err != nil {
		// jp itself needs no node; only this proof does.
		t.Skip("the reference MCP server needs node")
	}
	p := newPlace(t)
	command, err := json.Marshal([]string{server, "stdio"})
	require.NoError(t, err)
	p.configure("[mcp.everything]\ncommand = " + string(command) + "\nenv.GREETING = \"from the configuration\"\n")
	return p
}

const everythingScript = `
[[reply]]
message = "I try it."
[[reply.tool_call]]
name = "mcp__everything__echo"
arguments = { message = "Hello" }
[[reply.tool_call]]
name = "mcp__everything__get-sum"
arguments = { a = 2, b = 40 }
[[reply.tool_call]]
name = "mcp__everything__get-tiny-image"
[[reply.tool_call]]
name = "mcp__everything__get-structured-content"
arguments = { location = "Chicago" }
[[reply.tool_call]]
name = "mcp__everything__get-resource-links"
arguments = { count = 2 }
[[reply.tool_call]]
name = "mcp__everything__get-resource-reference"
arguments = { resourceType = "Blob", resourceId = 1 }
[[reply.tool_call]]
name = "mcp__everything__get-env"
[[reply.tool_call]]
name = "mcp__everything__get-sum"
arguments = { a = "no number" }
[[reply]]
message = "All of it works."
`

// TestEverythingServer approves the reference server on the terminal and has a
// model call its tools.
func TestEverythingServer(t *testing.T) {
	t.Parallel()
	p := everythingPlace(t)
	p.environ = append(p.environ, "SOME_API_KEY=hunter2")
	p.write("../everything.toml", everythingScript)
	s := p.sit(100, "query", "-y", "-m", "script/../everything.toml", "Try it")
	s.prompted()
	require.Contains(t, s.Raw(), "The MCP server everything offers 13 tools.")
	require.Contains(t, s.Text(), "mcp-server-everything stdio", "what runs is still to be seen")
	s.Type("y")
	require.Zero(t, s.exit(), s.Raw())

	results := p.ofType("tool_call_response")
	require.Len(t, results, 8)
	for i, want := range []string{ // wrong arguments are answered first
		`argument "a": expected a number`, "Echo: Hello", "The sum of 2 and 40 is 42.", "[image-1.png: image/png, ", `"temperature"`, "[link demo://", "[resource demo://", "from the configuration",
	} {
		require.Contains(t, results[i]["content"], want, i)
		require.Equal(t, i == 0, results[i]["is_error"] == true, results[i]["content"])
	}
	require.Len(t, results[3]["attachments"], 1)
	require.NotContains(t, results[7]["content"], "hunter2")
	require.Zero(t, p.jp("verify").exit)

	again := p.jp("query", "--new", "-y", "-m", "script/../everything.toml", "Try it again")
	require.Zero(t, again.exit, again.stderr)
	require.Contains(t, again.stderr, "· mcp__everything__echo")
}

// TestEverythingServerIsCancelled cancels a long call from the menu; the server
// then answers the next one.
func TestEverythingServerIsCancelled(t *testing.T) {
	t.Parallel()
	p := everythingPlace(t)
	p.write("../long.toml", `
[[reply]]
[[reply.tool_call]]
name = "mcp__everything__trigger-long-running-operation"
arguments = { duration = 600, steps = 600 }
[[reply.tool_call]]
name = "mcp__everything__echo"
arguments = { message = "still there" }
[[reply]]
message = "Over."
`)
	require.Zero(t, p.jp("trust", "--mcp", "everything", "-y").exit)
	s := p.sit(100, "query", "-y", "-m", "script/../long.toml", "Take long")
	require.Eventually(t, func() bool {
		return strings.Contains(p.jp("print", "--internal", "--json").stdout, `"tool_started"`)
	}, time.Minute, time.Millisecond)
	s.Type("\x03")
	s.WaitFor("x cancel this tool")
	s.Type("x")
	require.Zero(t, s.exit(), s.Raw())
	results := p.ofType("tool_call_response")
	require.Len(t, results, 2)
	require.Equal(t, true, results[0]["cancelled"])
	require.Contains(t, results[1]["content"], "still there")
}
