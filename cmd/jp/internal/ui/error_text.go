package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/safetext"
)

// TypedFor makes the hints right for where the command was typed: what jp or git is to
// do happens where -C has sent this command. It may be asked twice.
func TypedFor(f *problem.Error, e *Env) *problem.Error {
	if !e.Elsewhere() {
		return f
	}
	for i, h := range f.Hints {
		for _, program := range []string{"jp", "git"} {
			rest, found := strings.CutPrefix(h.Command, program+" ")
			if found && h.Command != repo.GitInitSHA1 && !strings.HasPrefix(rest, "-C ") && !strings.HasSuffix(rest, "--help") {
				f.Hints[i].Command = program + " -C " + safetext.Escape(e.Dir) + " " + rest
			}
		}
	}
	return f
}

// ReportProblem prints a failure for people or for programs.
func ReportProblem(f *problem.Error, w io.Writer, asJSON bool) {
	switch {
	case f.Silent:
	case asJSON:
		line, err := json.Marshal(map[string]any{"error": problemObject(f)})
		if err == nil {
			fmt.Fprintf(w, "%s\n", safetext.EscapeJSON(line))
		}
	default:
		fmt.Fprint(w, problemText(f))
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

func problemText(f *problem.Error) string {
	var b strings.Builder
	if f.Wanted {
		fmt.Fprintf(&b, "%s\n", problem.Sentence(safetext.Clean(f.Message)))
	} else {
		fmt.Fprintf(&b, "Error: %s\n", safetext.Clean(f.Message))
	}
	for _, line := range f.Details {
		fmt.Fprintf(&b, "  %s\n", safetext.Clean(line))
	}
	width := 0
	for _, h := range f.Hints {
		width = max(width, len([]rune(safetext.Clean(h.Command))))
	}
	if len(f.Hints) > 0 {
		b.WriteByte('\n')
	}
	for _, h := range f.Hints {
		fmt.Fprintf(&b, "    %-*s   %s\n", width, safetext.Clean(h.Command), safetext.Clean(h.Text))
	}
	return b.String()
}
