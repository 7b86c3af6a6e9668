package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/cmd/jp/internal/ui"
	"jp/instructions"
	"jp/internal/safetext"
)

// shownInstructions are the files of instructions in force at an event, for programs.
type shownInstructions struct {
	Conversation string                 `json:"conversation"`
	Seq          int                    `json:"seq"`
	Files        []shownInstructionFile `json:"files"`
}

type shownInstructionFile struct {
	Path   string `json:"path"`
	User   bool   `json:"user"`   // the user's own
	Nested bool   `json:"nested"` // given when a tool touched its folder
	OID    string `json:"oid"`
	Bytes  int64  `json:"bytes"`
	Cut    int64  `json:"cut"` // bytes that the model was given; 0: all
	Given  int    `json:"given"`
	Text   string `json:"text"`
}

// showInstructions prints the files of instructions that were in force at an event, in order.
func showInstructions(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	v, at, err := r.Find().ViewAt(ctx, e.Host, word)
	if err != nil {
		return err
	}
	events := v.Events
	if at != nil {
		events = events[:slices.Index(events, at)+1]
	}
	told := instructions.Follow(events)
	shown := shownInstructions{Conversation: string(v.ID), Files: []shownInstructionFile{}}
	if len(events) > 0 {
		shown.Seq = events[len(events)-1].Seq
	}
	for i, g := range told.All() {
		shown.Files = append(shown.Files, shownInstructionFile{
			Path: g.Path, User: g.User, Nested: i >= len(told.Turn), OID: g.OID, Bytes: g.Bytes, Cut: g.Cut, Given: g.Seq, Text: g.Text,
		})
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), shown)
	}
	if len(shown.Files) == 0 {
		_, err := fmt.Fprintf(e.Results(), "The model had no instructions at @%d.\n", shown.Seq)
		return err
	}
	return e.Paged(func(w io.Writer) error { return shown.write(w, e) })
}

func (s shownInstructions) write(w io.Writer, e *ui.Env) error {
	p := e.Palette(e.Stdout)
	for i, f := range s.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		facts := []string{fmt.Sprintf("given @%d", f.Given), fmt.Sprintf("blob %.12s", f.OID), fmt.Sprintf("%d bytes", f.Bytes)}
		if f.Cut > 0 {
			facts[2] = fmt.Sprintf("the first %d of %d bytes", f.Cut, f.Bytes)
		}
		if f.User {
			facts = append(facts, "yours")
		}
		if f.Nested {
			facts = append(facts, "on first use of its folder")
		}
		fmt.Fprintf(w, "%s  %s\n\n", p.Bold(safetext.Show(f.Path)), p.Dim(strings.Join(facts, " · ")))
		if _, err := fmt.Fprintf(w, "%s\n", strings.TrimRight(safetext.RevealOutput(f.Text), "\n")); err != nil {
			return err
		}
	}
	return nil
}
