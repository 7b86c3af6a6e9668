package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/internal/action"
)

// borrowed are the commands that come with cobra, with their examples.
var borrowed = map[string]string{
	"jp help":                  "  jp help query\n  jp help config set",
	"jp completion":            "  source <(jp completion bash)\n  jp completion fish > ~/.config/fish/completions/jp.fish",
	"jp completion bash":       "  source <(jp completion bash)\n  jp completion bash > ~/.local/share/bash-completion/completions/jp",
	"jp completion fish":       "  jp completion fish | source\n  jp completion fish > ~/.config/fish/completions/jp.fish",
	"jp completion powershell": "  jp completion powershell | Out-String | Invoke-Expression",
	"jp completion zsh":        "  source <(jp completion zsh)\n  jp completion zsh > \"${fpath[1]}/_jp\"",
}

// describeBorrowed gives the commands that come with cobra a help text, as jp's own have.
func describeBorrowed(cmd *cobra.Command) {
	if example, found := borrowed[cmd.CommandPath()]; found {
		cmd.Long = strings.TrimSpace(cmd.Long) + "\n\nExit codes: 0 done · 2 usage"
		cmd.Example = example
	}
	for _, sub := range cmd.Commands() {
		describeBorrowed(sub)
	}
}

// plainUsages removes the marks of value names from the help of flags, since shells
// show that text in completions.
func plainUsages(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.Flags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, sub := range cmd.Commands() {
		plainUsages(sub)
	}
}

// wrongArguments is the error for missing or surplus arguments, by the command's usage line.
func wrongArguments(cmd *cobra.Command, args []string) *problem.Error {
	name := cmd.CommandPath()
	_, line, _ := strings.Cut(cmd.Use, " ")
	var needed []string
	for _, word := range strings.Fields(line) {
		if !strings.HasPrefix(word, "[") {
			needed = append(needed, word)
		}
	}
	f := problem.Usage("%s %s takes no more than that, and %d arguments were given.", name, line, len(args))
	switch {
	case line == "":
		f.Message = name + " takes no arguments."
	case len(args) < len(needed):
		missing := needed[len(args):]
		verb := "is"
		if len(missing) > 1 {
			verb = "are"
		}
		f.Message = fmt.Sprintf("%s %s: %s %s missing.", name, line, strings.Join(missing, " and "), verb)
	}
	return f.Hint(action.Help(strings.Fields(name)...), "its arguments, with examples")
}
