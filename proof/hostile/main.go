// Command hostile runs jp in repositories that attack it, and prints the attacks that had an effect.
//
// Each folder of corpus is one published class of attacks: a README that describes it, a script that builds
// the repository, and a control that acts there as a program without the defence. The control must have an
// effect, by the same watch that is kept over jp. If git itself has closed the way, it says so, which
// counts as none. Then every command of jp runs there, with a model that obeys the attacker, first in a
// repository without trust, then in one whose settings were approved.
//
// Everything happens in scratch folders on this machine, with homes of their own
// and a server on the loopback interface. Any sign of an attack makes the program
// fail.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("hostile", run) }

// options are the flags.
type options struct {
	corpus string // the folder of attacks
	only   string // of the name of an attack
	quick  bool
	dir    string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.StringVar(&o.corpus, "corpus", "proof/hostile/corpus", "take the attacks from `DIR`")
	flags.StringVar(&o.only, "only", "", "only attacks with `TEXT` in their name; several with commas between them")
	flags.BoolVar(&o.quick, "quick", false, "a sample of the commands in each repository")
	flags.StringVar(&o.dir, "dir", "", "work on the file system of `DIR` (default: the folder for temporary files)")
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
	attacks, err := readCorpus(o.corpus)
	if err != nil {
		return err
	}
	attacks = slices.DeleteFunc(attacks, func(a attack) bool {
		return !slices.ContainsFunc(strings.Split(o.only, ","), func(text string) bool { return strings.Contains(a.name, text) })
	})
	if len(attacks) == 0 {
		return fmt.Errorf("-only: no attack has %q in its name", o.only)
	}
	scratch, err := os.MkdirTemp(o.dir, "jp-hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	field, err := newField(ctx, scratch, o.quick)
	if err != nil {
		return err
	}
	var t table
	for i, a := range attacks {
		t.add(field.try(ctx, a, i))
		fmt.Fprintln(stderr, t.last())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	t.print(stdout)
	return t.failure()
}
