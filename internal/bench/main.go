// Command bench measures how fast jp is, and how much room it takes, as ratios:
// each row of its table sets jp against a rival that did the same work on the
// same data in the same run, in turns with it.
//
// What holds: sides alternate in blocks of random order, the first of each block
// is dropped, and medians are compared; every measurement works in a directory
// that is new, and nothing is deleted before the last one has ended, since files
// are slow to make where many were just removed. The file system is named beside
// the ratios, because they depend on it more than on anything else.
//
// It asserts nothing: a missed target is a verdict in the table and not a
// failure. Only what could not be measured makes the program fail.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	quick, full, loop, json bool
	dir                     string
	rows                    *regexp.Regexp
	grow                    int
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "few rounds, less than a minute")
	flags.BoolVar(&o.full, "full", false, "also what takes minutes: 10,000 conversations, 100,000 events in one, 1,000,000 in all")
	flags.BoolVar(&o.loop, "loop", false, "measure durable rows on a new ext4 with a journal as well (root)")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.dir, "dir", "", "measure on the file system of `DIR` (default: the folder for temporary files)")
	flags.IntVar(&o.grow, "grow", 0, "only append `N` events in -dir and print the peak of memory")
	rows := flags.String("rows", "", "measure only what matches `REGEXP`: "+taskNames())
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var err error
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return o, fmt.Errorf("-rows: %w", err)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if o.grow > 0 {
		return printPeak(ctx, stdout, o.dir, o.grow)
	}
	scratch, err := os.MkdirTemp(o.dir, "jp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b, err := newBench(o, scratch, stderr)
	if err != nil {
		return err
	}
	report, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := report.print(stdout, o.json); err != nil {
		return err
	}
	return report.failures()
}
