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
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Targets of the grep rows.
const (
	grepTarget = 1.5 // of the time of ripgrep
	coldTarget = 10  // of a search that finds its sidecars
)

// planted stands in few events, and nowhere in the corpus.
const planted = "Zygomorphic Quokka"

// A sought is a text to search for, and how often it occurs.
type sought struct{ name, text string }

var soughts = []sought{
	{"a rare word", planted},
	{"a word that is not there", "Zygomorphic Numbat"},
	{"an everyday word", "deadlock"},
	{"a word in every conversation", "context"},
}

// grepOf measures whole processes that search n conversations of m events each,
// packed by git, against ripgrep over the same events as JSONL.
func grepOf(n, m int) func(context.Context, *bench, place) ([]row, error) {
	return func(ctx context.Context, b *bench, _ place) ([]row, error) {
		if _, err := exec.LookPath("rg"); err != nil {
			return nil, fmt.Errorf("ripgrep is not here (apt-get install ripgrep): %w", err)
		}
		if b.quick {
			n, m = n/20, m/4
		}
		g, err := b.newGreps(ctx, n, m)
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
	_, err = git(ctx, g.repo.TopLevel, "gc", "-q")
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
	began := time.Now()
	if err := g.search(ctx, planted); err != nil {
		return nil, err
	}
	cold := time.Since(began)
	name := fmt.Sprintf("grep %s × %s events", grouped(n), grouped(m))
	var rows []row
	for _, s := range soughts {
		took, err := rounds(ctx, b.rng, b.processes, []side{
			{name: "jp", block: 2, run: func(ctx context.Context) error { return g.search(ctx, s.text) }},
			{name: "rg", block: 2, run: func(ctx context.Context) error { return g.rival(ctx, s.text) }},
		})
		if err != nil {
			return nil, err
		}
		r := row{
			Name: name + ", " + s.name, RivalName: "rg -F -S", Unit: seconds, Target: grepTarget,
			JP: took["jp"].median().Seconds(), Rival: took["rg"].median().Seconds(),
		}
		rows = append(rows, r)
		if s.text == planted {
			rows = append(rows, row{
				Name: name + ", without sidecars (once)", RivalName: "with them", Unit: seconds, Target: coldTarget,
				JP: cold.Seconds(), Rival: r.JP,
			})
		}
	}
	return rows, nil
}

// search and rival read what they find through a pipe, as a pager would.
func (g *greps) search(ctx context.Context, text string) error {
	return drained(exec.CommandContext(ctx, g.jp, "grep", text), g.repo.TopLevel)
}

func (g *greps) rival(ctx context.Context, text string) error {
	return drained(exec.CommandContext(ctx, "rg", "-F", "-S", "--no-config", text), g.lines)
}

// drained runs a search; that it found nothing is no error.
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
