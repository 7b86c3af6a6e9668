package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// sampleSizes say how long to measure.
type sampleSizes struct {
	shortOps  int // rounds of blocks of short operations
	slowOps   int // rounds of single operations that take long
	processes int // rounds of operations that are one process
	used      int // events of a repository that is in use
	settles   bool
}

func effortOf(quick bool) sampleSizes {
	if quick {
		return sampleSizes{shortOps: 5, slowOps: 4, processes: 4, used: 2_000, settles: true}
	}
	return sampleSizes{shortOps: 20, slowOps: 9, processes: 11, used: 2_000, settles: true}
}

// A bench is one run of the program.
type bench struct {
	options
	sampleSizes
	scratch string
	corpus  string
	environ []string // the caller's, from before it was replaced
	log     io.Writer
	rng     *rand.Rand
	dirs    int
	built   string // path of jp, "" before it is needed
	kept    map[string]*history
	sought  map[[2]int]*greps // by conversations and events of each
	notes   []string
}

// newBench prepares a run in an empty folder. It replaces the environment of the process, so that git runs
// without the host's configuration.
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
		options: o, sampleSizes: effortOf(o.quick), scratch: scratch, corpus: corpus, environ: os.Environ(), log: log,
		rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), kept: map[string]*history{}, sought: map[[2]int]*greps{},
	}
	return b, isolate(filepath.Join(scratch, "home"))
}

// measure runs the requested tasks. After an error the report has the measurements until then, nil if there
// are none.
func (b *bench) measure(ctx context.Context) (*report, error) {
	m, err := thisMachine(ctx, b.quick)
	if err != nil {
		return nil, err
	}
	r := &report{Machine: m}
	if err = b.measureEverywhere(ctx, r); err != nil {
		r.Partial = true
		err = fmt.Errorf("%w: %w", errPartial, err)
	}
	r.Notes, r.Growth = b.notes, growthOf(r.Rows)
	return r, err
}

func (b *bench) measureEverywhere(ctx context.Context, r *report) error {
	if err := b.measureOn(ctx, r, "here", b.scratch, tasks); err != nil {
		return err
	}
	for _, system := range fileSystems {
		if b.loop && slices.ContainsFunc(durableTasks(), b.wants) {
			if err := b.measureOnImage(ctx, r, system); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureOn runs tasks in a folder, and notes its file system.
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

func (b *bench) newDir(parent string) (string, error) {
	b.dirs++
	dir := filepath.Join(parent, fmt.Sprintf("%03d", b.dirs))
	return dir, os.Mkdir(dir, 0o755)
}

// note says once beside the table which part was left out, and why.
func (b *bench) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}
