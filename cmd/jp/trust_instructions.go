package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
	"jp/internal/safetext"
)

// A trustInstruction is a file of instructions that is not as it was committed, for programs.
type trustInstruction struct {
	Path       string                `json:"path"`
	State      contextfiles.Decision `json:"state"`
	Committed  bool                  `json:"committed"` // HEAD has another content
	Difference string                `json:"difference"`
}

func runTrustInstructions(ctx context.Context, e *ui.Env, o trustOptions) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.At.TopLevel == "" {
		return problem.Usage("a bare repository has no files of instructions.")
	}
	if !o.show && toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	files, err := snapshot.UnwatchedFiles(ctx, r)
	if err != nil {
		return err
	}
	if files.Root, err = os.OpenRoot(r.At.TopLevel); err != nil {
		return err
	}
	defer files.Root.Close()
	source := contextfiles.OpenInstructions(r, files, e.Dir, false)
	if o.revoke {
		done, err := source.Forget()
		if err == nil {
			said := "No file of instructions was decided about here."
			if done {
				said = "What you said about files of instructions here is forgotten."
			}
			_, err = fmt.Fprintln(e.Messages(), said)
		}
		return err
	}
	found, err := source.Differences(ctx)
	if err != nil {
		return err
	}
	if !o.show {
		for _, d := range found {
			if source.State(d) == contextfiles.StateApproved {
				continue
			}
			if !o.yes {
				if err := e.Confirm(ctx, ui.Confirmation{
					List: func(w io.Writer, p terminal.Palette) {
						fmt.Fprintf(w, "%s\n%s\n", p.Bold(safetext.Show(d.File.Path)+", which tells the model how to work:"), d.Short())
					},
					Question: "Give it to the model as it is?",
					Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask whether the model gets %s.", safetext.Show(d.File.Path)).
						Hint(action.TrustRulesShow, "what differs from the committed files").Hint(action.TrustRulesNow, "approve the files as they are"),
				}); err != nil {
					return err
				}
			}
			if err := source.Decide(d.File, true); err != nil {
				return err
			}
		}
	}
	return tellInstructions(e, source, found, o.show)
}

// tellInstructions writes the files. With strict it returns an error if one is not approved.
func tellInstructions(e *ui.Env, source *contextfiles.Instructions, found []contextfiles.Difference, strict bool) error {
	all, approved := []trustInstruction{}, true
	for _, d := range found {
		state := source.State(d)
		approved = approved && state == contextfiles.StateApproved
		all = append(all, trustInstruction{d.File.Path, state, d.Committed != nil, d.Text()})
	}
	var err error
	if e.Format.Structured() {
		err = ui.WriteJSON(e.Results(), map[string]any{"files": all})
	} else {
		if len(all) == 0 {
			_, err = fmt.Fprintln(e.Results(), "The files of instructions here are as committed.")
		}
		for _, f := range all {
			if err == nil {
				_, err = fmt.Fprintf(e.Results(), "%s: %s\n", safetext.Show(f.Path), f.State)
			}
			for line := range strings.Lines(f.Difference) {
				if err == nil {
					_, err = fmt.Fprintf(e.Results(), "  %s", line)
				}
			}
		}
	}
	if err == nil && strict && !approved {
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	return err
}
