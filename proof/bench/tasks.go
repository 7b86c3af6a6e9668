package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/proof/prooftool"
)

// A task measures rows on a place.
type task struct {
	name    string
	kind    taskKind
	measure func(ctx context.Context, b *bench, p filesystem) ([]row, error)
	rows    []string // how the names of its rows begin
}

// A taskKind says when and in which place a task is run.
type taskKind int

// Kinds of tasks.
const (
	short   taskKind = iota
	durable          // waits for the disk: measured on every file system
	long             // left out by -quick, unless -rows names it
	longest          // takes minutes: only with -full
	largest          // takes many minutes: only with -full, and if -rows names it
)

// tasks are in the order of the table. Those that wait for the disk come first, before others leave work to
// it.
var tasks = []task{
	{"append", durable, measureAppend, named(appendNames, 0)},
	{"append refs", durable, eachRefFormat(appendThrough), named(appendRefsNames, 0)},
	{"fork 100", durable, forkOf(100), named(forkNames, 100)},
	{"chain 1k", short, chainsOf(100, 1_000), append(named(chainNames, 100), named(chainNames, 1_000)...)},
	{"chain 10k", long, chainsOf(10_000), named(chainNames, 10_000)},
	{"chain 100k", longest, chainsOf(100_000), named(chainNames, 100_000)},
	{"fork 10k", long, forkOf(10_000), named(forkNames, 10_000)},
	{"fork 100k", longest, forkOf(100_000), named(forkNames, 100_000)},
	{"load 1k", short, loadOf(1_000), named(loadNames, 1_000)},
	{"load 10k", long, loadOf(10_000), named(loadNames, 10_000)},
	{"load 100k", longest, loadOf(100_000), named(loadNames, 100_000)},
	{"list 1k", short, listsOf(1_000), named(listNames, 1_000)},
	{"list 10k", long, listsOf(10_000), named(listNames, 10_000)},
	{"list refs 1k", long, eachRefFormat(listThrough(1_000)), named(listRefsNames, 1_000)},
	{"flat 1k", short, flatOf(1_000), named(flatNames, 1_000)},
	{"flat 10k", long, flatOf(10_000), named(flatNames, 10_000)},
	{"flat 100k", longest, flatOf(100_000), named(flatNames, 100_000)},
	{"fork command 1k", short, forksOf(1_000), named(forkCommandNames, 1_000)},
	{"fork command 10k", long, forksOf(10_000), named(forkCommandNames, 10_000)},
	{"fork command 100k", longest, forksOf(100_000), named(forkCommandNames, 100_000)},
	{"grep 20k", short, grepOf(searchedBriefly, searchedEvents), named(grepNames, searchedBriefly, searchedEvents)},
	{"grep 200k", long, grepOf(1_000, 200), named(grepNames, 1_000, 200)},
	{"grep 1M", longest, grepOf(1_000, 1_000), named(grepNames, 1_000, 1_000)},
	{"grep forks 1k", short, grepForksOf(1_000), named(grepForksNames, 1_000)},
	{"grep forks 10k", long, grepForksOf(10_000), named(grepForksNames, 10_000)},
	{"blame 50k", longest, blameOf(1_000), named(blameNames, 1_000*eventsEach)},
	{"snapshot 1k", short, snapshotOf(1_000), named(snapshotNames, 1_000)},
	{"snapshot 12k", long, snapshotOf(12_000), named(snapshotNames, 12_000)},
	{"snapshot 100k", longest, snapshotOf(100_000), named(snapshotNames, 100_000)},
	{"tools confined", short, measureConfined, named(confinedNames, 0)},
	{"tools untracked", long, measureUntracked, named(untrackedNames, untrackedFiles)},
	{"tools create", long, measureCreating, named(creatingNames, createdIn)},
	{"encode", long, measureEncoding, named(encodingNames, 0)},
	{"resume 1k", short, resumeOf(1_000), named(resumeNames, 1_000)},
	{"resume 10k", long, resumeOf(10_000), named(resumeNames, 10_000)},
	{"attach 10k", long, attachOf(10_000), named(attachNames, 10_000)},
	{"ls 100", long, listRunning, named(listRunningNames, listedProcesses)},
	{"ask", long, measureAsking, named(askingNames, askedFiles)},
	{"size 1k", short, sizesOf(1_000), named(sizeNames, 1_000)},
	{"size 10k", long, sizesOf(10_000), named(sizeNames, 10_000)},
	{"size large file", longest, measureLargeFile, named(largeFileNames, 0)},
	{"memory 1k", short, memoryOf(1_000), named(memoryNames, 1_000)},
	{"memory 10k", long, memoryOf(10_000), named(memoryNames, 10_000)},
	{"memory 100k", longest, memoryOf(100_000), named(memoryNames, 100_000)},
	{"memory whole 100k", longest, wholePeaksOf(100_000), named(wholePeakNames, 100_000)},
	{"memory grep", short, measurePeakOfGrep, named(peakOfGrepNames, searchedBriefly, searchedEvents)},
	{"large events", largest, largeEvents(1_000_000), largeNames("1,000,000 events")},
	{"large list", largest, largeLists(100_000), largeNames("100,000 conversations")},
	{"version", short, measureStart, named(startNames, 0)},
}

