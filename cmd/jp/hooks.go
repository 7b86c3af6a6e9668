package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
)

const hooksHelp = `Let git name conversations in your commits. jp installs the hook commit-msg in this
repository. It adds a trailer Jp-Conversation for each conversation that wrote some
of the staged lines, as jp blame finds them. A hook of your own stays and runs first.

Exit codes: 0 done · 1 it failed · 2 usage, or core.hooksPath is set · 3 no terminal to ask`

func newHooksCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "hooks", GroupID: "setup", Short: "Name conversations in the messages of your commits", Long: hooksHelp, Args: cobra.NoArgs,
		Example: "  jp hooks install\n  jp hooks uninstall"}
	var yes bool
	install := &cobra.Command{
		Use: "install", Short: "Install the hook, after a question", Args: cobra.NoArgs, Long: hooksHelp, Example: "  jp hooks install",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHook(cmd, e, func(_ *repo.Repo, h blame.MessageHook) error {
				err := h.Check(cmd.Context())
				if err == nil && !yes {
					err = e.Confirm(cmd.Context(), ui.Confirmation{
						Question: "Install the hook commit-msg in " + h.Dir() + "?", List: func(io.Writer, terminal.Palette) {},
						Unasked: problem.New(problem.ExitDecision, "usage", "jp hooks install asks, and there is no terminal. -y installs the hook without a question."),
					})
				}
				if err != nil {
					return err
				}
				done, err := h.Install()
				if err == nil {
					e.Note("%s", done)
				}
				return err
			})
		},
	}
	install.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Take the hook out, and put your own back", Args: cobra.NoArgs, Long: hooksHelp, Example: "  jp hooks uninstall",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHook(cmd, e, func(_ *repo.Repo, h blame.MessageHook) error {
				done, err := h.Uninstall()
				if words := map[bool]string{true: "Took the hook commit-msg out of %s.", false: "jp has no hook in %s."}[done]; err == nil {
					e.Note(words, h.Dir())
				}
				return err
			})
		},
	}
	var amend bool
	message := &cobra.Command{
		Use: "message FILE", Hidden: true, Short: "Add trailers to the message of a commit", Args: cobra.ExactArgs(1), Long: hooksHelp, Example: "  jp hooks message .git/COMMIT_EDITMSG",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHook(cmd, e, func(r *repo.Repo, _ blame.MessageHook) error {
				index, err := blame.OpenIndex(cmd.Context(), r)
				if err != nil {
					return err
				}
				amends := ""
				if amend {
					amends = os.Getenv("GIT_AUTHOR_DATE")
				}
				return index.NameStaged(cmd.Context(), args[0], os.Getenv("GIT_INDEX_FILE"), amends)
			})
		},
	}
	message.Flags().BoolVar(&amend, "amend", false, "the commit takes the place of HEAD")
	cmd.AddCommand(install, uninstall, message)
	return cmd
}

func withHook(cmd *cobra.Command, e *ui.Env, do func(*repo.Repo, blame.MessageHook) error) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r, err := e.OpenRepo(cmd.Context())
	if err != nil {
		return err
	}
	defer r.Close()
	return do(r, blame.NewMessageHook(r, program))
}
