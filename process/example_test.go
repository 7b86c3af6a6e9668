package process_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"jp/process"
)

// A process holds a conversation and publishes an entry. When it ends in any way, the entry is gone.
func Example() {
	dir, err := os.MkdirTemp("", "jp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	registry := process.Registry{DataDir: dir, Workspace: "abcde", Repository: dir}
	lock, err := process.LocksIn(registry.Repository).Take(id, process.Holder{PID: os.Getpid()})
	if err != nil {
		log.Fatal(err)
	}
	entry := process.Entry{ConversationID: id, PID: os.Getpid(), Status: process.StatusRunning}
	if err := registry.Put(entry); err != nil {
		log.Fatal(err)
	}
	live, err := registry.Live(context.Background())
	fmt.Println(live[id].Status, err)

	lock.Release()
	live, err = registry.Live(context.Background())
	fmt.Println(len(live), err)
	// Output:
	// running <nil>
	// 0 <nil>
}