// taskNames is read by the help text.
func taskNames() string {
	return "rows by their names, or tasks: append, fork, chain, load, list, flat, grep, blame, snapshot, tools, encode, resume, attach, ls, size, memory " +
		"(with a size, as in \"load 10k\"), ask, version"
}

// wants reports whether a task is to be run: if its name, or that of one of its rows,
// is asked for.
func (b *bench) wants(t task) bool {
	switch {
	case t.kind >= longest && !b.full:
		return false
	case t.kind == largest && !b.asked():
		return false
	case t.kind == long && b.quick && !b.asked():
		return false
	}
	return b.names(t) || slices.ContainsFunc(t.rows, b.rows.MatchString)
}

// asked reports whether -rows is given.
func (b *bench) asked() bool { return b.rows != nil && b.rows.String() != "" }

// durableTasks are those that are run on every file system.
func durableTasks() []task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return t.kind != durable })
}

// attempt runs one task and shows its rows as soon as they are there. An error is its row.
func (b *bench) attempt(ctx context.Context, t task, p filesystem) []row {
	fmt.Fprintf(b.log, "measuring %s (%s)\n", t.name, p.Name)
	began := time.Now()
	rows, err := b.settled(ctx, t, p)
	switch {
	case errors.Is(err, errAbsent):
		b.note("%s: skipped: %v", t.name, err)
	case err != nil && ctx.Err() != nil:
		return nil // an interrupt is no row
	case err != nil:
		rows = append(rows, row{Name: t.name, Failed: strings.ReplaceAll(err.Error(), "\n", " ")})
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !b.shows(t, r) })
	for i := range rows {
		rows[i].On = p.Name
		rows[i] = rows[i].judged()
		fmt.Fprintf(b.log, "  %s: %s (%s) %s\n", rows[i].Name, rows[i].compared(), rows[i].RivalName, rows[i].Verdict)
	}
	fmt.Fprintf(b.log, "  in %.1f s\n", time.Since(began).Seconds())
	return rows
}

// waitForDisk waits until the file system of a folder has flushed its data, in runs that measure.
func (b *bench) waitForDisk(dir string) error {
	if !b.settles {
		return nil
	}
	return prooftool.Settle(dir)
}

// settled runs a task. One that waits for the disk begins when the disk is idle.
func (b *bench) settled(ctx context.Context, t task, p filesystem) ([]row, error) {
	if t.kind == durable {
		for _, dir := range []string{b.scratch, p.Dir} {
			if err := b.waitForDisk(dir); err != nil {
				return nil, err
			}
		}
	}
	return t.measure(ctx, b, p)
}
