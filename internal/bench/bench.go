package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jp/gitstore/odb"
)

// An effort says how long to measure.
type effort struct {
	shortOps  int // rounds of blocks of short operations
	slowOps   int // rounds of single operations that take long
	processes int // rounds of operations that are one process
}

func effortOf(quick bool) effort {
	if quick {
		return effort{shortOps: 5, slowOps: 4, processes: 4}
	}
	return effort{shortOps: 20, slowOps: 11, processes: 15}
}

// A bench is one run of the program.
type bench struct {
	options
	effort
	scratch string
	corpus  string
	environ []string // the caller's, from before it was replaced
	log     io.Writer
	rng     *rand.Rand
	dirs    int
	kept    map[string]*history
}

// newBench prepares a run in an empty folder. It replaces the environment of
// the process, so that no git of this run sees the host's configuration.
func newBench(o options, scratch string, log io.Writer) (*bench, error) {
	scratch, err := filepath.EvalSymlinks(scratch)
	if err != nil {
		return nil, err
	}
	if scratch, err = filepath.Abs(scratch); err != nil {
		return nil, err
	}
	corpus, err := readCorpus(goSource(), 16<<20)
	if err != nil {
		return nil, fmt.Errorf("read Go source: %w", err)
	}
	b := &bench{
		options: o, effort: effortOf(o.quick), scratch: scratch, corpus: corpus, environ: os.Environ(), log: log,
		rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), kept: map[string]*history{},
	}
	return b, isolate(filepath.Join(scratch, "home"))
}

// A task measures rows on a place.
type task struct {
	name    string
	durable bool // waits for the disk, so that the place matters most
	run     func(ctx context.Context, b *bench, p place) ([]row, error)
}

// tasks are in the order of the table. Durable ones come first, before others
// leave work to the disk.
var tasks = []task{
	{"append", true, measureAppend},
	{"fork 100", true, forkOf(100)},
	{"load 1k", false, loadOf(1_000)},
	{"load 10k", false, loadOf(10_000)},
	{"fork 10k", true, forkOf(10_000)},
	{"list 100", false, listOf(100)},
	{"list 1k", false, listOf(1_000)},
	{"list 10k", false, listOf(10_000)},
	{"command 10k", false, commandsOf(10_000)},
	{"command 100k", false, commandsOf(100_000)},
	{"grep 200k", false, grepOf(1_000, 200)},
	{"grep 1M", false, grepOf(1_000, 1_000)},
	{"snapshot 1k", false, snapshotOf(1_000)},
	{"snapshot 12k", false, snapshotOf(12_000)},
	{"resume 10k", false, resumeOf(10_000)},
	{"attach 10k", false, attachOf(10_000)},
	{"ls 100", false, listRunning},
	{"ask", false, measureAsking},
	{"size", false, measureSize},
	{"memory", false, measureMemory},
	{"version", false, measureVersion},
}

// longTasks take minutes.
var longTasks = []string{"list 10k", "command 100k", "grep 1M"}

// taskNames is read by the help text.
func taskNames() string {
	return "append, fork, load, list, command, grep, snapshot, resume, attach, ls (each with its size, as in \"load 10k\"), ask, size, memory, version"
}

// measure runs the tasks that were asked for.
func (b *bench) measure(ctx context.Context) (*report, error) {
	m, err := thisMachine(ctx, b.quick)
	if err != nil {
		return nil, err
	}
	r := &report{Machine: m}
	if err := b.measureOn(ctx, r, "here", b.scratch, tasks); err != nil {
		return nil, err
	}
	if b.loop {
		if err := b.measureLoop(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// measureOn runs tasks in a folder, and notes what it stands on.
func (b *bench) measureOn(ctx context.Context, r *report, name, dir string, tasks []task) error {
	probe, err := b.newRepo(ctx, dir)
	if err != nil {
		return err
	}
	p, err := placeOf(name, dir, filepath.Join(probe.TopLevel, ".git"))
	if err != nil {
		return err
	}
	r.Places = append(r.Places, p)
	for _, t := range tasks {
		if b.wants(t) {
			r.Rows = append(r.Rows, b.attempt(ctx, t, p)...)
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) wants(t task) bool {
	if slices.Contains(longTasks, t.name) && !b.full {
		return false
	}
	return b.rows == nil || b.rows.MatchString(t.name)
}

// attempt runs one task; what goes wrong is its row.
func (b *bench) attempt(ctx context.Context, t task, p place) []row {
	fmt.Fprintf(b.log, "measuring %s (%s)\n", t.name, p.Name)
	if t.durable {
		syscall.Sync() // others' data shall not be flushed at our expense
	}
	rows, err := t.run(ctx, b, p)
	if err != nil {
		rows = append(rows, row{Name: t.name, Failed: strings.ReplaceAll(err.Error(), "\n", " ")})
	}
	for i := range rows {
		rows[i].On = p.Name
		rows[i] = rows[i].judged()
	}
	return rows
}

// newDir makes a folder that was never used before.
func (b *bench) newDir(parent string) (string, error) {
	b.dirs++
	dir := filepath.Join(parent, fmt.Sprintf("%03d", b.dirs))
	return dir, os.Mkdir(dir, 0o755)
}

// appendTarget is looser where no order of writes can be relied on.
func appendTarget(p place) float64 {
	if p.Path == odb.PathOrdered {
		return 2
	}
	return 4
}
