package gitstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/testing/gitenv"
)

// A conversation is stored, and git tells its story.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	environ := gitenv.Env(dir)
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env, cmd.Stdout = dir, environ, os.Stdout
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
	git("init", "-q")

	ctx := context.Background()
	repo, err := gitcmd.Locate(ctx, dir, gitcmd.Options{Environ: environ})
	if err != nil {
		panic(err)
	}
	store, err := gitstore.Open(repo, gitstore.Options{})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	const id = conversation.ID("jp-c17528832001-k3f9")
	clock := func() time.Time { return time.Date(2025, 7, 19, 14, 0, 0, 0, time.UTC) }
	stream := conversation.NewStream(clock)
	head := conversation.Head("")
	commit := func(events []*conversation.Event) (err error) {
		if head == "" {
			head, err = store.Create(ctx, id, "", events)
		} else {
			head, err = store.Append(ctx, id, head, events)
		}
		return err
	}
	turn := stream.StartTurn(conversation.TurnStart{Model: "script/fixed"}, conversation.ChatRequest{Content: "Does it stop?"})
	if err := turn.Build(commit); err != nil {
		panic(err)
	}
	answer := conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "Never.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}
	if err := stream.CurrentTurn().AddChatResponse(answer).Build(commit); err != nil {
		panic(err)
	}
	git("log", "--reverse", "--format=%s", gitstore.RefOf(id))
	info, err := store.Info(ctx, id)
	fmt.Println(info.Summary.Events, info.Summary.Title, err)
	// Output:
	// turn 1 with fixed
	// user: Does it stop?
	// assistant: Never.
	// 3 Does it stop? <nil>
}
