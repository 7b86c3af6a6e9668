package main

import (
	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/ui"
	"jp/cmd/jp/internal/watch"
)

const sendHelp = `Send a message to a conversation. If it is running, jp queues the message, and the
model reads it at the next boundary: behind the tools that run, or behind the
answer. Otherwise the message is a request in the background, as with jp query
--detach. With - as TEXT, jp reads standard input.

JSON: docs/json.md

Exit codes: 0 queued or started · 1 the process did not take it · 2 usage ·
3 its turn is incomplete · 4 locked · 5 no such conversation`

func newSendCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "send ID TEXT", Short: "Send a message to a running conversation", GroupID: "run", Args: cobra.ExactArgs(2),
		Long:    sendHelp,
		Example: "  jp send 4400 \"Leave the tests as they are.\"\n  git diff | jp send 4400 -",
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.Send(cmd.Context(), e, args[0], args[1])
		},
	}
}
