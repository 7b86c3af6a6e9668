// Package prooftool is the common part of the programs that try jp and print a table: crash, fuzz, hostile,
// soak and bench.
package prooftool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// A Run runs a program with its arguments. Its context ends when the user or the system wants the program
// to end. The Run then removes everything that it made, and returns.
type Run func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Main runs a program and ends the process: with 0 after success or for help, else with 1 and the error
// behind the program's name.
func Main(name string, run Run) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
