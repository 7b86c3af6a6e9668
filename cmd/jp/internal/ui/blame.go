package ui

import (
	"fmt"
	"io"

	"jp/agent/problem"
	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// ShowBlame writes the lines of a file with their writers, and for a single line all facts.
func ShowBlame(lines []blame.BlamedLine, single bool, e *Env) error {
	p := e.Palette(e.Stdout)
	if e.Format.Structured() {
		objects := []map[string]any{}
		for _, l := range lines {
			objects = append(objects, l.Object(single))
		}
		if single {
			return WriteJSON(e.Results(), objects[0])
		}
		return WriteJSON(e.Results(), objects)
	}
	return e.Paged(func(w io.Writer) error {
		if single {
			return explain(w, p, p.Bold(safetext.Reveal(lines[0].Text)), lines[0])
		}
		return printBlame(w, p, lines)
	})
}

// printBlame writes every line behind its writer and time, aligned.
func printBlame(w io.Writer, p terminal.Palette, lines []blame.BlamedLine) error {
	ref, author := 0, 0
	for _, l := range lines {
		ref, author = max(ref, safetext.Columns(l.Ref())), max(author, safetext.Columns(l.Author()))
	}
	author = min(author, 20)
	for _, l := range lines {
		who := safetext.Fit(l.Author(), author)
		_, err := fmt.Fprintf(w, "%s%*s %s%*s %s %*d) %s\n",
			p.Yellow(l.Ref()), ref-safetext.Columns(l.Ref()), "", who, author-safetext.Columns(who), "",
			p.Dim(fmt.Sprintf("%16s", l.When())), len(problem.Itoa(len(lines))), l.Number, safetext.Reveal(l.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

// ShowWhy writes the origin of a commit's lines.
func ShowWhy(why *blame.Explanation, e *Env) error {
	if e.Format.Structured() {
		return WriteJSON(e.Results(), why)
	}
	return e.Paged(func(w io.Writer) error {
		p := e.Palette(e.Stdout)
		_, err := fmt.Fprintf(w, "%s  %s\n", p.Yellow(why.Commit[:7]), safetext.Clean(why.Subject))
		for _, row := range why.Rows() {
			if err == nil {
				_, err = fmt.Fprintf(w, "  %s  %10s  %5s  %s\n", p.Yellow(fmt.Sprintf("%-6s", row[0])), row[1], row[2], row[3])
			}
		}
		for _, note := range why.Notes() {
			if err == nil {
				_, err = fmt.Fprintln(w, note)
			}
		}
		return err
	})
}
