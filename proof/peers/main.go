// Command peers runs jp beside Codex, opencode and Claude Code, as npm installs them, and prints a table of
// their costs for the same work.
//
// All of them ask one model on loopback, which answers at once and in the same words, and each has a home
// and a repository of its own. The programs are those of `make peers`. Only installed programs have a
// column. If one does other work than the row's, its cell says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"jp/proof/prooftool"
)

// longest is how long one turn may take.
const longest = 10 * time.Minute

func main() { prooftool.Main("peers", run) }

type options struct{ rounds, calls, long, files int }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	var o options
	jp := flags.String("jp", "", "measure this `PROGRAM` in place of one that is built from the source")
	only := flags.String("only", "", "measure this `PEER` beside jp, and no other: Codex, opencode or Claude Code")
	flags.IntVar(&o.rounds, "rounds", 5, "measure each turn `N` times; the lowest counts")
	flags.IntVar(&o.calls, "calls", 30, "commands of the turn with commands")
	flags.IntVar(&o.long, "long", 300, "commands of the session that is resumed")
	flags.IntVar(&o.files, "files", 1000, "files of each repository")
	if err := prooftool.ParseAll(flags, args, stderr); err != nil {
		return err
	}
	root, err := prooftool.Root()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "jp-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if *jp == "" {
		*jp = filepath.Join(scratch, "jp-program")
		if err := prooftool.BuildJP(ctx, *jp, os.Environ()); err != nil {
			return err
		}
	}
	m := newModel("echo x >> made.txt; seq 200")
	defer m.Close()
	var columns []*column
	for _, p := range programs(*jp, filepath.Join(root, "export", "testdata", "peers"), m.URL) {
		if *only != "" && p.name != *only && p.name != "jp" {
			continue
		}
		if _, err := os.Stat(p.args[0]); err != nil {
			fmt.Fprintf(stderr, "%s is not installed: make peers\n", p.name)
			continue
		}
		if err := p.prepare(ctx, scratch, o.files); err != nil {
			return err
		}
		if _, _, err := p.turn(ctx, m, p.begin, 0); err != nil { // it sets up a new home, uncounted
			return err
		}
		columns = append(columns, &column{program: p, cells: map[string]string{}})
	}
	for _, c := range columns {
		for _, t := range turnsOf(o) {
			fmt.Fprintf(stderr, "%s: %s\n", c.program.name, t.work)
			if err := c.measure(ctx, m, t); ctx.Err() != nil {
				return context.Cause(ctx)
			} else if err != nil {
				fmt.Fprintf(stderr, "%v\n", err)
				c.cells[t.work] = "other work"
			}
		}
	}
	fmt.Fprintf(stdout, "%s, %d cores, load %s, on loopback, %d files, the lowest of %d rounds: processor time (time that passed)\n\n",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), load(), o.files, o.rounds)
	_, err = io.WriteString(stdout, table(columns, turnsOf(o)))
	return err
}

// A turn is a row: the request to each program. Before it, the program runs earlier commands of the
// session, uncounted.
type turn struct {
	work   string
	resume bool // of the session that before has made
	before int  // commands of that session
	calls  int
	rounds int
	size   bool // of the first request, too
}

func turnsOf(o options) []turn {
	return []turn{
		{work: "the first answer of a new session", rounds: o.rounds, size: true},
		{work: fmt.Sprintf("a turn of %d commands, one after another", o.calls), calls: o.calls, rounds: max(1, o.rounds/2)},
		{work: fmt.Sprintf("an answer in a session of %d commands, its first resume", o.long), resume: true, before: o.long, rounds: 1},
		{work: fmt.Sprintf("an answer in a session of %d commands, later ones", o.long), resume: true, rounds: o.rounds},
	}
}

const sizeRow = "size of the first request"

// A column has a program's costs, by rows.
type column struct {
	program *program
	cells   map[string]string
}

func (c *column) measure(ctx context.Context, m *model, t turn) error {
	words := c.program.begin
	if t.before > 0 {
		if _, _, err := c.program.turn(ctx, m, words, t.before); err != nil {
			return err
		}
	}
	if t.resume {
		words = c.program.resume
	}
	var processor, wall []time.Duration
	for range t.rounds {
		r, first, err := c.program.turn(ctx, m, words, t.calls)
		if err != nil {
			return err
		}
		processor, wall = append(processor, r.processor), append(wall, r.wall)
		if t.size {
			c.cells[sizeRow] = fmt.Sprintf("%.1f KB", float64(first)/1000)
		}
	}
	c.cells[t.work] = fmt.Sprintf("%s (%s)", seconds(slices.Min(processor)), seconds(slices.Min(wall)))
	return nil
}

// seconds is a time as people write it.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.0f ms", 1000*d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// table is all rows as Markdown.
func table(columns []*column, turns []turn) string {
	var b strings.Builder
	row := func(work string, cell func(*column) string) {
		b.WriteString("| " + work + " |")
		for _, c := range columns {
			b.WriteString(" " + cell(c) + " |")
		}
		b.WriteByte('\n')
	}
	row("work", func(c *column) string { return c.program.name })
	row("---", func(*column) string { return "---" })
	for _, t := range turns {
		row(t.work, func(c *column) string { return c.cells[t.work] })
		if t.size {
			row(sizeRow, func(c *column) string { return c.cells[sizeRow] })
		}
	}
	return b.String()
}

// load is the machine's average of the last minute, "" if unknown.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}
