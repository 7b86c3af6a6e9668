package attach_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"jp/conversation"
	"jp/process/attach"
)

// A turn tells of an event, of text, and of a question; somebody at another
// terminal looks on and answers.
func Example() {
	listener := newPipes()
	var log journal
	log.add(&conversation.Note{Content: "recorded before anybody came"})
	server := attach.NewServer(attach.Options{Conversation: "jp-example", Head: "c00000", Seq: 0})
	server.Serve(listener)

	looking := make(chan struct{})
	go func() {
		defer close(looking)
		fmt.Println(lookOn(listener.dial(), &log))
	}()
	question := server.Ask(attach.Inquiry{
		Conversation: "jp-example", Seq: 1, Kind: conversation.KindToolQuestion, Text: "Go on?",
		AnswerType: conversation.AnswerType{Type: "boolean"},
	})
	answer := <-question.Answer()
	question.Withdraw()
	server.Streamed(attach.Delta{Seq: 1, Call: 1, Part: conversation.PartMessage, Text: "You said " + string(answer.Value) + "."})
	event := log.add(&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "You said " + string(answer.Value) + "."})
	server.Recorded([]*conversation.Event{event})
	server.Close(attach.Closing{Reason: "the turn has ended", Ended: true})
	<-looking
	// Output:
	// event 0
	// Go on?
	// streamed: You said true.
	// event 1
	// the turn has ended
}

// lookOn shows all that happens, and says yes to every question.
func lookOn(conn net.Conn, log *journal) error {
	ctx := context.Background()
	client, err := attach.Connect(ctx, conn)
	if err != nil {
		return err
	}
	defer client.Close()
	follower := client.Follow(-1, log.back)
	for {
		events, message, err := follower.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			fmt.Println("event", e.Seq)
		}
		switch m := message.(type) {
		case *attach.Inquiry:
			fmt.Println(m.Text)
			err = client.Send(&attach.Answer{Seq: m.Seq, Outcome: conversation.OutcomeAnswered, Value: []byte("true")})
		case *attach.Delta:
			fmt.Println("streamed:", m.Text)
		case *attach.Closing:
			err = errors.New(m.Reason)
		}
		if err != nil {
			return err
		}
	}
}
