// Command jp asks language models that work in a git repository, and keeps each
// conversation there: one commit per event, one ref per conversation.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
	"jp/process"
	"jp/sandbox"
	"jp/turnloop"
)

func main() {
	if code, asked := sandbox.RunChild(os.Args); asked {
		os.Exit(code) // there was no program to become
	}
	if code, asked := models.KeyringChild(os.Args, os.Stdin, os.Stdout, os.Stderr); asked {
		os.Exit(code)
	}
	process.DisableCoreFiles()
	postponeCollection()
	log.SetOutput(io.Discard) // messages of libraries are not for the user
	os.Exit(run(ui.SystemEnv(), os.Args[1:]))
}

// postponeCollection keeps short commands from collecting garbage while they
// start. The first collection, at 16 MB in place of 4, makes later ones as frequent
// as ever.
func postponeCollection() {
	const percent = 400
	before := debug.SetGCPercent(percent)
	if before < 0 || before >= percent {
		debug.SetGCPercent(before) // the user's GOGC
		return
	}
	first := new(*int)
	runtime.AddCleanup(first, func(before int) { debug.SetGCPercent(before) }, before)
}

// run executes one command line and returns the exit code.
func run(e *ui.Env, args []string) int {
	if err := process.CheckLimits(); err != nil {
		ui.ReportProblem(problem.New(problem.ExitFailed, "limits", "jp could not start: %v", err), e.Stderr, wantsJSON(args), e.MessageColumns())
		return problem.ExitFailed
	}
	if e.Get(ui.ChatVariable) != "" && !wantsJSON(args) {
		action.InChat()
	}
	ctx, stop := withSignals(context.Background(), e)
	defer stop()
	defer e.Keys.Restore()
	e.Args = args
	root := newRootCommand(e)
	if i := oldName(args); i >= 0 {
		words := newNames[args[i]]
		if slices.Contains(args[:i], "help") {
			words = words[:1]
		}
		args = slices.Concat(args[:i], words, args[i+1:])
	}
	root.SetArgs(giveTitle(root, args))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) { // cobra returns those before a command's name as they are
		err = root.FlagErrorFunc()(root, err)
	}
	if err == nil {
		err = cmp.Or(e.Misread, e.Lost.First())
	}
	if err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return 0 // the reader has left
	}
	f := ui.TypedFor(repo.ProblemOf(err), e)
	asJSON := e.Format.Structured() || wantsJSON(args)
	if asJSON && cmd != nil && (cmd.Name() == "query" || cmd.Name() == "continue") && !e.Ended {
		e.Format = ui.FormatJSONL
		(&ui.JsonlOutput{Env: e}).Result(turnloop.Outcome{}, "", f)
	}
	ui.ReportProblem(f, e.Stderr, asJSON, e.MessageColumns())
	return f.Exit
}

// wantsJSON reports whether a command line asks for JSON, since cobra does not read the flags behind a
// wrong one.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--format=json", "--format=jsonl", "-Fjson", "-Fjsonl":
			return true
		case "--format", "-F":
			if i+1 < len(args) && ui.Format(args[i+1]).Structured() {
				return true
			}
		}
	}
	return false
}

// oneInterrupt is how long interrupts count as one: programs such as timeout send
// theirs to the process and to its group.
const oneInterrupt = 100 * time.Millisecond

// withSignals ends the context with the signal's name as its cause. A command may handle the first
// SIGINT itself. A second one after the context has ended ends jp at once. SIGTSTP stops jp after the
// command has suspended its work. A pipe without a reader fails with EPIPE and does not kill jp in the
// middle of a turn. Programs that jp starts are killed by SIGPIPE as usual.
func withSignals(ctx context.Context, e *ui.Env) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	e.Abort = func(signal string) { cancel(&turnloop.Interrupt{Signal: signal}) }
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	names := map[os.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT"}
	go func() {
		var first time.Time
		for s := range signals {
			if s == syscall.SIGINT {
				if !first.IsZero() && time.Since(first) < oneInterrupt {
					continue
				}
				first = time.Now()
			}
			switch {
			case s == syscall.SIGTSTP:
				e.Suspend()
			case s == syscall.SIGINT && ctx.Err() != nil:
				e.Keys.Restore()
				os.Exit(problem.ExitInterrupted)
			case s == syscall.SIGQUIT && e.Leave(), s == syscall.SIGINT && e.Interrupted(ctx, false):
			default:
				cancel(&turnloop.Interrupt{Signal: names[s]})
			}
		}
	}()
	return ctx, func() {
		signal.Ignore(syscall.SIGHUP) // a terminal that goes away sends it more than once, and jp ends anyway
		signal.Stop(signals)
		cancel(nil)
	}
}
