package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/cmd/jp/internal/chat"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
)

// Groups of commands, in the order of the help.
var groups = []*cobra.Group{
	{ID: "ask", Title: "Ask:"}, {ID: "look", Title: "Look:"}, {ID: "files", Title: "Files:"}, {ID: "shape", Title: "Shape:"}, {ID: "run", Title: "Run:"}, {ID: "share", Title: "Share:"}, {ID: "setup", Title: "Set up:"},
}

func newRootCommand(e *ui.Env) *cobra.Command {
	var json, version bool
	var o chat.Options
	var root *cobra.Command
	flags := func(name string) *pflag.FlagSet { return flagsOf(root, name) }
	root = &cobra.Command{
		Use:   "jp",
		Short: "Ask models that work in your git repository; every event is a commit",
		Long: `jp asks language models that work in your git repository, and keeps each
conversation there: one ref per conversation, one commit per event. The commit's
message is the text, and its tree the files.`,
		SilenceErrors: true, SilenceUsage: true, TraverseChildren: true, SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if f := conversationFlag(cmd.Flags()); f != nil && len(args) > 0 {
				return ui.EarlyFlag(f.Name, "", e.Args, flags)
			}
			return noSuchCommand(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return runVersion(cmd.Context(), e)
			}
			if talks(e) || conversationFlag(cmd.Flags()) != nil {
				return runChat(cmd, e, o)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if f := conversationFlag(cmd.Root().Flags()); f != nil && cmd.HasParent() {
				return ui.EarlyFlag(f.Name, "", e.Args, flags)
			}
			if !slices.Contains([]ui.Format{ui.FormatAuto, ui.FormatText, ui.FormatJSON, ui.FormatJSONL}, e.Format) {
				bad := e.Format
				e.Format = ui.FormatAuto
				return problem.Usage("invalid --format %q (want auto, text, json or jsonl).", bad)
			}
			if json {
				e.Format = ui.FormatJSON
			}
			if i := oldName(e.Args); i >= 0 && !e.Format.Structured() {
				e.Note("jp %s is now jp %s.", e.Args[i], strings.Join(newNames[e.Args[i]], " "))
			}
			return nil
		},
	}
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if f := ui.MissingCommand(err, e.Args, flags); f != nil && !cmd.HasParent() {
			return f
		}
		if cmd.HasParent() && ui.IsDirFlag(err) {
			return problem.Usage("-C is a flag of jp itself: -C DIR comes before %s.", strings.TrimPrefix(cmd.CommandPath(), "jp "))
		}
		return problem.Usage("%s.", flagMistake(err)).Hint(action.Help(strings.Fields(cmd.CommandPath())...), "its flags, with examples")
	})
	root.Flags().StringVarP(&e.Dir, "chdir", "C", ".", "run as if jp was started in `DIR`")
	root.Flags().BoolVar(&version, "version", false, "print the version, as jp version does")
	conversationFlags(root.Flags(), &o)
	all := root.PersistentFlags()
	all.BoolVar(&e.NoPager, "no-pager", false, "never page")
	all.StringVarP((*string)(&e.Format), "format", "F", string(ui.FormatAuto), "`FORMAT` of the output: auto, text, json, jsonl")
	all.BoolVar(&json, "json", false, "the same as --format json")
	all.StringArrayVar(&e.Cfg, "cfg", nil, "set a configuration `key=value` for this run")
	all.BoolVarP(&e.Quiet, "quiet", "q", false, "say less on stderr")
	all.BoolVarP(&e.Verbose, "verbose", "v", false, "say more on stderr")
	root.AddGroup(groups...)
	root.SetHelpCommandGroupID("setup")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newQueryCommand(e), newChatCommand(e), newContinueCommand(e), newAnswerCommand(e), newStatusCommand(e), newListCommand(e), newLogCommand(e), newShowCommand(e), newPrintCommand(e), newGrepCommand(e),
		newVerifyCommand(e), newBlameCommand(e), newBisectCommand(e), newUsageCommand(e), newAuditCommand(e),
		newDiffCommand(e), newUndoCommand(e), newRestoreCommand(e), newForkCommand(e), newCompactCommand(e), newUseCommand(e), newEditCommand(e), newArchiveCommand(e), newRmCommand(e),
		newAttachCommand(e), newWatchCommand(e), newSendCommand(e), newKillCommand(e), newImportCommand(e), newRecordCommand(e), newPushCommand(e), newFetchCommand(e), newSyncCommand(e), newExportCommand(e), newPullRequestCommand(e), newMCPCommand(e), newACPCommand(e), newConfigCommand(e), newHooksCommand(e), newTrustCommand(e), newSkillsCommand(e), newModelsCommand(e), newLoginCommand(e), newPackCommand(e), newDoctorCommand(e), newUninstallCommand(e), newVersionCommand(e), newDetachedCommand(e),
		newConversationCommand(e),
	)
	root.InitDefaultCompletionCmd()
	completeWords(e, root)
	strict(root)
	strictHelp(e, root)
	describeBorrowed(root)
	return root
}

// newNames are the words that replace each old name of a command.
var newNames = map[string][]string{
	"demo": {"chat", "--demo"}, "discard": {"continue", "--discard"}, "init": {"config", "init"}, "logout": {"login", "--remove"}, "ref": {"show", "--ref"},
	"unarchive": {"archive", "--undo"}, "wait": {"attach", "--wait"}, "why": {"blame", "--commit"},
}

