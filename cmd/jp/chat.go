package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/cmd/jp/internal/chat"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
)

func newChatCommand(e *ui.Env) *cobra.Command {
	var o chat.Options
	var demo, plain bool
	cmd := &cobra.Command{
		Use: "chat [ID]", GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Talk with the model in this terminal",
		Long: `Talk with the model in this session's conversation, or a new one. jp without a
command does the same.

  Enter        ask               Alt+Enter, \   a line break
  Ctrl+C       empty the line; in an empty one stop the model; twice: leave
  Esc          while the model works: the menu; again: stop
  !COMMAND     run a command of yours, and tell the model; !! tells it nothing
  Esc Esc      in an empty line: change your last request, or an earlier one
  Ctrl+O       open the newest output, change or thought; again: the one before
  Ctrl+V       attach the picture of the clipboard, as does dropping a file
  /btw TEXT    ask beside the conversation, which goes on without it
  /context     what fills the model's context   /help   all commands and keys
  Shift+Tab    mode: plan (only read), edits (write files unasked), auto (and programs), none

The process holds the conversation only while a turn runs.

With --demo, a scripted model works with real tools in a scratch repository, which
you can explore afterwards. jp prints the conversation and its git log.

Exit codes: 0 done · 2 usage, or no terminal · 5 no such conversation · 6 damaged ·
143, 129 interrupted (typed text is kept)`,
		Example: "  jp chat\n  jp chat 4400\n  jp chat -c               # the one that you used last here\n  jp chat -m script/demo   # needs no key\n  jp chat --demo",
		RunE: func(cmd *cobra.Command, args []string) error {
			if demo {
				return runDemo(cmd.Context(), e)
			}
			o.ID = strings.Join(args, "")
			if plain {
				e.Cfg = append(e.Cfg, "style.plain=true")
			}
			return runChat(cmd, e, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.Request.Tools.Enable, "tool", "t", nil, "switch tool `NAME` on, from now on (repeatable)")
	f.StringArrayVar(&o.Request.Tools.Disable, "no-tool", nil, "switch tool `NAME` off, from now on (repeatable)")
	f.BoolVarP(&o.Request.Tools.None, "no-tools", "T", false, "no tools, except those of -t")
	f.BoolVar(&demo, "demo", false, "show jp at work in a scratch repository, without a key or a terminal")
	f.BoolVar(&plain, "plain", false, "change no line in place, for screen readers (style.plain does so everywhere)")
	conversationFlags(f, &o)
	f.BoolVar(&o.Request.Turn.NoInstructions, "no-instructions", false, "give the model no AGENTS.md")
	return cmd
}

func conversationFlags(f *pflag.FlagSet, o *chat.Options) {
	f.StringVarP(&o.Request.Turn.Model, "model", "m", "", "ask this model, `PROVIDER/NAME` or an alias")
	f.StringArrayVarP(&o.Request.Turn.Profiles, "profile", "p", nil, "use profile `NAME`: plan, edits, auto or one of your configuration (repeatable)")
	f.BoolVarP(&o.Last, "last", "c", false, "go on in the conversation that you used last in this working tree")
	f.BoolVarP(&o.Choose, "choose", "r", false, "choose the conversation from a list")
}

// conversationFlag is the first given flag of conversationFlags, or nil.
func conversationFlag(root *pflag.FlagSet) (given *pflag.Flag) {
	for _, name := range []string{"profile", "model", "choose", "last"} {
		if f := root.Lookup(name); f.Changed {
			given = f
		}
	}
	return given
}

// talks reports whether a person sits at all of jp's streams.
func talks(e *ui.Env) bool {
	return ui.IsTerminal(e.Stdin) && ui.IsTerminal(e.Stdout) && ui.IsTerminal(e.Stderr) && !e.Format.Structured()
}

func runChat(cmd *cobra.Command, e *ui.Env, o chat.Options) error {
	if !talks(e) {
		return problem.Usage("a conversation needs a terminal for input, output and errors.").Hint(action.Ask, "ask once")
	}
	if err := o.Request.Check(); err != nil {
		return err
	}
	root := cmd.Root()
	o.Has = func(name string) bool {
		cmd, _, err := root.Find([]string{name})
		return err == nil && cmd != root
	}
	return chat.Run(cmd.Context(), e, o)
}
