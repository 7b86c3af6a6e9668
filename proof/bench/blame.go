package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// Files and conversations of the rows of jp blame.
const (
	blamedFiles    = 100   // in the repository
	blamedLines    = 1_000 // of the file that all conversations edit
	otherLines     = 300   // of the others
	editedLines    = 8     // at once
	eventsEach     = 50
	betweenCommits = 100 // conversations from one commit to the next
)

// Targets of these rows.
const (
	firstBlameTarget = 2 // × jp verify --all
	warmBlameTarget  = 0.1
	mostOfBlame      = 150 << 20
)

// blameOf measures jp blame of a file of 1,000 lines among n conversations that edit files.
func blameOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		jp, err := b.buildJP(ctx)
		if err != nil {
			return nil, err
		}
		repo, err := b.editedRepo(ctx, n)
		if err != nil {
			return nil, err
		}
		dir, blamed := repo.TopLevel, []string{"blame", nameOfEdited(0)}
		forget := func() error { return os.RemoveAll(filepath.Join(repo.CommonDir, "jp", "blame")) }
		first := processorSide("first", dir, jp, blamed...)
		first.prepare = forget
		all, err := rounds(ctx, b.rng, listRounds, []side{first, processorSide("jp verify --all, CPU", dir, jp, "verify", "--all")})
		if err != nil {
			return nil, err
		}
		warm, err := rounds(ctx, b.rng, listRounds, []side{
			{name: "warm", block: 6, run: func(ctx context.Context) error { return drained(exec.CommandContext(ctx, jp, blamed...), dir) }},
			{name: startOfJP, block: 6, run: func(ctx context.Context) error { return drained(exec.CommandContext(ctx, jp, "version"), dir) }},
			processorSide("warm, CPU", dir, jp, blamed...),
		})
		if err != nil {
			return nil, err
		}
		ours, err := peaks(ctx, func() (*exec.Cmd, error) {
			cmd := exec.Command(jp, blamed...)
			cmd.Dir = dir
			return cmd, forget()
		})
		if err != nil {
			return nil, err
		}
		theirs, err := peaks(ctx, in(dir, jp, "verify", "--all"))
		names := named(blameNames, n*eventsEach)
		wall := warm.row(names[1], "warm", startOfJP).within(warmBlameTarget)
		memory := sized(names[3], "jp verify --all", ours, theirs).within(mostOfBlame)
		wall.Alone, memory.Alone = true, true
		return []row{all.row(names[0], "first", "jp verify --all, CPU").within(firstBlameTarget), wall, warm.row(names[2], "warm, CPU", startOfJP), memory}, err
	}
}

// editedRepo makes a repository with n conversations whose tools edit its files. From time to time the user commits.
func (b *bench) editedRepo(ctx context.Context, n int) (gitcmd.Repository, error) {
	repo, err := b.newRepo(ctx, b.scratch)
	if err != nil {
		return repo, err
	}
	if err := keepStoreKey(); err != nil {
		return repo, err
	}
	store, err := openUsersStore(repo)
	if err != nil {
		return repo, err
	}
	defer store.Close()
	f := &editedFiles{format: repo.ObjectFormat, m: newMix(b.corpus, 1), texts: make([][]string, blamedFiles), oids: make([]odb.OID, blamedFiles)}
	for i := range f.texts {
		f.texts[i] = f.lines(otherLines)
		if i == 0 {
			f.texts[i] = f.lines(blamedLines)
		}
	}
	for from := 0; from < n; from += betweenCommits {
		head, err := f.commit(ctx, repo)
		if err != nil {
			return repo, err
		}
		committed := slices.Clone(f.texts)
		err = gitstore.Collection{Store: store}.Do(ctx, func() error {
			for i := from; i < min(n, from+betweenCommits); i++ {
				copy(f.texts, committed)
				if _, err := store.Create(ctx, conversationID(i), head, f.conversation(i, head)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return repo, err
		}
	}
	_, err = f.commit(ctx, repo)
	return repo, err
}

// editedFiles are the files as a conversation left them.
type editedFiles struct {
	format gitcmd.ObjectFormat
	m      *eventGenerator
	texts  [][]string // the lines of each file
	oids   []odb.OID
}

func nameOfEdited(i int) string { return fmt.Sprintf("%02d.go", i) }

// lines are some lines of the corpus.
func (f *editedFiles) lines(n int) []string {
	var lines []string
	for len(lines) < n {
		lines = append(lines, strings.SplitAfter(strings.TrimSuffix(f.m.text(resultText), "\n")+"\n", "\n")...)
		lines = lines[:len(lines)-1]
	}
	return lines[:n]
}

func (f *editedFiles) commit(ctx context.Context, repo gitcmd.Repository) (head string, err error) {
	for i, lines := range f.texts {
		text := strings.Join(lines, "")
		f.oids[i] = odb.HashObject(f.format, "blob", []byte(text))
		if err := os.WriteFile(filepath.Join(repo.TopLevel, nameOfEdited(i)), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"add", "."}, {"commit", "-q", "-m", "work"}, {"rev-parse", "HEAD"}} {
		if head, err = git(ctx, repo.TopLevel, args...); err != nil {
			return "", err
		}
	}
	return head, nil
}

// tree is the folder of the files.
func (f *editedFiles) tree() conversation.Object {
	var b bytes.Buffer
	for i, oid := range f.oids {
		raw, _ := hex.DecodeString(string(oid)) // it was encoded
		fmt.Fprintf(&b, "100644 %s\x00%s", nameOfEdited(i), raw)
	}
	return conversation.Object{Kind: "tree", OID: string(odb.HashObject(f.format, "tree", b.Bytes())), Data: b.Bytes()}
}

// conversation is a conversation each of whose calls replaces some lines, first in the first file.
func (f *editedFiles) conversation(n int, head string) []*conversation.Event {
	m := newMix(f.m.corpus, 0.5).later(time.Duration(n) * time.Minute)
	m.at = n * 4096 % len(m.corpus)
	committed := slices.Clone(f.oids)
	defer copy(f.oids, committed)
	events, tree, file := m.take(eventsEach), f.tree().OID, 0
	events[0].Git = &conversation.Git{Head: head, Branch: "main"}
	for _, e := range events {
		if response, is := e.Body.(*conversation.ToolCallResponse); is {
			response.Name = "fs_modify_file"
			lines := slices.Clone(f.texts[file])
			at := m.rng.IntN(len(lines) - editedLines)
			f.texts[file] = slices.Replace(lines, at, at+editedLines, f.lines(editedLines)...)
			text := []byte(strings.Join(f.texts[file], ""))
			f.oids[file] = odb.HashObject(f.format, "blob", text)
			made := f.tree()
			e.Objects, tree = []conversation.Object{{Kind: "blob", OID: string(f.oids[file]), Data: text}, made}, made.OID
			file = m.rng.IntN(blamedFiles)
		}
		e.Tree = tree
	}
	return events
}
