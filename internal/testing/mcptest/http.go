package mcptest

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler is a server over streamable HTTP. Its one tool, say, answers with the text.
func Handler(text string) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "say", Description: "Says", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
	server.AddResource(&sdk.Resource{Name: "notes", URI: "notes://all"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "notes://all", Text: "notes of " + text}}}, nil
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
}
