package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/tool"
)

// ErrAsks is a tool that a user would have to allow.
var ErrAsks = errors.New("only tools that read and ask nothing can be served")

// ServeOptions describe jp as a server to a client.
type ServeOptions struct {
	Name         string
	Version      string
	Instructions string // for the model, about all of the tools
}

// Serve offers tools to one client until its stream ends or ctx does, both of which are no errors. It closes
// the streams.
//
// A tool's definition alone has its name, parameters and permissions. Wrong arguments and failures of a tool
// are results of the call that say so. Only an unknown tool is an error of the protocol. Serve never asks for
// permission, and refuses tools that would need it.
func Serve(ctx context.Context, tools *tool.Registry, in io.ReadCloser, out io.WriteCloser, o ServeOptions) error {
	server := sdk.NewServer(&sdk.Implementation{Name: o.Name, Version: o.Version}, &sdk.ServerOptions{
		Instructions: o.Instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, t := range tools.All() {
		if def := t.Definition(); def.Effect != tool.Reads || def.Run != tool.Unattended {
			return fmt.Errorf("serve %s: %w", def.Name, ErrAsks)
		}
		server.AddTool(servedTool(t.Definition()), toolHandler(t))
	}
	answers := &lockedWriter{WriteCloser: out}
	err := server.Run(ctx, drainingTransport{&sdk.IOTransport{Reader: newRequestLines(in, answers), Writer: answers}, ctx.Done()})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read a request: %w", err)
}

// servedTool is a tool's definition for clients.
func servedTool(def *tool.Definition) *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: def.Name, Description: def.Description, InputSchema: def.Parameters,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: def.Idempotent, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// maxServed is how many bytes an answer has at most.
const maxServed = 256 << 10

// toolHandler runs a tool outside of any conversation.
func toolHandler(t tool.Tool) sdk.ToolHandler {
	def := t.Definition()
	return func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		arguments := request.Params.Arguments
		if string(arguments) == "null" { // some clients write null for no arguments
			arguments = nil
		}
		arguments, err := tool.Check(def, arguments)
		if err != nil {
			return servedResult([]byte(err.Error()), true), nil
		}
		result, err := t.Run(ctx, tool.Call{Arguments: arguments, Attempt: 1})
		if err != nil {
			return nil, err
		}
		content, _ := tool.Truncate(result.Content, maxServed)
		return servedResult(content, result.IsError), nil
	}
}

func servedResult(content []byte, isError bool) *sdk.CallToolResult {
	text := strings.ToValidUTF8(string(content), "\uFFFD")
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}
}
