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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"jp/sandbox"
	"jp/turnloop"
)

func main() {
	if code, asked := sandbox.Become(os.Args); asked {
		os.Exit(code) // it became nothing
	}
	postponeCollection()
	log.SetOutput(io.Discard) // libraries have nothing to say to the user
	os.Exit(run(systemEnv(), os.Args[1:]))
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
func run(e *env, args []string) int {
	ctx, stop := withSignals(context.Background(), e)
	defer stop()
	root := newRootCommand(e)
	root.SetArgs(giveTitle(root, args))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = cmp.Or(e.misread, e.lost.first())
	}
	if err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return 0 // who reads us has seen enough
	}
	f := failureOf(err).typedFor(e)
	asJSON := e.format.structured() || wantsJSON(args)
	if asJSON && hasResult(cmd) && !e.ended {
		e.format = formatJSONL
		(&jsonlOutput{env: e}).result(turnloop.Outcome{}, "", f)
	}
	f.report(e.stderr, asJSON)
	return f.exit
}

// wantsJSON reports whether a command line asks for JSON: flags behind one that is
// wrong are not read by anyone else.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--format=json", "--format=jsonl", "-Fjson", "-Fjsonl":
			return true
		case "--format", "-F":
			if i+1 < len(args) && format(args[i+1]).structured() {
				return true
			}
		}
	}
	return false
}

// hasResult reports whether a command's last line of JSON is always its result.
func hasResult(cmd *cobra.Command) bool {
	return cmd != nil && (cmd.Name() == "query" || cmd.Name() == "continue")
}

// oneInterrupt is how long interrupts count as one: programs such as timeout send
// theirs to the process and to its group.
const oneInterrupt = 100 * time.Millisecond

// withSignals ends the context with the signal's name as its cause. A first
// SIGINT is the command's, where it wants it; a second one after the context
// has ended ends jp at once. SIGTSTP stops jp after the command has put away
// what it has in hand. A pipe that nobody reads any more fails with EPIPE and
// does not kill jp in the middle of a turn; programs that jp starts are killed by
// SIGPIPE as usual.
func withSignals(ctx context.Context, e *env) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	e.abort = func(signal string) { cancel(&turnloop.Interrupt{Signal: signal}) }
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
				e.suspend()
			case s == syscall.SIGINT && ctx.Err() != nil:
				os.Exit(exitInterrupted)
			case s == syscall.SIGQUIT && e.leave(), s == syscall.SIGINT && e.interrupted(ctx):
			default:
				cancel(&turnloop.Interrupt{Signal: names[s]})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
