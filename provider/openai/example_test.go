package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

// A server that speaks Chat Completions gets requests in its own dialect.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"Hello"}}]}`+"\n\n")
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":", you."},"finish_reason":"stop"}]}`+"\n\n")
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer server.Close()
	dialect, _ := openai.DialectNamed("llamacpp")
	model := openai.NewChat(openai.Options{BaseURL: server.URL, Client: server.Client(), Dialect: dialect})
	request := &provider.Request{Model: "small", Messages: []provider.Message{{
		Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Say hello."}},
	}}}
	for chunk, err := range model.Stream(context.Background(), request) {
		switch {
		case err != nil:
			fmt.Println(err)
		case chunk.Kind == provider.ChunkMessage:
			fmt.Print(chunk.Text)
		case chunk.Kind == provider.ChunkFinish:
			fmt.Printf(" (%s)\n", chunk.Finish)
		}
	}
	// Output: Hello, you. (stop)
}
