package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// flat is how much more memory ten times the events may take and still count as the same: the garbage
// collector's own unrest is about as much.
const flat = 1.25

// flatFrom is the number of events that hides a program's costs of starting.
const flatFrom = 10_000

// peakRounds is how often each program is run.
const peakRounds = 3

// memoryOf compares the peaks of memory of programs that work on n events, without their children.
func memoryOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, p filesystem) ([]row, error) {
		rows, err := b.growRows(ctx, p, n)
		if err != nil {
			return nil, err
		}
		list, err := b.peakOfList(ctx, n)
		return append(rows, list), err
	}
}

// growRows compares appending n events with appending a tenth of them, and with
// a database that does the same.
func (b *bench) growRows(ctx context.Context, p filesystem, n int) ([]row, error) {
	few, err := b.growPeaks(ctx, p, n/10)
	if err != nil {
		return nil, err
	}
	many, err := b.growPeaks(ctx, p, n)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("memory, appending %s events", grouped(n))
	tenth := sized(name, "appending "+grouped(n/10), many, few)
	if n >= flatFrom {
		tenth = tenth.within(flat)
	}
	database, err := b.databasePeaks(ctx, n)
	if errors.Is(err, errAbsent) {
		b.note("memory beside sqlite3: skipped: %v", err)
		return []row{tenth.grows(workPeakAppend, n)}, nil
	}
	return []row{tenth, sized(name, "sqlite3", many, database).grows(workPeakAppend, n)}, err
}

// growPeaks has new processes of this program append n events.
func (b *bench) growPeaks(ctx context.Context, p filesystem, n int) ([]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return peaks(ctx, func() (*exec.Cmd, error) {
		repo, err := b.newRepo(ctx, p.Dir)
		return exec.Command(self, "-grow", strconv.Itoa(n), "-dir", repo.TopLevel), err
	})
}

// databasePeaks has sqlite3 insert n events.
func (b *bench) databasePeaks(ctx context.Context, n int) ([]float64, error) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		return nil, fmt.Errorf("%w: sqlite3", errAbsent)
	}
	dir, err := b.newDir(b.scratch)
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	script.WriteString("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE IF NOT EXISTS events(seq INTEGER PRIMARY KEY, line TEXT);\n")
	for _, e := range newMix(b.corpus, 1).take(n) {
		line, err := encodeLine(e)
		if err != nil {
			return nil, err
		}
		script.WriteString(insertion(line) + "\n")
	}
	path := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		return nil, err
	}
	return peaks(ctx, func() (*exec.Cmd, error) {
		cmd := exec.Command(program, "-batch", "-bail", filepath.Join(dir, "events.db"))
		in, err := os.Open(path)
		cmd.Stdin = in
		return cmd, err
	})
}

// mostHeld is the most memory of commands that read all of a conversation, in bytes.
const mostHeld = 100 << 20

// wholePeaksOf measures commands that read all of a conversation of n events.
func wholePeaksOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		verify, err := b.peakOfVerify(ctx, n)
		if err != nil {
			return nil, err
		}
		search, err := b.peakOfFirstSearch(ctx, n)
		return []row{verify, search}, err
	}
}

// peakOfVerify compares a jp that checks n events with a git that checks their commits.
func (b *bench) peakOfVerify(ctx context.Context, n int) (row, error) {
	h, err := b.history(ctx, n, 1)
	if err != nil {
		return row{}, err
	}
	r, err := b.peakRow(ctx, h.packed, "git log %B", []string{"verify", string(h.id)}, []string{"log", "--first-parent", "--format=%B", string(h.head)})
	r.Name = fmt.Sprintf("memory, verifying %s events", grouped(n))
	r.Alone, r.Target = true, mostHeld
	return r, err
}

// peakOfFirstSearch does it for a search that makes the sidecars.
func (b *bench) peakOfFirstSearch(ctx context.Context, n int) (row, error) {
	h, err := b.history(ctx, n, 1)
	if err != nil {
		return row{}, err
	}
	jp, err := b.buildJP(ctx)
	if err != nil {
		return row{}, err
	}
	ours, err := peaks(ctx, func() (*exec.Cmd, error) {
		cmd := exec.Command(jp, "grep", "-c", "context")
		cmd.Dir = h.packed.TopLevel
		return cmd, os.RemoveAll(filepath.Join(h.packed.CommonDir, "jp", "cache"))
	})
	if err != nil {
		return row{}, err
	}
	theirs, err := peaks(ctx, in(h.packed.TopLevel, "git", "log", "--first-parent", "-F", "--grep=context", "--format=%H", string(h.head)))
	r := sized(fmt.Sprintf("memory, first search of %s events", grouped(n)), firstRival, ours, theirs)
	r.Alone, r.Target = true, mostHeld
	return r, err
}

