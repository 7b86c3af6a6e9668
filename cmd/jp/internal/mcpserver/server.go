// Package mcpserver offers tools to any program that speaks the Model Context Protocol, over one pair
// of streams.
//
// A tool's definition alone has its name, parameters and permissions. Wrong arguments and failures of
// a tool are results of the call that say so; only an unknown tool is an error of the protocol. The
// stream carries the protocol alone.
//
// The package never asks for permission and refuses tools that would need it.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/tool"
)

// ErrAsks is a tool that a user would have to allow.
var ErrAsks = errors.New("only tools that read and ask nothing can be served")

// Options describe the server to a client.
type Options struct {
	Name         string
	Version      string
	Instructions string // for the model, about all of the tools
}

// Serve answers one client until its stream ends or ctx does, both of which are
// no errors. It closes the streams.
func Serve(ctx context.Context, tools *tool.Registry, in io.ReadCloser, out io.WriteCloser, o Options) error {
	server := mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range tools.All() {
		if def := t.Definition(); def.Effect != tool.Reads || def.Run != tool.Unattended {
			return fmt.Errorf("serve %s: %w", def.Name, ErrAsks)
		}
		server.AddTool(described(t.Definition()), handler(t))
	}
	answers := &shared{WriteCloser: out}
	err := server.Run(ctx, drainingTransport{&mcp.IOTransport{Reader: newLines(in, answers), Writer: answers}, ctx.Done()})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read a request: %w", err)
}

// described is a tool's definition for clients.
func described(def *tool.Definition) *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: def.Name, Description: def.Description, InputSchema: def.Parameters,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: def.Idempotent, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// maxContent is how many bytes an answer has at most.
const maxContent = 256 << 10

// handler runs a tool outside of any conversation.
func handler(t tool.Tool) mcp.ToolHandler {
	def := t.Definition()
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := request.Params.Arguments
		if string(arguments) == "null" { // some clients write null for no arguments
			arguments = nil
		}
		arguments, err := tool.Check(def, arguments)
		if err != nil {
			return answer([]byte(err.Error()), true), nil
		}
		result, err := t.Run(ctx, tool.Call{Arguments: arguments, Attempt: 1})
		if err != nil {
			return nil, err
		}
		content, _ := tool.Truncate(result.Content, maxContent)
		return answer(content, result.IsError), nil
	}
}

func answer(content []byte, isError bool) *mcp.CallToolResult {
	text := strings.ToValidUTF8(string(content), "\uFFFD")
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError}
}
