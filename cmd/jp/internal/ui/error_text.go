package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// TypedFor adapts the hints to the directory in which the command was typed: their jp and git commands
// then act in the directory to which -C has sent this command. It may be called twice.
func TypedFor(f *problem.Error, e *Env) *problem.Error {
	if !e.Elsewhere() {
		return f
	}
	for i, h := range f.Hints {
		f.Hints[i].Action = h.Action.In(e.Dir)
	}
	return f
}

// ReportProblem prints a failure for people or for programs; for people on lines of as many columns as
// the terminal has, 0 if there is none.
func ReportProblem(f *problem.Error, w io.Writer, asJSON bool, columns int) {
	switch {
	case f.Silent:
	case asJSON:
		line, err := json.Marshal(map[string]any{"error": problemObject(f)})
		if err == nil {
			fmt.Fprintf(w, "%s\n", safetext.EscapeJSON(line))
		}
	default:
		fmt.Fprint(w, problemText(f, columns))
	}
}

func problemObject(f *problem.Error) map[string]any {
	o := map[string]any{"code": f.Code, "message": f.Message, "exit": f.Exit, "hints": f.Hints}
	if f.Hints == nil {
		o["hints"] = []problem.Hint{}
	}
	if f.Conversation != "" {
		o["conversation"] = f.Conversation
	}
	return o
}

func problemText(f *problem.Error, columns int) string {
	var b strings.Builder
	if f.Wanted {
		fmt.Fprintf(&b, "%s\n", problem.Sentence(safetext.Clean(f.Message)))
	} else {
		fmt.Fprintf(&b, "Error: %s\n", safetext.Clean(f.Message))
	}
	for _, line := range f.Details {
		fmt.Fprintf(&b, "  %s\n", safetext.Clean(line))
	}
	if len(f.Hints) > 0 {
		b.WriteByte('\n')
	}
	return terminal.Wrap(b.String(), columns) + hintLines(f.Hints, columns)
}

// Room for a hint's text beside its command: less, and it goes below.
const (
	hintIndent = 4
	hintGap    = 3
	hintText   = 24
)

// hintLines are commands and their effects, in two columns if there is room for them. No command is
// broken that fits a line, so that it can be copied.
func hintLines(hints []problem.Hint, columns int) string {
	width, widest := 0, 0
	for _, h := range hints {
		width = max(width, safetext.Columns(safetext.Clean(h.Action.String())))
		widest = max(widest, safetext.Columns(safetext.Clean(h.Text)))
	}
	var b strings.Builder
	beside := columns <= 0 || hintIndent+width+hintGap+min(widest, hintText) <= columns
	for _, h := range hints {
		command, text := safetext.Clean(h.Action.String()), safetext.Clean(h.Text)
		if beside {
			line := strings.Repeat(" ", hintIndent) + command + strings.Repeat(" ", width-safetext.Columns(command)+hintGap) + text
			b.WriteString(terminal.WrapBelow(line, hintIndent+width+hintGap, columns) + "\n")
			continue
		}
		b.WriteString(terminal.WrapCommand(command, columns, hintIndent) + "\n")
		b.WriteString(terminal.Wrap(strings.Repeat(" ", hintIndent+2)+text, columns) + "\n")
	}
	return b.String()
}
