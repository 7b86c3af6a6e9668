// Command bench measures how fast jp is, and how much room it takes, as ratios:
// each row of its table sets jp against a rival that did the same work on the
// same data in the same run, in turns with it.
//
// Invariants: sides alternate in blocks of random order, the first of each block is dropped, and medians
// are compared; every measurement works in a directory that is new, and all deletions wait for the end of
// the last one, since files are slow to make after many deletions. The file system is named beside the
// ratios, because they depend on it more than on anything else.
//
// A group of events has a target only if jp writes by the ordered path: on the stepwise one each object and
// each folder is a flush of its own, so that many cost about as much as they would one by one.
//
// It asserts nothing: a missed target is only a verdict in the table. The program fails only if a
// measurement is impossible.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("bench", run) }

// options are the flags.
type options struct {
	quick, full, loop, json bool
	packed                  bool
	dir, save, compare      string
	rows                    *regexp.Regexp
	grow                    int
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "few rounds and the short tasks, about a minute")
	flags.BoolVar(&o.full, "full", false, "also what takes minutes: 10,000 conversations, 100,000 events or files, 1,000,000 events in all")
	flags.BoolVar(&o.loop, "loop", true, "measure durable rows on a new ext4 with a journal and on a new xfs as well, as root on Linux")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.dir, "dir", "", "measure on the file system of `DIR` (default: the folder for temporary files)")
	flags.StringVar(&o.save, "save", "", "write what was measured to `FILE`, as Go benchmarks")
	flags.StringVar(&o.compare, "compare", "", "set the ratios beside those of a `FILE` that was saved")
	flags.IntVar(&o.grow, "grow", 0, "only append `N` events in the repository -dir")
	flags.BoolVar(&o.packed, "packed", false, "with -grow: write packs, which is faster than loose objects")
	rows := flags.String("rows", "", "measure only what matches `REGEXP`: "+taskNames())
	if err := prooftool.ParseAll(flags, args, stderr); err != nil {
		return o, err
	}
	var err error
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return o, fmt.Errorf("-rows: %w", err)
	}
	if b := (&bench{options: o}); !slices.ContainsFunc(tasks, b.wants) {
		return o, fmt.Errorf("-rows: no row that this run would measure matches %q; there are%s", *rows, allNames())
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if o.grow > 0 {
		return grow(ctx, o.dir, o.grow, o.packed)
	}
	var saved map[string]pairs
	if o.compare != "" {
		var err error
		if saved, err = readBaseline(o.compare); err != nil {
			return err
		}
	}
	if o.save != "" { // measurements must not be lost
		f, err := os.OpenFile(o.save, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		f.Close()
	}
	report, err := measureIn(ctx, o, stderr)
	if report == nil {
		return err
	}
	return errors.Join(err, report.hand(o, saved, stdout), report.failures())
}

// hand prints and saves the measurements. A run without any leaves the saved ones.
func (r *report) hand(o options, saved map[string]pairs, stdout io.Writer) error {
	if saved != nil {
		r.Compared = compared(r.Rows, saved)
	}
	err := r.print(stdout, o.json)
	if o.save != "" && (!r.Partial || len(r.Rows) > 0) {
		err = errors.Join(err, r.save(o.save, time.Now().UTC().Format(time.DateOnly)))
	}
	return err
}

// measureIn measures in a new folder, which is gone when it returns.
func measureIn(ctx context.Context, o options, log io.Writer) (*report, error) {
	scratch, err := os.MkdirTemp(o.dir, "jp-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	b, err := newBench(o, scratch, log)
	if err != nil {
		return nil, err
	}
	return b.measure(ctx) // also the measurements before an error
}
