// Command flip tells how many wrong conditions a package's own tests notice.
//
// It picks conditions of if statements at random by a seed, turns one at a time into its opposite, and
// runs the tests of that package. go reads the changed file from an overlay, so that the working tree
// stays as it is. A condition is noticed if the tests fail, or take too long.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("flip", run) }

// usual are the packages of an ordinary run: the application and its features.
var usual = []string{"agent", "acp", "fork", "undo", "blame", "agent/contextfiles", "agent/toolset", "agent/snapshot"}

// A condition is the condition of an if statement.
type condition struct {
	dir, file  string
	place      string // FILE:LINE
	source     string // of the file
	start, end int    // of the condition in it
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("flip", flag.ContinueOnError)
	n := flags.Int("n", 120, "flip `N` conditions; 0 is all")
	seed := flags.Uint64("seed", 1, "pick them by this `SEED`")
	at := flags.String("at", "", "flip only the conditions at `FILE:LINE`, or in FILE")
	if err := prooftool.Parse(flags, args, stderr); err != nil {
		return err
	}
	dirs := flags.Args()
	if len(dirs) == 0 {
		dirs = usual
	}
	all, err := conditions(dirs)
	if err != nil {
		return err
	}
	if *at != "" {
		all = slices.DeleteFunc(all, func(c condition) bool { return c.file != *at && c.place != *at })
	} else if *n > 0 && *n < len(all) {
		rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:*n]
	}
	if len(all) == 0 {
		return errors.New("no condition was found")
	}
	scratch, err := os.MkdirTemp("", "jp-flip-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for _, dir := range dirs {
		if failed, out := test(ctx, dir); failed {
			return fmt.Errorf("the tests of %s fail before any condition is flipped: %s", dir, out)
		}
	}
	noticed, flipped := map[string]int{}, map[string]int{}
	for _, c := range all {
		overlay, err := c.flip(scratch)
		if err != nil {
			return err
		}
		failed, out := test(ctx, c.dir, "-overlay", overlay)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if strings.Contains(out, "[build failed]") {
			return fmt.Errorf("%s: the opposite does not compile: %s", c.place, out)
		}
		flipped[c.dir]++
		if failed {
			noticed[c.dir]++
		} else {
			fmt.Fprintf(stdout, "%s: %s\n", c.place, c.source[c.start:c.end])
		}
	}
	fmt.Fprintln(stdout, "\nnoticed  flipped  package")
	sum := 0
	for _, dir := range dirs {
		fmt.Fprintf(stdout, "%7d  %7d  %s\n", noticed[dir], flipped[dir], dir)
		sum += noticed[dir]
	}
	fmt.Fprintf(stdout, "%7d  %7d  %.0f %%, seed %d\n", sum, len(all), 100*float64(sum)/float64(len(all)), *seed)
	return nil
}

// conditions are those of the files that are compiled here, in their order.
func conditions(dirs []string) (all []condition, err error) {
	for _, dir := range dirs {
		p, err := build.ImportDir(dir, 0)
		if err != nil {
			return nil, err
		}
		for _, name := range p.GoFiles {
			file := filepath.Join(dir, name)
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, text, 0)
			if err != nil {
				return nil, err
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if s, is := n.(*ast.IfStmt); is {
					start, end := fset.Position(s.Cond.Pos()), fset.Position(s.Cond.End())
					all = append(all, condition{dir, file, fmt.Sprintf("%s:%d", file, start.Line), string(text), start.Offset, end.Offset})
				}
				return true
			})
		}
	}
	return all, nil
}

// flip writes the file with the opposite of a condition, and an overlay that names it.
func (c condition) flip(scratch string) (overlay string, err error) {
	path, err := filepath.Abs(c.file)
	if err != nil {
		return "", err
	}
	other, overlay := filepath.Join(scratch, "flipped.go"), filepath.Join(scratch, "overlay.json")
	list, _ := json.Marshal(map[string]any{"Replace": map[string]string{path: other}}) // texts can always be encoded
	changed := c.source[:c.start] + "!(" + c.source[c.start:c.end] + ")" + c.source[c.end:]
	return overlay, errors.Join(os.WriteFile(other, []byte(changed), 0o600), os.WriteFile(overlay, list, 0o600))
}

// test runs the tests of a package, and reports whether they fail.
func test(ctx context.Context, dir string, args ...string) (failed bool, out string) {
	args = append([]string{"test", "-vet=off", "-failfast", "-timeout", "2m"}, args...)
	text, err := prooftool.GoCommand(ctx, append(args, "./"+dir)...).CombinedOutput()
	return err != nil, string(text)
}