// oldName is the place of a command's old name in a command line, or -1.
func oldName(args []string) int {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"-C", "--chdir", "-F", "--format", "--cfg", "-m", "--model", "-p", "--profile"}, arg):
			i++
		case strings.HasPrefix(arg, "-") || arg == "help" || arg == "conversation" || arg == "c":
		case newNames[arg] != nil:
			return i
		default:
			return -1
		}
	}
	return -1
}

// flagsOf are the flags that a command takes, nil for an unknown command.
func flagsOf(root *cobra.Command, name string) *pflag.FlagSet {
	cmd, _, err := root.Find([]string{name})
	if err != nil || cmd == root {
		return nil
	}
	cmd.InheritedFlags() // adds them to its own
	return cmd.Flags()
}

// strictHelp refuses help about an unknown command. Cobra's help returns no error, so strictHelp keeps
// it for the end.
func strictHelp(e *ui.Env, root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		words := cmd.Flags().Args()
		if of, rest, err := cmd.Find(words); err == nil && of != cmd { // --help before its name
			cmd, words = of, rest
		}
		if cmd.HasSubCommands() && len(words) > 0 {
			e.Misread = noSuchCommand(cmd, words)
			return
		}
		ui.PlainSwitches(cmd)
		var text bytes.Buffer
		root.SetOut(&text)
		if cmd != root {
			root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
		}
		show(cmd, args)
		if cmd != root {
			fmt.Fprintf(&text, "\nFlags of all commands: %v\n", action.HelpJP)
		}
		root.SetOut(e.Stdout)
		if ui.IsTerminal(e.Stdout) {
			fmt.Fprint(e.Stdout, ui.HelpText(text.String(), e.Columns(e.Stdout)))
			return
		}
		_, _ = text.WriteTo(e.Stdout)
	})
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	run := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if of, words, err := root.Find(args); err == nil && of != nil && len(words) > 0 {
			return noSuchCommand(of, words)
		}
		run(cmd, args)
		return nil
	}
}

// strict makes every wrong command line a usage error.
func strict(cmd *cobra.Command) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return emptyWord(cmd, args)
		}
		err := cmp.Or(emptyWord(cmd, args), check(cmd, args))
		var f *problem.Error
		if err == nil || errors.As(err, &f) {
			return err
		}
		return wrongArguments(cmd, args)
	}
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		cmd.Flags().Visit(func(flag *pflag.Flag) {
			if flag.Value.Type() == "string" && problem.Blank(flag.Value.String()) && !slices.Contains([]string{"title", "fork", "chdir"}, flag.Name) {
				err = problem.Usage("--%s is empty.", flag.Name).Hint(action.Help(strings.Fields(cmd.CommandPath())...), "its flags, with examples")
			}
		})
		return cmp.Or(exclusive(cmd), err)
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

// emptyWord refuses an empty or blank argument, such as an unset variable. It would
// otherwise select the session's conversation, or any with a blank in its title.
func emptyWord(cmd *cobra.Command, args []string) error {
	switch cmd.Name() {
	case "query": // a text
		return nil
	case "grep": // a pattern says so itself
		args = args[min(len(args), 1):]
	}
	if slices.ContainsFunc(args, problem.Blank) {
		return problem.Usage("an argument is empty; it names nothing.").Hint(action.Help(strings.Fields(cmd.CommandPath())...), "its arguments, with examples")
	}
	return nil
}

// exclusive refuses two flags of which one excludes the other.
func exclusive(cmd *cobra.Command) (err error) {
	first := map[string]string{} // flag given, by group
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		for _, group := range flag.Annotations[exclusiveGroups] {
			if other, ok := first[group]; ok {
				err = problem.Usage("--%s and --%s exclude each other.", other, flag.Name)
			}
			first[group] = flag.Name
		}
	})
	return err
}

// exclusiveGroups is the annotation in which cobra keeps the groups of MarkFlagsMutuallyExclusive.
const exclusiveGroups = "cobra_annotation_mutually_exclusive"

// newConversationCommand is the long spelling of the commands about
// conversations: jp conversation VERB is jp VERB.
func newConversationCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "conversation", Aliases: []string{"c"}, Hidden: true,
		Short:   "The same commands as verbs: jp conversation VERB",
		Long:    "The same commands, spelled out: jp conversation VERB is jp VERB.\n\nExit codes: 0 done · 2 no such command; each VERB has its own",
		Example: "  jp conversation ls\n  jp c show 4400",
		Args:    func(cmd *cobra.Command, args []string) error { return noSuchCommand(cmd, args) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, verb := range []*cobra.Command{
		newListCommand(e), newShowCommand(e), newPrintCommand(e), newLogCommand(e), newGrepCommand(e), newForkCommand(e), newUseCommand(e), newEditCommand(e),
		newArchiveCommand(e), newRmCommand(e), newAttachCommand(e), newKillCommand(e),
	} {
		verb.GroupID = ""
		cmd.AddCommand(verb)
	}
	return cmd
}

// noSuchCommand suggests commands for an unknown first word.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := strings.Join(args, " ")
	f := problem.Usage("there is no command %q.", text)
	for cmd.SuggestionsMinimumDistance = 1; cmd.SuggestionsMinimumDistance <= min(2, len(args[0])-1); cmd.SuggestionsMinimumDistance++ {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			f.Message = fmt.Sprintf("there is no command %q. Did you mean %s?", args[0], near[0])
			if near[0] == "query" && len(args) > 1 {
				text = strings.Join(args[1:], " ")
			}
			break
		}
	}
	if cmd.HasParent() && cmd.Name() != "conversation" {
		return f.Hint(action.Help(strings.Fields(cmd.CommandPath())...), "its commands, with examples")
	}
	return f.Hint(action.AskText(text), "ask the model this").Hint(action.HelpJP, "all commands")
}
