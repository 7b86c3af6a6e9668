package mcptest

import (
	"encoding/json"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A Client is connected to a server.
type Client struct {
	t       *testing.T
	session *mcp.ClientSession
}

// Start starts a server and connects to it.
func Start(t *testing.T, server *exec.Cmd) *Client {
	t.Helper()
	return connect(t, &mcp.CommandTransport{Command: server, TerminateDuration: time.Minute})
}

// Over connects to a server that reads from in and writes to out.
func Over(t *testing.T, in io.WriteCloser, out io.ReadCloser) *Client {
	t.Helper()
	return connect(t, &mcp.IOTransport{Reader: out, Writer: in})
}

func connect(t *testing.T, transport mcp.Transport) *Client {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "mcptest", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &Client{t: t, session: session}
}

// Server is the server's description of itself.
func (c *Client) Server() (name, version, instructions string) {
	r := c.session.InitializeResult()
	return r.ServerInfo.Name, r.ServerInfo.Version, r.Instructions
}

// A Tool is a tool as the client sees it.
type Tool struct {
	Name, Description string
	Schema            string // JSON
	ReadOnly          bool   // it changes nothing, destroys nothing, and knows no world outside
}

// Tools asks for the tools.
func (c *Client) Tools() []Tool {
	c.t.Helper()
	listed, err := c.session.ListTools(c.t.Context(), nil)
	require.NoError(c.t, err)
	var tools []Tool
	for _, t := range listed.Tools {
		schema, err := json.Marshal(t.InputSchema)
		require.NoError(c.t, err)
		a := t.Annotations
		tools = append(tools, Tool{
			Name: t.Name, Description: t.Description, Schema: string(schema),
			ReadOnly: a != nil && a.ReadOnlyHint && a.IdempotentHint && !*a.DestructiveHint && !*a.OpenWorldHint,
		})
	}
	return tools
}

// Call calls a tool.
func (c *Client) Call(name string, arguments map[string]any) (text string, isError bool, err error) {
	result, err := c.session.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return "", false, err
	}
	for _, content := range result.Content {
		text += content.(*mcp.TextContent).Text
	}
	return text, result.IsError, nil
}

// Close ends the server's input, and waits until a started server has ended; the error is that of its
// end.
func (c *Client) Close() error { return c.session.Close() }
