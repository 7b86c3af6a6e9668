package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// PrintEvent prints one event in full.
func (v *ScreenView) PrintEvent(ctx context.Context, w io.Writer, e *conversation.Event) error {
	fmt.Fprintf(w, "%s %s\n", v.Palette.Yellow(fmt.Sprintf("@%d", e.Seq)), v.Palette.Bold(safetext.Clean(e.Subject)))
	for _, f := range [][2]string{
		{"Type", string(e.Type())}, {"Turn", problem.Itoa(e.Turn)}, {"By", safetext.Clean(e.Author)},
		{"Time", e.Time.In(v.Env.Now().Location()).Format(time.RFC3339)}, {"Commit", e.Commit}, {"Tree", e.Tree},
	} {
		fmt.Fprintf(w, "%s %s\n", v.Palette.Dim(fmt.Sprintf("%-7s", f[0])), f[1])
	}
	if why := Unanswered(e); why != "" {
		fmt.Fprintf(w, "%s %s\n", v.Palette.Dim("Reason "), safetext.OneLine(why))
	}
	if text, ok := e.Text(); ok && text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(safetext.RevealOutput(text), "\n"))
	}
	v.PrintRest(w, e)
	for _, p := range e.Payloads {
		read := ""
		if p.Name == conversation.PayloadOutput && !p.Absent {
			read = "   " + action.ShowLines(v.View.ID.Short(), problem.Itoa(e.Seq)).String()
		}
		fmt.Fprintf(w, "\n%s %s, %d bytes, blob %.10s%s%s\n", v.Palette.Dim("payload"), safetext.Clean(p.Name), p.Bytes, p.OID, repo.AbsentMark(p), read)
	}
	if words := snapshot.UnseenWords(v.View, 200)(e); words != "" {
		fmt.Fprintf(w, "\n%s %s\n", v.Palette.Dim("changed, but in no snapshot:"), words)
	}
	return v.printChanges(ctx, w, e)
}

func (v *ScreenView) printChanges(ctx context.Context, w io.Writer, e *conversation.Event) (err error) {
	before := ""
	if earlier := repo.BySeq(v.View.Events, e.Seq-1); earlier != nil {
		before = earlier.Tree
	} else if before, err = blame.Ground(ctx, v.View); err != nil {
		return err
	}
	if before == e.Tree {
		return nil
	}
	fmt.Fprintln(w)
	return v.PrintPatch(ctx, w, blame.Entry{Event: e, Before: before}, nil)
}

// PrintPatch prints the difference that an event made, of all paths or of some.
func (v *ScreenView) PrintPatch(ctx context.Context, w io.Writer, it blame.Entry, paths []string) error {
	tree, err := v.View.Repo.Patches(ctx)
	if err != nil {
		return err
	}
	patch, err := tree.Patch(ctx, it.Before, it.Event.Tree, paths, false)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, ColourPatch(v.Palette, safetext.Reveal(string(patch))))
	return err
}

// ColourPatch colours the lines of a diff.
func ColourPatch(p terminal.Palette, patch string) string {
	var b strings.Builder
	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(text, "+++") || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "diff ") {
			text = p.Bold(text)
		} else {
			text = p.Change(text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
