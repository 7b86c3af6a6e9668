package main

import (
	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/ui"
	"jp/cmd/jp/internal/watch"
)

const watchHelp = `Show the conversations that run on this machine, in all repositories, and those of
this repository that wait or ended within a day: what needs you, what works, what
is ready. The question of the selected conversation stands below the list, and its
keys answer it.

Up, Down: choose. Enter: open it. s: stop its turn. m: send it a message. q: leave.

Piped, jp lists them once. With --json, jp writes a line for each change.

JSON: docs/json.md

Exit codes: 0 left · 2 usage`

func newWatchCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Watch all running conversations of this machine", GroupID: "run", Args: cobra.NoArgs,
		Long:    watchHelp,
		Example: "  jp watch\n  jp watch --json | jq -r 'select(.group==\"needs_you\").title'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return watch.Run(cmd.Context(), e) },
	}
}
