// Command soak runs many conversations in the background at once, lets clients come and go while they run,
// kills some, answers all, and then checks that all is there and that no process or file is left behind.
// Then one user works for some days, one turn after the other, and the repository must stay fast and small.
//
// Everything happens in a scratch folder, with a home of its own. A lost or left thing is a violation, and
// makes the program fail. Times and memory are printed beside their targets without a verdict, since they
// are the machine's as well. At any end, every process that it started has ended.
//
// It looks from outside, at real processes of the real program: at descriptors,
// threads and memory as the kernel tells them, and at goroutines by the trace that
// the Go runtime leaves when it is told to quit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("soak", run) }

// options are the flags.
type options struct {
	n      int           // conversations
	length time.Duration // of the work of each
	cycles int           // in which clients come and go, under load and again while all wait
	events int           // of the long use afterwards
	dir    string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	quick := false
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.BoolVar(&quick, "quick", false, "a sample: 12 conversations, 15 s, 24 cycles, 1,500 events of long use")
	flags.IntVar(&o.n, "n", 64, "run `N` conversations at once, at least 8")
	flags.DurationVar(&o.length, "for", 2*time.Minute, "let each work for a `DURATION` before it asks")
	flags.IntVar(&o.cycles, "cycles", 56, "let clients come and go `N` times")
	flags.IntVar(&o.events, "events", 20_000, "use a repository for `N` events, 0 for not at all")
	flags.StringVar(&o.dir, "dir", "", "work on the file system of `DIR` (default: the folder for temporary files)")
	if err := prooftool.ParseAll(flags, args, stderr); err != nil {
		return o, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	sample := map[string]func(){
		"n": func() { o.n = 12 }, "for": func() { o.length = 15 * time.Second }, "cycles": func() { o.cycles = 24 },
		"events": func() { o.events = 1500 },
	}
	for name, set := range sample {
		if quick && !given[name] {
			set()
		}
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case o.n < fewest:
		return fmt.Errorf("-n %d: at least %d, since some are killed and some compared", o.n, fewest)
	case o.length < pace:
		return fmt.Errorf("-for %s: at least %s", o.length, pace)
	case o.cycles < 0, o.events < 0:
		return fmt.Errorf("-cycles %d, -events %d: neither can be negative", o.cycles, o.events)
	}
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(o.dir, "jp-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	a, err := newArena(ctx, scratch)
	if err != nil {
		return err
	}
	s := newSoak(o, a, stderr)
	limited, cancel := context.WithTimeoutCause(ctx, o.limit(), errTooLong)
	defer cancel()
	err = s.run(limited)
	s.end()
	if err == nil {
		err = s.wear(limited, filepath.Join(scratch, "long"))
	}
	if cause := context.Cause(limited); err != nil && cause != nil {
		err = cause // the errors after it are only its consequences
	}
	s.table.print(stdout, err)
	return errors.Join(err, s.table.failure())
}

var errTooLong = errors.New("it takes longer than it may")

// limit bounds a run, with room for a machine that is busy.
func (o options) limit() time.Duration {
	return 2*o.length + time.Duration(o.n)*5*time.Second + time.Duration(o.events)*100*time.Millisecond + 2*time.Minute
}
