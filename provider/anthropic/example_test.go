package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"jp/conversation"
	"jp/provider"
	"jp/provider/anthropic"
)

// The server plays a model.
const said = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It never gives up."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6}}

event: message_stop
data: {"type":"message_stop"}

`

// An answer comes in pieces, with the reason for its end at the end.
func ExampleProvider_Stream() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, said)
	}))
	defer server.Close()
	p := anthropic.New(anthropic.Options{Key: "sk-ant-...", BaseURL: server.URL, Client: server.Client()})
	request := &provider.Request{Model: "claude-opus-4-8", Messages: []provider.Message{{
		Role:   conversation.RoleUser,
		Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Why does login hang?"}},
	}}}
	for chunk, err := range p.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if chunk.Text != "" {
			fmt.Println(chunk.Text)
		}
		if chunk.Kind == provider.ChunkFinish {
			fmt.Println(chunk.Finish, chunk.Usage.Input, chunk.Usage.Output)
		}
	}
	// Output:
	// It never gives up.
	// stop 9 6
}
