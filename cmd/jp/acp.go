package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"jp/acp"
	"jp/cmd/jp/internal/ui"
)

func newACPCommand(e *ui.Env) *cobra.Command {
	var o acp.Options
	cmd := &cobra.Command{
		Use: "acp", GroupID: "share", Args: cobra.NoArgs,
		Short: "Serve editors over the Agent Client Protocol",
		Long: `Serve an editor that speaks the Agent Client Protocol, version 1, on standard input
and output. The editor starts this command (docs/editors.md). Each of its sessions is a
conversation in the repository of the session's folder, as jp ls lists it.

The editor can choose modes in which jp asks as much as by default, or more. --offer adds
one in which jp asks less: edits, auto (files and programs of the sandbox), a profile of
yours, or network (confined tools may use it). An MCP server that the editor names starts
if you approved it with jp trust, or with --trust-client-mcp.

jp ends with its input. It interrupts the turns that run then, and each can be resumed.

Exit codes: 0 the input ended · 143, 129, 130 a signal came`,
		Example: "  jp acp\n  jp acp --offer edits --offer network\n  acpx --agent \"jp acp\" exec \"Explain this repository\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Host, o.Log = e.Host, e.Messages()
			if ui.IsTerminal(e.Stdin) && !e.Quiet {
				fmt.Fprintln(e.Messages(), "Serving an editor on standard input and output: this is for an editor to start. Ctrl+D ends it.")
			}
			return acp.Serve(cmd.Context(), e.Stdin, e.Stdout, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Offers, "offer", nil, "let the editor choose `NAME`, with which jp asks less (repeatable)")
	f.BoolVar(&o.TrustMCP, "trust-client-mcp", false, "start the MCP servers that the editor names")
	return cmd
}
