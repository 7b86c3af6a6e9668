// Command fuzz runs the fuzz targets of the module, one after another, and
// prints one table of what came of them.
//
// Each package's fuzz binary is built once. A target fails when go says so, with
// one exception: where a duration ends, go's coordinator may report its own
// deadline as the failure (go.dev/issue/75804). That is taken for the end that it
// is only where the output holds nothing else and no failing input was written.
//
// It minimises nothing beyond what go does, keeps go's corpus where go keeps it,
// and never takes a failing input away.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"jp/internal/proof"
)

func main() { proof.Main("fuzz", run) }

// options are the flags.
type options struct {
	budget   budget
	only     *regexp.Regexp
	packages []string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{packages: []string{"./..."}}
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	text := flags.String("time", "10s", "run each target for a `DURATION`, or for a number of executions as 2000x")
	only := flags.String("run", "", "only targets whose package and name, as gitstore.FuzzDecode, match `REGEXP`")
	if err := proof.Parse(flags, args, stderr); err != nil {
		return o, err
	}
	var err error
	if o.budget, err = parseBudget(*text); err != nil {
		return o, fmt.Errorf("-time %q: %w", *text, err)
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	if flags.NArg() > 0 {
		o.packages = flags.Args()
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	suites, err := findSuites(ctx, o.packages, o.only)
	if err != nil {
		return err
	}
	if len(suites) == 0 {
		return fmt.Errorf("%w in %v match %q", errNoTargets, o.packages, o.only)
	}
	scratch, err := os.MkdirTemp("", "jp-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var t table
	for _, s := range suites {
		t.targets += len(s.targets)
	}
	for i, s := range suites {
		if err := s.build(ctx, filepath.Join(scratch, fmt.Sprint(i))); ctx.Err() != nil {
			break // the table says what was tried
		} else if err != nil {
			return err
		}
		s.runAll(ctx, o.budget, stderr, t.add)
	}
	t.print(stdout)
	return t.failure()
}
