package google_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"jp/conversation"
	"jp/provider"
	"jp/provider/google"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `data: {"candidates":[{"content":{"parts":[{"text":"Two"}]}}]}`+"\n\n")
		_, _ = io.WriteString(w, `data: {"candidates":[{"content":{"parts":[{"text":" files."}]},"finishReason":"STOP"}]}`+"\n\n")
	}))
	defer server.Close()

	gemini := google.New(google.Options{Key: "key", BaseURL: server.URL, Client: server.Client()})
	request := &provider.Request{Model: "gemini-3-flash", Messages: []provider.Message{{
		Role:   conversation.RoleUser,
		Blocks: []provider.Block{{Kind: provider.BlockText, Text: "How many files are here?"}},
	}}}
	for chunk, err := range gemini.Stream(context.Background(), request) {
		switch {
		case err != nil:
			fmt.Println(err)
		case chunk.Kind == provider.ChunkMessage:
			fmt.Print(chunk.Text)
		case chunk.Kind == provider.ChunkFinish:
			fmt.Printf(" (%s)\n", chunk.Finish)
		}
	}
	// Output: Two files. (stop)
}
