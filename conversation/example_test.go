package conversation_test

import (
	"fmt"

	. "jp/conversation"
)

// A turn is recorded step by step. After a crash, a reader learns from the events alone which steps are done
// and which one is next.
func Example() {
	var journal []*Event // stands for the durable events
	commit := func(events []*Event) error {
		journal = append(journal, events...)
		return nil
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	stream := NewStream(nil)
	must(stream.StartTurn(TurnStart{Model: "script/fixed"}, ChatRequest{Content: "Publish the site."}).Build(commit))
	must(stream.CurrentTurn().
		AddToolCallRequest(ToolCallRequest{Call: 1, ID: "a", Name: "build", Arguments: []byte(`{}`)}).
		AddToolCallRequest(ToolCallRequest{Call: 1, ID: "b", Name: "upload", Arguments: []byte(`{}`), CallEnd: CallEnd{Finish: FinishToolCalls}}).
		Build(commit))
	must(stream.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: "a", Name: "build", Content: "ok"}).Build(commit))
	must(stream.CurrentTurn().AddInquiryRequest(InquiryRequest{For: 3, Kind: KindRunTool, Question: Question{Text: "run upload?"}}).Build(commit))

	// The process is killed. Another one loads the journal.
	complete, tail := SplitTail(journal)
	fmt.Printf("%d complete events, then: %s, %s\n", complete.Len(), tail.Phase(), tail.Status())
	for _, call := range tail.Ledger().Open() {
		fmt.Println("still to run:", call.Request.Name)
	}
	question := tail.Ledger().Live()[0]
	fmt.Println("still to ask:", question.Request.Question.Text)

	// It goes on after the first one's last step. A step that is done cannot be done twice.
	stream = JoinTail(complete, tail)
	err := stream.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: "a", Name: "build", Content: "again"}).Build(commit)
	fmt.Println("refused:", err)
	must(stream.CurrentTurn().
		AddInquiryResponse(InquiryResponse{For: question.Event.Seq, Outcome: OutcomeAnswered, Answer: []byte(`"run"`), By: ByUser}).
		AddToolCallResponse(ToolCallResponse{For: 3, ID: "b", Name: "upload", Content: "1 file\n"}).
		AddChatResponse(ChatResponse{Call: 2, Part: PartMessage, Text: "It is online.", CallEnd: CallEnd{Finish: FinishStop}}).
		Build(commit))

	for _, e := range journal {
		subject, _ := SubjectOf(e)
		fmt.Println(e.Seq, subject)
	}
	fmt.Println(stream.Tail().Phase())
	// Output:
	// 0 complete events, then: executing, input
	// still to run: upload
	// still to ask: run upload?
	// refused: add tool_call_response 6: a response to what is already answered
	// 0 turn 1 with fixed
	// 1 user: Publish the site.
	// 2 call build
	// 3 call upload
	// 4 build: 1 line
	// 5 ask: run upload?
	// 6 answer: yes (user)
	// 7 upload: 1 line
	// 8 assistant: It is online.
	// complete
}
