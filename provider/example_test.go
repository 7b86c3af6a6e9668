package provider_test

import (
	"fmt"

	"jp/conversation"
	"jp/provider"
)

// A request is made of the events alone.
func ExampleBuild() {
	stream := conversation.NewStream(nil)
	keep := func([]*conversation.Event) error { return nil }
	turn := stream.StartTurn(conversation.TurnStart{Model: "script/demo"}, conversation.ChatRequest{Content: "Why does login hang?"})
	if err := turn.Build(keep); err != nil {
		fmt.Println(err)
	}
	request, err := provider.Build(stream.Events(), provider.Options{Model: "script/demo", System: "Be brief."})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range request.Messages {
		fmt.Println(m.Role, m.Blocks[0].Text)
	}
	// Output: user Why does login hang?
}
