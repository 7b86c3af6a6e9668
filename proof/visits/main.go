// Command visits tells how often one plain query goes from file to file of the application before it
// records its first event.
//
// It builds jp with a line at the start of each function of cmd/jp and agent, and runs a query for a
// new conversation in a scratch repository, with a scripted model. A visit is a run of function calls in one file. A file
// that is visited again counts as a return: what a reader of the code has to go back to. Calls into
// other packages end no visit, and closures belong to the function around them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/proof/prooftool"
)

func main() { prooftool.Main("visits", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("visits", flag.ContinueOnError)
	route := flags.Bool("route", false, "print each visit, with the functions that are called in it")
	most := flags.Int("most", 0, "fail if cmd/jp, with what is internal to it, and agent take more than `N` visits; 0 is no limit")
	if err := prooftool.ParseAll(flags, args, stderr); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "jp-visits-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	jp := filepath.Join(scratch, "jp")
	if err := build(ctx, scratch, jp); err != nil {
		return err
	}
	calls, err := trace(ctx, scratch, jp)
	if err != nil {
		return err
	}
	if *route {
		for i, v := range visitsOf(calls, scopes[len(scopes)-1].has) {
			fmt.Fprintf(stdout, "%4d  %-34s %s\n", i+1, v.file, strings.Join(v.functions, ", "))
		}
	}
	fmt.Fprintln(stdout, "files  visits  returns  before the first event is recorded")
	for _, s := range scopes {
		visits := visitsOf(calls, s.has)
		files := map[string]bool{}
		for _, v := range visits {
			files[v.file] = true
		}
		fmt.Fprintf(stdout, "%5d  %6d  %7d  %s\n", len(files), len(visits), len(visits)-len(files), s.name)
		if s.limited && *most > 0 && len(visits) > *most {
			err = errors.Join(err, fmt.Errorf("%d visits in %s, at most %d are allowed", len(visits), s.name, *most))
		}
	}
	return err
}

// A scope is which files are looked at.
type scope struct {
	name    string
	has     func(folder string) bool
	limited bool // by -most
}

// scopes are the files that are counted, each with the ones before it.
var scopes = []scope{
	{"cmd/jp and agent", func(folder string) bool { return folder == "cmd/jp" || folder == "agent" }, false},
	{"with cmd/jp/internal", func(folder string) bool { return strings.HasPrefix(folder, "cmd/jp") || folder == "agent" }, true},
	{"with the parts of agent", func(string) bool { return true }, false},
}

// A call is one function that was called.
type call struct{ file, function string }

// A visit is a run of calls in one file.
type visit struct {
	file      string
	functions []string
}

// visitsOf are the visits of a row of calls, in the files of some folders.
func visitsOf(calls []call, has func(folder string) bool) (visits []visit) {
	for _, c := range calls {
		if !has(path.Dir(c.file)) {
			continue
		}
		if len(visits) == 0 || visits[len(visits)-1].file != c.file {
			visits = append(visits, visit{file: c.file})
		}
		last := &visits[len(visits)-1]
		if !slices.Contains(last.functions, c.function) {
			last.functions = append(last.functions, c.function)
		}
	}
	return visits
}
