package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

func newShowCommand(e *ui.Env) *cobra.Command {
	var asked bool
	var lines string
	cmd := &cobra.Command{
		Use: "show [ID][@E]", Short: "Show a conversation's facts, or one event in full", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: `Show a conversation's title, model, usage and state. With @E show one event in
full, with its changes. E is a number (@14), from the end (@-1), @turn:3, the
beginning of a commit (@3f2a9c1), or a time (@2h). --instructions shows the AGENTS.md
files that the model had by then. --lines shows lines of an event's text, with those that
jp left out of what it sent.

Exit codes: 0 done · 2 usage, or this session has no conversation ·
5 no such conversation or event, or it is incomplete here · 6 damaged`,
		Example: "  jp show\n  jp show @14\n  jp show 4400@turn:2\n  jp show --instructions @14",
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked {
				return showInstructions(cmd.Context(), e, strings.Join(args, ""))
			}
			return runShow(cmd.Context(), e, strings.Join(args, ""), lines)
		},
	}
	cmd.Flags().StringVar(&lines, "lines", "", "only line `N, or A..B` of the event's text, with what jp left out")
	cmd.Flags().BoolVar(&asked, "instructions", false, "show the files of instructions that the model worked by")
	cmd.MarkFlagsMutuallyExclusive("instructions", "lines")
	return cmd
}

func runShow(ctx context.Context, e *ui.Env, word, lines string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	target, event := repo.SplitTarget(word)
	if event == "" && lines != "" {
		return problem.Usage("--lines needs an event, such as @14.")
	}
	if event == "" {
		return showConversation(ctx, e, r, target)
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
		return showLines(ctx, e, v, found, lines)
	}
	return e.Paged(func(w io.Writer) error { return showEvent(ctx, e.OnScreen(v), w, found) })
}

// showLines prints lines of an event's text, of a tool's output all that jp kept.
func showLines(ctx context.Context, e *ui.Env, v *repo.View, found *conversation.Event, asked string) error {
	text, _ := found.Text()
	text = strings.TrimSuffix(safetext.RevealOutput(v.Output(ctx, found, text)), "\n")
	all := strings.Split(text, "\n")
	a, b, isRange := strings.Cut(asked, "..")
	if !isRange {
		b = a
	}
	from, err := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	if err != nil || err2 != nil || from < 1 || to < from {
		return problem.Usage("invalid --lines %q (want a line, or the first and the last one as A..B).", asked)
	}
	if from > len(all) {
		return problem.Usage("event %d has %s.", found.Seq, conversation.Count(len(all), "line"))
	}
	return e.Paged(func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(all[from-1:min(to, len(all))], "\n"))
		return err
	})
}

// A shownConversation is a conversation for programs.
type shownConversation struct {
	repo.Summary
	Context *agent.ContextShare `json:"context"`
}

func showConversation(ctx context.Context, e *ui.Env, r *repo.Repo, target string) error {
	r.States().Sweep(ctx, e.Host)
	info, err := r.Find().Known(ctx, e.Host, target)
	if err != nil && info.Head != "" {
		return r.AboutDamage(ctx, err, info)
	}
	if err != nil {
		return err
	}
	l := r.States().List(ctx, info)
	newest, newestErr := r.Find().ViewBack(ctx, e.Host, l.ID, agent.KnowsContext)
	if e.Format.Structured() {
		shown := shownConversation{Summary: l}
		if newestErr == nil {
			shown.Context = agent.ContextOf(ctx, r, newest.Events)
		}
		return ui.WriteJSON(e.Results(), shown)
	}
	facts := [][2]string{
		{"Conversation", l.ID}, {"Title", repo.Title(l)}, {"Status", l.Status.Words()},
		{"Turns", fmt.Sprintf("%d (%s)", l.Turns, conversation.Count(l.Events, "event"))}, {"Model", repo.Plain(l.Model)},
		{"Created", l.Created.In(e.Now().Location()).Format(time.DateTime)},
		{"Last event", l.Active().In(e.Now().Location()).Format(time.DateTime)},
		{"Ref", l.Ref}, {"Head", string(l.Head)},
	}
	if l.ForkedFrom != nil {
		facts = append(facts, [2]string{"Fork of", fmt.Sprintf("%s@%d", l.ForkedFrom.ID, l.ForkedFrom.Seq)})
	}
	if l.Parent != nil {
		facts = append(facts, [2]string{"Works for", string(*l.Parent)})
	}
	facts = append(facts, marks(l, e.Now())...)
	if words := r.Standings().Origin(ctx, info, l); words != "" {
		facts = append(facts, [2]string{"Origin", words + ": it can be read, not continued"})
	}
	if l.Usage.Input+l.Usage.Output > 0 {
		facts = append(facts, [2]string{"Usage", conversation.Tokens(l.Usage.Input) + " in, " + conversation.Tokens(l.Usage.Output) + " out"})
	}
	if newestErr == nil {
		if used := agent.ContextUsed(ctx, r, newest.Events); used != "" {
			facts = append(facts, [2]string{"Context", used})
		}
	}
	p := e.Palette(e.Stdout)
	for _, f := range facts {
		if _, err := fmt.Fprintf(e.Results(), "%s %s\n", p.Dim(fmt.Sprintf("%-13s", f[0])), problem.OneLine(f[1])); err != nil {
			return err
		}
	}
	return nil
}

// marks are what the user has said about a conversation.
func marks(l repo.Summary, now time.Time) (facts [][2]string) {
	for _, m := range []struct {
		name string
		at   *time.Time
	}{{"Pinned", l.Pinned}, {"Archived", l.Archived}, {"Expires", l.Expires}} {
		if m.at == nil {
			continue
		}
		text := m.at.In(now.Location()).Format(time.DateTime)
		if m.name == "Expires" && m.at.Before(now) {
			text += " (expired)"
		}
		facts = append(facts, [2]string{m.name, text})
	}
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		facts = append(facts, [2]string{"Label", key + "=" + l.Labels[key]})
	}
	return facts
}

// showEvent prints one event in full.
func showEvent(ctx context.Context, v *ui.ScreenView, w io.Writer, e *conversation.Event) error {
	fmt.Fprintf(w, "%s %s\n", v.Palette.Yellow(fmt.Sprintf("@%d", e.Seq)), v.Palette.Bold(safetext.Clean(e.Subject)))
	for _, f := range [][2]string{
		{"Type", string(e.Type())}, {"Turn", problem.Itoa(e.Turn)}, {"By", safetext.Clean(e.Author)},
		{"Time", e.Time.In(v.Env.Now().Location()).Format(time.RFC3339)}, {"Commit", e.Commit}, {"Tree", e.Tree},
	} {
		fmt.Fprintf(w, "%s %s\n", v.Palette.Dim(fmt.Sprintf("%-7s", f[0])), f[1])
	}
	if why := ui.Unanswered(e); why != "" {
		fmt.Fprintf(w, "%s %s\n", v.Palette.Dim("Reason "), safetext.Clean(strings.Join(strings.Fields(why), " ")))
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
	var left snapshot.Unseen
	if left.Follow(e); !left.None() {
		fmt.Fprintf(w, "\n%s %s\n", v.Palette.Dim("changed, but in no snapshot:"), left.Words(200, true))
	}
	return showChanges(ctx, v, w, e)
}

// showChanges prints what an event changed in the files.
func showChanges(ctx context.Context, v *ui.ScreenView, w io.Writer, e *conversation.Event) (err error) {
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
	return printPatch(ctx, v, w, blame.Entry{Event: e, Before: before}, nil)
}
