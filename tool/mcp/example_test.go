package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"jp/tool"
	"jp/tool/mcp"
)

// A server is examined, approved, and then started by the first call.
func Example() {
	dir, err := os.MkdirTemp("", "mcp")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	server := mcp.NewServer(
		mcp.Spec{Name: "fake", Command: []string{program, "plain"}, Env: map[string]string{fake: "1"}},
		mcp.Options{Approvals: mcp.Approvals{Dir: dir}, Dir: dir},
	)
	defer server.Close()
	ctx := context.Background()
	fmt.Println("offered:", len(server.Tools(unset)))

	listing, err := server.List(ctx) // for the user to see
	if err != nil {
		panic(err)
	}
	if err := server.Approve(listing.Offers); err != nil {
		panic(err)
	}
	tools := server.Tools(unset)
	fmt.Println("offered:", len(tools))

	result, err := tools[1].Run(ctx, tool.Call{Arguments: json.RawMessage(`{"text":"Hello"}`)})
	fmt.Printf("%s: %s %v\n", tools[1].Definition().Name, result.Content, err)
	// Output:
	// offered: 0
	// offered: 6
	// mcp__fake__echo: Hello <nil>
}
