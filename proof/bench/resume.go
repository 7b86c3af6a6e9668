package main

import (
	"bufio"
	"bytes"
	"context"
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

// Sides of the resume row.
const (
	resumeFirst = "jp continue, to the model's first word"
	resumeLoad  = "loading them"
)

// resumeTarget is how much more a resume of 10,000 events may cost than loading them. With few of them one
// measures mostly the rest.
const resumeTarget = 1.5

// resumeFiles is how many files the working tree has.
const resumeFiles = 1_000

// hanging is a script of a model that says one word and hangs, at each call.
const hanging = "[[reply]]\nmessage = \"Once\"\nhang = true\ntimes = 1000000\n"

// resumeOf measures a whole jp continue of a long conversation up to the first
// word of the model, against loading it in process.
func resumeOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		s, err := b.newStopped(ctx, n)
		if err != nil {
			return nil, err
		}
		all, err := rounds(ctx, b.rng, b.processes, []side{
			{name: resumeFirst, block: 2, run: s.resume},
			{name: resumeLoad, block: 2, run: s.load},
		})
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("resume at %s events, %s files", grouped(n), grouped(resumeFiles))
		r := all.row(name, resumeFirst, resumeLoad).grows(workResume, n)
		if n == 10_000 {
			r = r.within(resumeTarget)
		}
		return []row{r}, nil
	}
}

// A stopped is a long conversation, packed, whose last turn waits for the model.
type stopped struct {
	jp   string // the program
	repo gitcmd.Repository
	id   conversation.ID
}

func (b *bench) newStopped(ctx context.Context, n int) (*stopped, error) {
	s := &stopped{id: conversationID(n)}
	var err error
	if s.jp, err = b.buildJP(ctx); err != nil {
		return nil, err
	}
	if s.repo, err = b.newRepo(ctx, b.scratch); err != nil {
		return nil, err
	}
	if err := s.commitFiles(ctx); err != nil {
		return nil, err
	}
	script := filepath.Join(b.scratch, "hanging.toml")
	if err := errors.Join(os.WriteFile(script, []byte(hanging), 0o600), keepStoreKey()); err != nil {
		return nil, err
	}
	return s, s.fill(ctx, newMix(b.corpus, 1), n, "script/"+script)
}

func (s *stopped) commitFiles(ctx context.Context) error {
	for i := range resumeFiles {
		name := filepath.Join(s.repo.TopLevel, fmt.Sprintf("%02d", i%40), fmt.Sprintf("file-%04d.go", i))
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, fmt.Appendf(nil, "package p%d\n", i), 0o644))
		if err != nil {
			return err
		}
	}
	if _, err := git(ctx, s.repo.TopLevel, "add", "."); err != nil {
		return err
	}
	_, err := git(ctx, s.repo.TopLevel, "commit", "-q", "-m", "files")
	return err
}

// fill stores whole turns of at least n events, and behind them a request.
func (s *stopped) fill(ctx context.Context, m *eventGenerator, n int, model string) error {
	head, err := git(ctx, s.repo.TopLevel, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	tree, err := git(ctx, s.repo.TopLevel, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	branch, err := git(ctx, s.repo.TopLevel, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return err
	}
	events := m.take(n)
	events = append(events, m.take(len(m.queue))...)
	m.turn++
	m.add(&conversation.TurnStart{Model: model, JP: "0.1.0"})
	m.queue[0].Git = &conversation.Git{Head: head, Branch: branch}
	m.add(&conversation.ChatRequest{Content: "Go on."})
	events = append(events, m.take(2)...)
	events[0].Tree = tree
	store, err := openStore(s.repo, odb.Off)
	if err != nil {
		return err
	}
	if _, err = store.Create(ctx, s.id, head, events); err != nil {
		return errors.Join(err, store.Close())
	}
	_, gcErr := git(ctx, s.repo.TopLevel, "gc", "-q")
	return errors.Join(store.Close(), gcErr)
}

// resume runs jp continue until the model's first word is there, and kills it:
// the turn waits as before.
func (s *stopped) resume(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.jp, "continue", string(s.id), "--json", "--partial", "--non-interactive")
	cmd.Dir = s.repo.TopLevel
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	spoke := false
	for lines := bufio.NewScanner(out); !spoke && lines.Scan(); {
		spoke = strings.Contains(lines.Text(), `"type":"delta"`)
	}
	cancel()
	err = cmd.Wait() // it was killed
	if !spoke {
		return fmt.Errorf("jp continue said nothing: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

func (s *stopped) load(ctx context.Context) error {
	store, err := openStore(s.repo, odb.Full)
	if err != nil {
		return err
	}
	defer store.Close()
	head, err := store.Head(ctx, s.id)
	if err != nil {
		return err
	}
	_, err = store.Load(ctx, head)
	return err
}