// peakOfList does it for the list of a tenth as many conversations.
func (b *bench) peakOfList(ctx context.Context, n int) (row, error) {
	repo, err := b.newRepo(ctx, b.scratch)
	if err != nil {
		return row{}, err
	}
	if err := b.fillMany(ctx, repo, n/10); err != nil {
		return row{}, err
	}
	r, err := b.peakRow(ctx, repo, "git for-each-ref", []string{"ls"}, eachRefArgs)
	r.Name = fmt.Sprintf("memory, ls of %s", grouped(n/10))
	return r, err
}

// measurePeakOfGrep compares a search with ripgrep's.
func measurePeakOfGrep(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	program, err := exec.LookPath("rg")
	if err != nil {
		return nil, fmt.Errorf("%w: ripgrep", errAbsent)
	}
	g, err := b.greps(ctx, searchedBriefly, searchedEvents)
	if err != nil {
		return nil, err
	}
	jp, err := peaks(ctx, in(g.repo.TopLevel, g.jp, g.searchArgs(soughts[0])...))
	if err != nil {
		return nil, err
	}
	rg, err := peaks(ctx, in(g.lines, program, g.rivalArgs(soughts[0])...))
	if err != nil {
		return nil, err
	}
	return []row{sized(fmt.Sprintf("memory, grep %d × %d events", searchedBriefly, searchedEvents), "rg", jp, rg)}, nil
}

// peakRow compares a jp with a git in one repository.
func (b *bench) peakRow(ctx context.Context, repo gitcmd.Repository, rival string, jpArgs, gitArgs []string) (row, error) {
	if err := keepStoreKey(); err != nil {
		return row{}, err
	}
	jp, err := b.buildJP(ctx)
	if err != nil {
		return row{}, err
	}
	ours, err := peaks(ctx, in(repo.TopLevel, jp, jpArgs...))
	if err != nil {
		return row{}, err
	}
	theirs, err := peaks(ctx, in(repo.TopLevel, "git", gitArgs...))
	return sized("", rival, ours, theirs), err
}

// usage is a program's use of resources.
type usage struct {
	peak      int64         // of resident memory, in bytes
	processor time.Duration // with the children that it waited for
}

// peak runs a program and returns the peak of its resident memory in bytes.
func peak(ctx context.Context, cmd *exec.Cmd) (int64, error) {
	u, err := used(ctx, cmd)
	return u.peak, err
}

// in makes a program that runs in a folder, anew each time.
func in(dir, name string, args ...string) func() (*exec.Cmd, error) {
	return func() (*exec.Cmd, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		return cmd, nil
	}
}

// peaks runs programs and returns their peaks of memory in bytes. The first one
// may have to make caches, and is left out.
func peaks(ctx context.Context, newCmd func() (*exec.Cmd, error)) ([]float64, error) {
	var all []float64
	for i := range 1 + peakRounds {
		cmd, err := newCmd()
		if err != nil {
			return nil, err
		}
		n, err := peak(ctx, cmd)
		if in, ok := cmd.Stdin.(io.Closer); ok {
			err = errors.Join(err, in.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:min(3, len(cmd.Args))], " "), err)
		}
		if i > 0 {
			all = append(all, float64(n))
		}
	}
	return all, nil
}

// grow appends n events one by one to a new conversation in the repository dir. With packed they go into
// packs instead of a loose object each.
func grow(ctx context.Context, dir string, n int, packed bool) error {
	corpus, err := readCorpus(goSource(), 1<<20)
	if err != nil {
		return err
	}
	repo, err := gitcmd.Locate(ctx, dir, gitcmd.Options{})
	if err != nil {
		return err
	}
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	write := func() error {
		return appendEach(ctx, store, conversationID(0), newMix(corpus, 1), func(made int) bool { return made < n })
	}
	if packed {
		return gitstore.Collection{Store: store}.Do(ctx, write)
	}
	return write()
}

// appendEach makes a conversation of single events, as long as it is to have more.
func appendEach(ctx context.Context, store *gitstore.Store, id conversation.ID, m *eventGenerator, more func(made int) bool) error {
	head, err := store.Create(ctx, id, "", m.take(1))
	for i := 1; more(i) && err == nil; i++ {
		head, err = store.Append(ctx, id, head, m.take(1))
	}
	return err
}

// peakIn finds the peak in the /proc status of a process, in bytes. Unlike wait's value for a child, it
// begins anew with the program instead of with its parent's peak.
func peakIn(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" && f[2] == "kB" {
			kilobytes, err := strconv.ParseInt(f[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errNoPeak
}
