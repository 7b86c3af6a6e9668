package main

import (
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/search"
)

// A grepOutput shows the matches of conversations, one conversation after the other.
type grepOutput interface {
	show(search.Result) error
	close() error
}

// output chooses the form of the result.
func (g *grep) output(w io.Writer) grepOutput {
	palette := g.env.Palette(g.env.Stdout)
	switch {
	case g.env.Format.Structured():
		buffer := ui.Gather(w)
		return &grepRows{grep: g, buffer: buffer, rows: ui.NewJSONRows(buffer, g.env.Format)}
	case ui.IsTerminal(g.env.Stdout) && g.env.Format == ui.FormatAuto && !g.opts.list && !g.opts.count:
		return &grepScreen{grep: g, w: w, palette: palette, width: terminal.Width(g.env.Stdout, g.env.Environ)}
	}
	return &grepText{grep: g, w: w, palette: palette}
}

// adjoin reports whether two lines stand one below the other in an event.
func adjoin(a, b search.Line) bool { return a.Seq == b.Seq && b.Number == a.Number+1 }

// hasContext reports whether lines are shown besides those that match.
func (o grepOptions) hasContext() bool { return o.before+o.after > 0 }

// incomplete reports whether a line belongs to an incomplete turn.
func incomplete(i conversation.Info, l search.Line) bool {
	return i.Tip != nil && i.Summary.Status != conversation.StatusIdle && l.Seq >= 0 && l.Turn == i.Tip.Turn
}

const incompleteMark = "  ⏳"

// grepText writes lines for programs that cut them apart.
type grepText struct {
	*grep
	w       io.Writer
	palette terminal.Palette
	wrote   bool
}

func (t *grepText) close() error { return nil }

func (t *grepText) show(r search.Result) (err error) {
	switch {
	case t.opts.list:
		_, err = fmt.Fprintln(t.w, r.Info.Name())
		return err
	case t.opts.count:
		_, err = fmt.Fprintf(t.w, "%s:%d\n", r.Info.Name(), r.Matches)
		return err
	}
	var out strings.Builder // a system call for each conversation, not for each line
	for i, l := range r.Lines {
		if t.opts.hasContext() && t.wrote && (i == 0 || !adjoin(r.Lines[i-1], l)) {
			out.WriteString("--\n")
		}
		t.wrote = true
		turn, seq, between, mark := "", "", "-", ""
		if l.Seq >= 0 {
			turn, seq = problem.Itoa(l.Turn), problem.Itoa(l.Seq)
		}
		if l.Match {
			between = ":"
		}
		if incomplete(r.Info, l) {
			mark = incompleteMark
		}
		text := terminal.Excerpt(l.Text, l.Submatches, t.palette.Found, 0)
		out.WriteString(strings.Join([]string{r.Info.Name(), turn, seq, string(l.Scope), text}, between) + ui.ForksMark(l) + mark)
		out.WriteByte('\n')
	}
	_, err = io.WriteString(t.w, out.String())
	return err
}

// grepRows writes JSON, that of one conversation after the other.
type grepRows struct {
	*grep
	buffer *ui.Gathered
	rows   *ui.JSONRows
}

func (j *grepRows) close() error {
	if err := j.rows.Close(); err != nil {
		return err
	}
	return j.buffer.Flush()
}

func (j *grepRows) show(r search.Result) error {
	if err := j.add(r); err != nil {
		return err
	}
	return j.buffer.Flush()
}

func (j *grepRows) add(r search.Result) error {
	switch {
	case j.opts.list:
		return j.rows.Add(r.Info.Name())
	case j.opts.count:
		return j.rows.Add(struct {
			ID    string `json:"id"`
			Count int    `json:"count"`
		}{r.Info.Name(), r.Matches})
	}
	for _, l := range r.Lines {
		if err := j.rows.Add(ui.NewFoundJSON(r.Info, l, incomplete(r.Info, l))); err != nil {
			return err
		}
	}
	return nil
}
