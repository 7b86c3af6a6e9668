package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/record"
)

const recordHelp = `Run another agent in its own program, and record its sessions as conversations: one
commit for each event, with the files before and behind each tool call. AGENT is
claude (Claude Code). All further words are the agent's. Its settings, its session
files and its exit code are as without jp.

While the agent runs, jp log, jp attach and jp blame show the conversation. jp undo
brings back the files of its tools, also untracked ones. jp continue goes on in jp
with any model. If jp cannot record something, the agent goes on, and jp tells it
at the end.

Exit codes: those of the agent · 2 usage · 5 the agent is not installed`

func newRecordCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "record AGENT [ARGS…]", GroupID: "share", Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		Short: "Run another agent, and record its sessions", Long: recordHelp,
		Example: "  jp record claude\n  jp record claude --resume\n  jp record claude -p 'Add a test.'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRecord(cmd.Context(), e, args[0], args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(newRecordHookCommand(e))
	return cmd
}

func runRecord(ctx context.Context, e *ui.Env, name string, args []string) error {
	at := slices.IndexFunc(record.Programs, func(p record.Program) bool { return p.Name == name })
	if at < 0 {
		return problem.Usage("invalid agent %q (want claude).", name).Hint(action.Help("jp", "record"), "its arguments, with examples")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	run, err := record.Start(ctx, r, record.Programs[at], args, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		return err
	}
	printRecorded(e.Messages(), run)
	switch {
	case run.Status.Signaled():
		signal.Reset(run.Status.Signal())
		_ = r.Close()
		_ = syscall.Kill(os.Getpid(), run.Status.Signal())
		return &problem.Error{Exit: 128 + int(run.Status.Signal()), Silent: true}
	case run.Status.ExitStatus() != 0:
		return &problem.Error{Exit: run.Status.ExitStatus(), Silent: true}
	}
	return nil
}

func printRecorded(out io.Writer, run record.Run) {
	for _, s := range run.Sessions {
		if s.Conversation == "" {
			continue
		}
		fmt.Fprintf(out, "jp recorded %s as %s: %s\n", conversation.Count(s.Calls, "tool call"), s.Conversation.Short(), action.Log(string(s.Conversation)))
		if s.Missed > 0 {
			fmt.Fprintf(out, "jp could not record the files at %s: %s.\n", conversation.Count(s.Missed, "moment"), safetext.Show(s.Why))
		}
	}
	if len(run.Sessions) == 0 {
		fmt.Fprintln(out, "jp recorded nothing: no hook came from the agent.")
	}
	if run.Fault != nil {
		fmt.Fprintf(out, "jp could not write all events: %s\n", safetext.Show(run.Fault.Error()))
	}
	if run.Left {
		fmt.Fprintln(out, "Programs of the agent go on: open calls stay open.")
	}
}

const recordHookHelp = `Note the files of the working tree at a hook of another agent, which jp record adds
to it. The input of the hook, in JSON, is standard input. jp prints nothing. What it
could not note is told by jp record at its end.

Exit codes: 0 always: an agent may stop for a hook that fails`

// newRecordHookCommand is called by agents. It succeeds always and prints nothing: an agent may stop for a hook
// that fails.
func newRecordHookCommand(e *ui.Env) *cobra.Command {
	h := record.Hook{At: time.Now()}
	cmd := &cobra.Command{
		Use: "hook EVENT", Hidden: true, Args: cobra.ArbitraryArgs,
		Short: "Note the files at a hook of an agent", Long: recordHookHelp,
		Example: "  jp record hook --agent claude PreToolUse <input.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			defer func() { _ = recover() }()
			if len(args) != 1 || h.Run == "" && e.Get(record.RunVariable) != "" {
				return nil
			}
			const most = 64 << 20
			text, err := io.ReadAll(io.LimitReader(os.Stdin, most))
			if err != nil {
				return nil
			}
			r, err := e.OpenRepo(cmd.Context())
			if err != nil {
				return nil
			}
			defer r.Close()
			h.Event = args[0]
			_ = h.Note(cmd.Context(), r, text)
			return nil
		},
	}
	cmd.Flags().StringVar(&h.Agent, "agent", "", "`NAME` of the agent")
	cmd.Flags().StringVar(&h.Run, "run", "", "`ID` of the jp record that started the agent")
	return cmd
}
