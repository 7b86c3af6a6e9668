package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/record"
)

const recordHelp = `Run another agent in its own program, and record its sessions as conversations: one
commit for each event, with the files before and behind each tool call. AGENT is
claude (Claude Code), codex or opencode. All further words are the agent's. Its
settings, its session files and its exit code are as without jp. codex exec tells of
each hook on standard error.

While the agent runs, jp log, jp attach and jp blame show the conversation. jp undo
brings back the files of its tools, also untracked ones. jp continue goes on in jp
with any model. If jp cannot record something, the agent goes on, and jp tells it
at the end.

jp record install records these agents however they are started. jp record acp
records any agent of the Agent Client Protocol for an editor.

Exit codes: those of the agent · 2 usage · 5 the agent is not installed`

func newRecordCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "record AGENT [ARGS…]", GroupID: "share", Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		Short: "Run another agent, and record its sessions", Long: recordHelp,
		Example: "  jp record claude --resume\n  jp record claude -p 'Add a test.'\n  jp record codex\n  jp record opencode run 'Add a test.'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRecord(cmd.Context(), e, args[0], args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(newRecordACPCommand(e), newRecordHookCommand(e), newRecordInstallCommand(e, false), newRecordInstallCommand(e, true))
	return cmd
}

func runRecord(ctx context.Context, e *ui.Env, name string, args []string) error {
	program, err := agentNamed(name)
	if err != nil {
		return err
	}
	r, err := e.OpenRepo(ctx)
	if err != nil { // the agent works without jp
		e.Warn("jp records nothing here: %v", safetext.Clean(err.Error()))
		r = nil
	} else {
		defer r.Close()
	}
	run, err := record.Start(ctx, e.Host, r, program, args, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		return err
	}
	if r != nil {
		printRecorded(e.Messages(), run)
	}
	return endAs(run)
}

func agentNamed(name string) (record.Program, error) {
	at := slices.IndexFunc(record.Programs, func(p record.Program) bool { return p.Name == name })
	if at < 0 {
		return record.Program{}, problem.Usage("invalid agent %q (want claude, codex or opencode).", name).Hint(action.Help("jp", "record"), "its arguments, with examples")
	}
	return record.Programs[at], nil
}

