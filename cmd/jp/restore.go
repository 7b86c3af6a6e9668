package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
	"jp/undo"
)

const restoreHelp = `Bring files back to their state after an event: all that the conversation's tools
wrote since, or only the named paths. A file comes back if only the tools wrote it
since, and if it is unchanged since they wrote it. jp lists all other files and
leaves them alone. jp lists the changes first, and then asks. You can undo a
restore. If jp was killed while a tool ran, it does not know who changed a file
since: name the file to put it back.

--to FOLDER writes the untracked and ignored files that jp copied before the last
program ran, or before @E, into a new folder. It needs no conversation, so it also
works after "rm -rf .git" and "git init".

JSON: {"action","conversation","as_of","event","dry_run","files":[{"path","done","reason"}]}:
as_of is the event of the files, and event records the change (null: no file
changed).

Exit codes: 0 done, or nothing to do · 1 a file could not be written, or a named
path was left alone · 2 usage ·
3 no terminal to ask, a tool call is open, or this is another working tree ·
4 locked · 5 no such event · 6 damaged ·
130, 143 a signal stopped it between two files; the files so far are recorded`

func newRestoreCommand(e *ui.Env) *cobra.Command {
	var o undo.Options
	var to string
	cmd := &cobra.Command{
		Use: "restore @E [PATH…] | --to FOLDER [@E]", GroupID: "files",
		Short: "Restore files as of an event", Long: restoreHelp,
		Example: "  jp restore @18 --dry-run\n  jp restore @18 auth/\n  jp restore -y @turn:2 main.go\n  jp restore --to ../saved",
		RunE: func(cmd *cobra.Command, args []string) error {
			if to != "" && len(args) < 2 {
				return runCopyTo(cmd.Context(), e, append(args, "")[0], to)
			}
			if len(args) == 0 {
				return problem.Usage("jp restore needs the event whose files are wanted.").Hint(action.LogSession, "the events").Hint(action.UndoTurn, "the files as before the last turn")
			}
			o.Action, o.Word, o.Paths = "restore", args[0], args[1:]
			return runRestore(cmd.Context(), e, o)
		},
	}
	ui.Flags(&o, cmd)
	cmd.Flags().StringVar(&to, "to", "", "write copies of untracked and ignored files into this new `FOLDER`")
	return cmd
}

func runCopyTo(ctx context.Context, e *ui.Env, word, to string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	result, err := undo.CopyTo(ctx, r, word, e.At(to))
	if result == nil {
		return err
	}
	return errors.Join(err, e.PrintCopied(result, to))
}

func runRestore(ctx context.Context, e *ui.Env, o undo.Options) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	b, event, err := undo.New(ctx, r, o)
	if err != nil {
		return err
	}
	defer b.Close()
	if event == nil {
		return problem.Usage("%s is a conversation; jp restore needs an event, as in %s@14.", o.Word, o.Word).About(b.View.ID)
	}
	if b.Opts.Paths, err = b.View.Repo.InTree(e.Host, o.Paths); err != nil {
		return err
	}
	if err := b.Known(ctx, event); err != nil {
		return err
	}
	b.After(event, b.Opts.Paths)
	return e.PutBackScreen(b).Run(ctx)
}
