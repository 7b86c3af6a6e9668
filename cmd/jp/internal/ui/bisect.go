package ui

import (
	"context"
	"fmt"
	"io"

	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/fork"
	"jp/internal/safetext"
)

// ShowBisect writes the state of a bisection: the files to test, the first bad event with its difference, or the events
// of which one is the first bad one. The last is an error.
func (v *ScreenView) ShowBisect(ctx context.Context, b *fork.Bisection) error {
	e := v.Env
	step, dir := b.Testing()
	suspects := b.Suspects()
	found := step == nil && len(suspects) == 1
	if e.Format.Structured() {
		o := map[string]any{
			"conversation": b.View.Name(), "state": "undecided", "first": nil, "suspects": nil, "left": b.Left(), "testing": nil, "folder": nil,
			"because": nil, "for": nil, "allowed": nil, "tool": nil, "commit": nil,
		}
		seqs := []int{}
		for _, s := range suspects {
			seqs = append(seqs, s.Seq)
		}
		o["suspects"] = seqs
		switch {
		case step != nil:
			o["state"], o["folder"] = "testing", dir
			if step.Event != nil {
				o["testing"] = step.Event.Seq
			}
		case found:
			line := blame.Explained(b.View, suspects[0]).Object(true)
			for _, key := range []string{"because", "for", "allowed", "tool", "commit"} {
				o[key] = line[key]
			}
			o["state"], o["first"] = "found", suspects[0].Seq
		}
		if err := WriteJSON(e.Results(), o); err != nil || step != nil || found {
			return err
		}
		return b.Undecided()
	}
	switch {
	case step != nil:
		_, err := fmt.Fprintf(e.Results(), "The files of %s are in %s.\nTest them, then run jp bisect good, bad or skip. %d left. jp bisect reset ends it.\n",
			step.Name(), safetext.Clean(dir), b.Left())
		return err
	case !found:
		return b.Undecided()
	}
	if dir != "" {
		defer e.Note("jp bisect reset takes %s away.", safetext.Clean(dir))
	}
	return e.Paged(func(w io.Writer) error {
		if err := explain(w, v.Palette, v.Palette.Bold("first bad event of "+b.View.Name()), blame.Explained(b.View, suspects[0])); err != nil {
			return err
		}
		return v.printChanges(ctx, w, suspects[0])
	})
}

// explain writes all facts about the author of lines, below a title.
func explain(w io.Writer, p terminal.Palette, title string, l blame.BlamedLine) error {
	rows, width := l.Explain(), 0
	for _, r := range rows {
		width = max(width, safetext.Columns(r[1]))
	}
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	for _, r := range rows {
		_, err := fmt.Fprintf(w, "  %-7s  %s%*s  %s\n", r[0], p.Yellow(r[1]), width-safetext.Columns(r[1]), "", safetext.Clean(r[2]))
		if err != nil {
			return err
		}
	}
	return nil
}
