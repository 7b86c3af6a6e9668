package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

func newShowCommand(e *ui.Env) *cobra.Command {
	var asked, ref bool
	var lines string
	cmd := &cobra.Command{
		Use: "show [ID][@E]", Short: "Show a conversation's facts, or one event in full", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: `Show a conversation's title, model, usage and state. With @E show one event in
full, with its changes. E is a number (@14), from the end (@-1), @turn:3, the
beginning of a commit (@3f2a9c1), or a time (@2h). COMMIT in place of ID is a
commit of yours that names an event in its trailers. --instructions shows the AGENTS.md
files that the model had by then. --ref prints only the name of the conversation's ref, or
with @E the event's commit, for git commands. --lines shows lines of an event's text, with those that
jp left out of what it sent.

Exit codes: 0 done · 2 usage, or this session has no conversation ·
5 no such conversation or event, or it is incomplete here · 6 damaged`,
		Example: "  jp show\n  jp show @14\n  jp show 4400@turn:2\n  jp show --instructions @14\n  git diff $(jp show --ref @9) $(jp show --ref @30)",
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref {
				return runRef(cmd.Context(), e, strings.Join(args, ""))
			}
			if asked {
				return showInstructions(cmd.Context(), e, strings.Join(args, ""))
			}
			return runShow(cmd.Context(), e, strings.Join(args, ""), lines)
		},
	}
	cmd.Flags().StringVar(&lines, "lines", "", "only line `N, or A..B` of the event's text, with what jp left out")
	cmd.Flags().BoolVar(&asked, "instructions", false, "show the files of instructions that the model worked by")
	cmd.Flags().BoolVar(&ref, "ref", false, "print only the ref's name, or the event's commit")
	cmd.MarkFlagsMutuallyExclusive("instructions", "lines", "ref")
	return cmd
}

func runShow(ctx context.Context, e *ui.Env, word, lines string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if word, err = blame.Followed(ctx, e.Host, r, word); err != nil {
		return err
	}
	target, event := repo.SplitTarget(word)
	if event == "" && lines != "" {
		return problem.Usage("--lines needs an event, such as @14.")
	}
	if event == "" {
		return ui.ShowConversation(ctx, r, target, e)
	}
	v, found, err := r.Find().ViewEvent(ctx, e.Host, word)
	if err != nil {
		return err
	}
	if e.Format.Structured() {
		line, err := conversation.ViewJSON(found, v.ID, v.Incomplete(found))
		if err == nil {
			_, err = fmt.Fprintf(e.Results(), "%s\n", line)
		}
		return err
	}
	if lines != "" {
		text, _ := found.Text()
		text = strings.TrimSuffix(safetext.RevealOutput(v.Output(ctx, found, text)), "\n")
		all := strings.Split(text, "\n")
		a, b, isRange := strings.Cut(lines, "..")
		if !isRange {
			b = a
		}
		from, err := strconv.Atoi(a)
		to, err2 := strconv.Atoi(b)
		if err != nil || err2 != nil || from < 1 || to < from {
			return problem.Usage("invalid --lines %q (want a line, or the first and the last one as A..B).", lines)
		}
		if from > len(all) {
			return problem.Usage("event %d has %s.", found.Seq, conversation.Count(len(all), "line"))
		}
		return e.Paged(func(w io.Writer) error {
			_, err := fmt.Fprintln(w, strings.Join(all[from-1:min(to, len(all))], "\n"))
			return err
		})
	}
	return e.Paged(func(w io.Writer) error { return e.OnScreen(v).PrintEvent(ctx, w, found) })
}
