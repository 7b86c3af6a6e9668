// Command crash runs the tests that let jp's writes go wrong in every known way, and prints one table of
// their trials.
//
// The tests are go tests of the packages that they are about; each logs its enumeration through package
// row. A run fails if a test does, if a test does not report its trials, and, at full length, if a class
// stays below its least number of points. Trials that a machine cannot make are named below the table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("crash", run) }

// options are the flags.
type options struct {
	quick, json   bool
	only, formats string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("crash", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "samples, a few minutes; the numbers that a full run must reach are not asked for")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.only, "only", "", "only the classes `LETTERS`, with commas between them")
	flags.StringVar(&o.formats, "formats", "", "make repositories of the formats `LIST`: all, or some such as sha256/reftable, with commas between them")
	if err := prooftool.ParseAll(flags, args, stderr); err != nil {
		return o, err
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	todo, err := chosen(suites, o.only)
	if err != nil {
		return err
	}
	repositories, err := chosenFormats(o.formats)
	if err != nil {
		return err
	}
	r := report{Machine: describeMachine(ctx), Quick: o.quick}
	ended := r.runAll(ctx, inFormats(todo, repositories), stderr)
	failed := errors.Join(r.failure(), ended)
	if err := r.print(stdout, o.json, failed); err != nil {
		return err
	}
	r.explain(stderr)
	return failed
}

// runAll runs suites one after the other. The error says how many of them were.
func (r *report) runAll(ctx context.Context, todo []suite, stderr io.Writer) error {
	for i, s := range todo {
		fmt.Fprintf(stderr, "%s %s %s … ", strings.TrimSpace(s.class+" "+s.formats.String()), s.pkg, s.run)
		if why := s.formats.missing(); why != "" {
			fmt.Fprintln(stderr, "skipped")
			r.skip(skip{s.class, s.formats.String() + ": " + why})
			continue
		}
		res, err := s.do(ctx, r.Quick)
		if err != nil {
			return fmt.Errorf("ended behind %d of %d suites: %w", i, len(todo), err)
		}
		fmt.Fprintln(stderr, res.brief())
		r.add(res)
	}
	return nil
}
