package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/provider/script"
	"jp/tool"
	"jp/turnloop"
)

type clock struct{}

func (clock) Definition() *tool.Definition { return &theClock }

var theClock = tool.Definition{
	Name: "clock", Description: "What time it is.", Parameters: json.RawMessage(`{"type":"object"}`), Effect: tool.Reads, Run: tool.Unattended,
}

func (clock) Run(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Content: []byte("a quarter past ten")}, nil
}

// One turn: the user asks, the model asks for a tool, the tool answers, and the
// model answers the user. Each step is an event, durable before the next.
func Example() {
	dir, err := os.MkdirTemp("", "turn")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.toml")
	replies := "[[reply]]\nmessage = 'I look.'\n[[reply.tool_call]]\nname = 'clock'\n[[reply]]\nmessage = 'It is a quarter past ten.'\n"
	if err := os.WriteFile(path, []byte(replies), 0o600); err != nil {
		panic(err)
	}
	model, err := script.Open(path)
	if err != nil {
		panic(err)
	}
	tools, err := tool.NewRegistry(clock{})
	if err != nil {
		panic(err)
	}
	stream := conversation.NewStream(nil)
	loop := turnloop.New(turnloop.Options{
		Conversation: turnloop.ConversationOptions{
			Journal: journaltest.NewMemory(),
			ID:      "jp-c17528832001-k3f9",
			Stream:  stream,
		},
		Model: turnloop.ModelOptions{
			Provider: model,
			Name:     "script/model.toml",
		},
		Tools: turnloop.ToolOptions{
			Registry: tools,
		},
	})
	outcome, err := loop.Start(context.Background(), turnloop.Request{Chat: conversation.ChatRequest{Content: "What time is it?"}})
	fmt.Println(outcome.Status, err)
	for _, e := range stream.Events() {
		text, _ := e.Text()
		fmt.Println(strings.TrimSpace(fmt.Sprint(e.Seq, " ", e.Type(), " ", text)))
	}
	// Output:
	// complete <nil>
	// 0 turn_start
	// 1 prompt
	// 2 chat_request What time is it?
	// 3 chat_response I look.
	// 4 tool_call_request {}
	// 5 tool_call_response a quarter past ten
	// 6 chat_response It is a quarter past ten.
	// 7 turn_done
}
