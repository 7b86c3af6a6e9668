package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Targets of the grep rows.
const (
	grepTarget = 1.5 // of the time of ripgrep
	coldTarget = 1   // of the time of git log --grep
)

// planted is in few events, and not in the corpus.
const planted = "Zygomorphic Quokka"

// The numbers of conversations, and of events in each, for searches that can be short.
const (
	searchedBriefly = 100
	searchedEvents  = 200
)

// A sought is a text to search for, with the number of its occurrences.
type sought struct {
	name, text string
	regexp     bool
}

var soughts = []sought{
	{"rare word", planted, false},
	{"absent word", "Zygomorphic Numbat", false},
	{"everyday word", "deadlock", false},
	{"in every one", "context", false},
	{"regexp", "dead(lock|line)s?", true},
}

// grepOf measures whole processes that search n conversations of m events each,
// packed by git, against ripgrep over the same events as JSONL.
func grepOf(n, m int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		if _, err := exec.LookPath("rg"); err != nil {
			return nil, fmt.Errorf("%w: ripgrep (apt-get install ripgrep)", errAbsent)
		}
		g, err := b.greps(ctx, n, m)
		if err != nil {
			return nil, err
		}
		return g.rows(ctx, b, n, m)
	}
}

// greps are conversations to search, in both forms.
type greps struct {
	jp    string
	repo  gitcmd.Repository
	lines string // folder of the JSONL files
}

// greps makes conversations to search, once.
func (b *bench) greps(ctx context.Context, n, m int) (*greps, error) {
	key := [2]int{n, m}
	if g := b.sought[key]; g != nil {
		return g, nil
	}
	g, err := b.newGreps(ctx, n, m)
	if err != nil {
		return nil, fmt.Errorf("make %d conversations to search: %w", n, err)
	}
	b.sought[key] = g
	return g, nil
}

func (b *bench) newGreps(ctx context.Context, n, m int) (*greps, error) {
	g := &greps{}
	var err error
	if g.jp, err = b.buildJP(ctx); err != nil {
		return nil, err
	}
	if g.repo, err = b.newRepo(ctx, b.scratch); err != nil {
		return nil, err
	}
	if g.lines, err = b.newDir(b.scratch); err != nil {
		return nil, err
	}
	if err := keepStoreKey(); err != nil {
		return nil, err
	}
	if err := g.fill(ctx, b, n, m); err != nil {
		return nil, err
	}
	// Deltas would take minutes and save little: the texts of a conversation differ much.
	_, err = git(ctx, g.repo.TopLevel, "-c", "pack.window=0", "gc", "-q")
	return g, err
}

// keepStoreKey lets a jp of this run know the events as its user's own.
func keepStoreKey() error {
	key := filepath.Join(os.Getenv("HOME"), ".local/state/jp/key")
	return errors.Join(os.MkdirAll(filepath.Dir(key), 0o700), os.WriteFile(key, []byte(hex.EncodeToString(storeKey())), 0o600))
}

func (g *greps) fill(ctx context.Context, b *bench, n, m int) error {
	store, err := openStore(g.repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	for i := range n {
		mix := newMix(b.corpus, 1)
		mix.at = i * 65536 % len(b.corpus) // each says something else
		events := mix.take(m)
		if i%(n/9+1) == 0 {
			for _, e := range events {
				if body, ok := e.Body.(*conversation.ToolCallResponse); ok {
					body.Content += "\n" + planted + "\n"
					break
				}
			}
		}
		if _, err := store.Create(ctx, conversationID(i), "", events); err != nil {
			return err
		}
		if _, err := writeLines(filepath.Join(g.lines, fmt.Sprintf("%04d.jsonl", i)), events); err != nil {
			return err
		}
	}
	return nil
}

func (g *greps) rows(ctx context.Context, b *bench, n, m int) ([]row, error) {
	of := fmt.Sprintf("%s × %s events", grouped(n), grouped(m))
	var rows []row
	for _, s := range soughts {
		all, err := rounds(ctx, b.rng, b.processes, []side{
			{name: "jp", block: 2, run: func(ctx context.Context) error { return g.search(ctx, s) }},
			{name: "rg", block: 2, run: func(ctx context.Context) error { return g.rival(ctx, s) }},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, all.row("grep "+of+", "+s.name, "jp", "rg").within(grepTarget))
	}
	rows[0] = rows[0].grows(workGrep, n*m)
	first, err := g.first(ctx, b, n*m)
	if err != nil {
		return nil, err
	}
	return append(rows, first.row("first grep, "+of, "jp", firstRival).within(coldTarget)), nil
}

// firstRival is git's own search: without a copy, it reads all commits each time.
const firstRival = "git log --grep"

// first measures searches that make the sidecars anew. Those of before stay elsewhere: deleting many files
// slows down the making of others.
func (g *greps) first(ctx context.Context, b *bench, events int) (timings, error) {
	aside, err := b.newDir(b.scratch)
	if err != nil {
		return nil, err
	}
	searched := 0
	forget := func() error {
		searched++
		return os.Rename(filepath.Join(g.repo.CommonDir, "jp", "cache"), filepath.Join(aside, fmt.Sprint(searched)))
	}
	n := 3
	if events >= 1_000_000 {
		n = 1
	}
	return rounds(ctx, b.rng, n, []side{
		{name: "jp", block: 1, prepare: forget, run: func(ctx context.Context) error { return g.search(ctx, soughts[0]) }},
		{name: firstRival, block: 1, run: g.searchLog},
	})
}

// search and rival read their results through a pipe, as a pager would.
func (g *greps) search(ctx context.Context, s sought) error {
	return drained(exec.CommandContext(ctx, g.jp, g.searchArgs(s)...), g.repo.TopLevel)
}

func (g *greps) searchArgs(s sought) []string {
	if s.regexp {
		return []string{"grep", "-r", s.text}
	}
	return []string{"grep", s.text}
}

func (g *greps) rival(ctx context.Context, s sought) error {
	return drained(exec.CommandContext(ctx, "rg", g.rivalArgs(s)...), g.lines)
}

func (g *greps) rivalArgs(s sought) []string {
	if s.regexp {
		return []string{"-S", "--no-config", s.text}
	}
	return []string{"-F", "-S", "--no-config", s.text}
}

func (g *greps) searchLog(ctx context.Context) error {
	return gitTo(ctx, g.repo.TopLevel, nil, nil, "log", "--glob=refs/jp/conversations/*", "-F", "--grep="+planted, "--format=%H %s")
}

// drained runs a search. Finding nothing is no error.
func drained(cmd *exec.Cmd, dir string) error {
	var stdout counter
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// A counter is a writer that only counts.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