// endAs ends jp as the recorded program ended.
func endAs(run record.Run) error {
	switch {
	case run.Status.Signaled():
		signal.Reset(run.Status.Signal())
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
	for _, id := range run.Unnoted {
		fmt.Fprintf(out, "No hook came from the agent: are they off in its settings? jp imported its words as %s, and rebuilt files from its edits.\n", id.Short())
	}
	if len(run.Sessions)+len(run.Unnoted) == 0 && run.Fault == nil {
		fmt.Fprintln(out, "jp recorded nothing: the agent had no session here.")
	}
	if run.Fault != nil {
		fmt.Fprintf(out, "jp could not record all of it: %s\n", safetext.Show(run.Fault.Error()))
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
	h, write := record.Hook{At: time.Now()}, ""
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
			var text []byte
			if write == "" {
				var err error
				if text, err = io.ReadAll(io.LimitReader(os.Stdin, most)); err != nil {
					return nil
				}
			}
			r, err := e.OpenRepo(cmd.Context())
			if err != nil {
				return nil
			}
			defer r.Close()
			if h.Event = args[0]; write != "" {
				_ = record.Write(cmd.Context(), r, h.Agent, write, h.Event != "SessionEnd")
				return nil
			}
			if due, _ := h.Note(cmd.Context(), r, text); due.Session != "" {
				self, err := os.Executable()
				if err != nil {
					return nil
				}
				later := exec.Command(self, "-C", r.At.TopLevel, "record", "hook", "--agent", h.Agent, "--write", due.Session, h.Event)
				later.Env, later.SysProcAttr = e.Environ, &syscall.SysProcAttr{Setsid: true}
				_ = later.Start() // it outlives the hook, for which the agent waits
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&write, "write", "", "write the events of the session `ID`")
	cmd.Flags().StringVar(&h.Agent, "agent", "", "`NAME` of the agent")
	cmd.Flags().StringVar(&h.Run, "run", "", "`ID` of the jp record that started the agent")
	return cmd
}

const recordInstallHelp = `Put jp's hooks into the settings of an agent, so that it is recorded however it is
started. AGENT is claude (Claude Code), codex or opencode. jp shows the change and
asks first. With --project they go into the settings in this working tree, for
everybody who works in it, where jp is found by its name. Codex takes them only from
your own settings. jp writes the events at each question and at the end of each turn.

Exit codes: 0 done, or so already · 1 the file cannot be written, or its lines of jp
were changed · 2 usage · 3 no terminal to ask, and no -y · 5 codex is not installed`

const recordUninstallHelp = `Take the hooks that jp record install put there out of the settings of an agent.
AGENT is claude (Claude Code), codex or opencode. jp shows the change and asks first.
Everything else in the settings stays as it is.

Exit codes: 0 done, or so already · 1 the file cannot be written, or its lines of jp
were changed · 2 usage · 3 no terminal to ask, and no -y`

func newRecordInstallCommand(e *ui.Env, remove bool) *cobra.Command {
	var project, yes bool
	word, short, long := "install", "Let jp record an agent however it is started", recordInstallHelp
	if remove {
		word, short, long = "uninstall", "Take the hooks of jp record install out again", recordUninstallHelp
	}
	cmd := &cobra.Command{
		Use: word + " AGENT", Args: cobra.ExactArgs(1), Short: short, Long: long,
		Example: "  jp record " + word + " codex\n  jp record " + word + " claude --project",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRecordInstall(cmd.Context(), e, args[0], project, remove, yes)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "in the settings of this working tree")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "without asking")
	return cmd
}

func runRecordInstall(ctx context.Context, e *ui.Env, name string, project, remove, yes bool) error {
	program, err := agentNamed(name)
	if err != nil {
		return err
	}
	l := record.Launch{Environ: e.Environ, Getenv: e.Get}
	if l.Own, err = os.Executable(); err != nil {
		return err
	}
	if project {
		r, err := e.FindRepo(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		l.Folder, l.Own = r.At.TopLevel, "jp"
	}
	change, err := program.Settings(ctx, l, remove)
	if err != nil {
		return err
	}
	if change.None() {
		e.Note("%s is so already.", safetext.Show(change.Path))
		return nil
	}
	question, done := "Write", "Wrote"
	if change.After == nil {
		question, done = "Remove", "Removed"
	}
	show := func(out io.Writer) { fmt.Fprint(out, safetext.Clean(change.Diff())) }
	if yes {
		show(e.Messages())
	} else if err := e.Confirm(ctx, ui.Confirmation{
		Question: question + " " + safetext.Show(change.Path) + "?", List: func(out io.Writer, _ terminal.Palette) { show(out) },
		Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask, so nothing changed."),
	}); err != nil {
		return err
	}
	if err := change.Write(); err != nil {
		return err
	}
	e.Note("%s %s.", done, safetext.Show(change.Path))
	return nil
}

const recordACPHelp = `Run an agent of the Agent Client Protocol for an editor, and record its sessions as
conversations. Start it in the repository: the editor gets this command in place of
the agent's own. All messages pass unchanged. Behind a permission, the agent waits
until jp has noted the files. Otherwise it goes on at once, and the events say so.

jp says on standard error what it cannot record, and the agent goes on. A session
that the editor opens again becomes another conversation, which begins with the
messages that the agent repeats.

Exit codes: those of the agent · 2 usage · 5 the agent is not installed`

func newRecordACPCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "acp -- AGENT [ARGS…]", Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		Short: "Record the sessions of an editor's agent", Long: recordACPHelp,
		Example: "  jp record acp -- opencode acp\n  acpx --agent 'jp record acp -- opencode acp' exec 'Add a test.'",
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := record.ProxyACP(cmd.Context(), e.OpenRepo, args, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
			if err != nil {
				return err
			}
			printRecorded(os.Stderr, run)
			return endAs(run)
		},
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}
