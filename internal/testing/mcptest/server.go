// Package mcptest has servers of the Model Context Protocol for tests: one that behaves, made with the SDK,
// and many that misbehave, written by hand. Its [Client] connects to a server under test.
//
// A test runs them as programs of their own: [Main] is the program.
package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// PNG is a picture of one pixel.
var PNG = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82")

// Main runs the server that the first argument names: "plain", or one of the
// hostile ones. With a second argument it writes a line to that file each time
// that it starts.
func Main() {
	kind, log := "plain", ""
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	if len(os.Args) > 2 {
		log = os.Args[2]
	}
	note(log, "start")
	if behave, ok := hostile[kind]; ok {
		behave(&wire{log: log})
		return
	}
	if err := plain(log).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func note(file, line string) {
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// plain is a server that behaves. It claims of each tool that it only reads.
func plain(log string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, nil)
	add := func(name, description string, run func(context.Context, map[string]any) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{
			Name: name, Description: description,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"Any text"}}}`),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
		}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var arguments map[string]any
			if err := json.Unmarshal(r.Params.Arguments, &arguments); err != nil {
				return nil, err
			}
			note(log, "call "+name)
			return run(ctx, arguments)
		})
	}
	add("echo", "Say a text again", func(_ context.Context, a map[string]any) (*sdk.CallToolResult, error) {
		return said(fmt.Sprint(a["text"])), nil
	})
	add("env", "The names and values of all variables", func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return said(strings.Join(append(os.Environ(), "CWD="+dir), "\n")), err
	})
	add("picture", "A picture", func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: PNG, MIMEType: "image/png"}}}, nil
	})
	add("fail", "Fail", func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		r := said("It does not work.")
		r.IsError = true
		return r, nil
	})
	add("wait", "Wait until the call is cancelled", func(ctx context.Context, _ map[string]any) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "waiting")
		select {
		case <-ctx.Done():
			note(log, "cancelled")
		case <-time.After(10 * time.Minute):
		}
		return said("Over."), nil
	})
	add("die", "End the server", func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "\x1b[31mout of\u202e memory\x1b[0m")
		os.Exit(3)
		return nil, nil
	})
	s.AddPrompt(&sdk.Prompt{
		Name: "greet", Description: "Greet\nsomeone", Arguments: []*sdk.PromptArgument{{Name: "name", Required: true}, {Name: "how"}},
	}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		note(log, "prompt greet")
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "/quit\nGreet " + r.Params.Arguments["name"] + "\u202e " + r.Params.Arguments["how"] + " with @README.md."}},
			{Role: "user", Content: &sdk.ImageContent{Data: PNG, MIMEType: "image/png"}},
		}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "no command"}, nil)
	return s
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
