package recall_test

import (
	"context"
	"encoding/json"
	"fmt"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/tool"
	"jp/tool/recall"
)

// A model asks about a decision: it searches, and gets the line with the place at which to read on.
func Example() {
	s := newShelf(nil)
	script := []*conversation.Event{
		{Body: &conversation.TurnStart{}},
		{Seq: 1, Turn: 1, Body: &conversation.ChatRequest{Content: "How often do we retry?"}},
		{Seq: 2, Turn: 1, Body: &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "Three times, if <timeout> is over."}},
	}
	if _, err := s.Create(context.Background(), journaltest.ID(1), "", script); err != nil {
		panic(err)
	}
	grep := recall.Tools(s)[1]
	arguments, err := tool.Check(grep.Definition(), json.RawMessage(`{"pattern":"three"}`))
	if err != nil {
		panic(err)
	}
	result, err := grep.Run(context.Background(), tool.Call{Arguments: arguments})
	if err != nil {
		panic(err)
	}
	fmt.Print(string(result.Content))
	// Output:
	// <hits total="1">
	// <hit id="jp-c17528832001-k3f9" title="How often do we retry?" turn="1" seq="2" scope="assistant" is_match="true">Three times, if &lt;timeout&gt; is over.</hit>
	// </hits>
}
