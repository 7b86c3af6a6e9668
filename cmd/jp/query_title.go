package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// giveTitle gives --title of jp edit the word behind it, as every other flag gets it. The model writes
// the title only if no word follows.
func giveTitle(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "edit" {
		return args
	}
	at := slices.Index(args, "--title")
	if at < 0 || at+1 == len(args) || strings.HasPrefix(args[at+1], "-") || slices.Contains(args[:at], "--") {
		return args
	}
	return slices.Concat(args[:at], []string{"--title=" + args[at+1]}, args[at+2:])
}
