package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/internal/safetext"
)

func newShowCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "show [ID][@E]", Short: "Show a conversation's facts, or one event in full", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: "Show what is known of a conversation; with @E one of its events in full, with what it changed.\n" +
			"E is a number (@14), from the end (@-1), @turn:3, the beginning of a commit (@3f2a9c1), or a time (@2h).\n\n" +
			"Exit codes: 0 done · 2 usage, or this session has no conversation ·\n5 no such conversation or event, or it is incomplete here · 6 damaged",
		Example: "  jp show\n  jp show @14\n  jp show 4400@turn:2",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShow(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runShow(ctx context.Context, e *env, word string) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	target, event := splitTarget(word)
	if event == "" {
		return showConversation(ctx, e, r, target)
	}
	v, err := r.find().view(ctx, e.host, target)
	if err != nil {
		return err
	}
	found, err := selectEvent(v.events, event, v.id, e.now())
	if err != nil && v.broken != nil {
		return v.damage(nil) // it may be one of those that cannot be read
	}
	if err != nil {
		return err
	}
	if e.format.structured() {
		line, err := conversation.ViewJSON(found, v.id, v.incomplete(found))
		if err == nil {
			_, err = fmt.Fprintf(e.results(), "%s\n", line)
		}
		return err
	}
	return e.paged(func(w io.Writer) error { return e.onScreen(v).showEvent(ctx, w, found) })
}

func showConversation(ctx context.Context, e *env, r *repo, target string) error {
	r.states().sweep(ctx, e.host)
	info, err := r.find().known(ctx, e.host, target)
	if err != nil && info.Head != "" {
		return r.aboutDamage(ctx, err, info)
	}
	if err != nil {
		return err
	}
	l := r.states().list(ctx, info)
	if e.format.structured() {
		return writeJSON(e.results(), l)
	}
	facts := [][2]string{
		{"Conversation", l.ID}, {"Title", title(l)}, {"Status", l.Status.words()},
		{"Turns", fmt.Sprintf("%d (%s)", l.Turns, conversation.Count(l.Events, "event"))}, {"Model", plain(l.Model)},
		{"Created", l.Created.In(e.now().Location()).Format(time.DateTime)},
		{"Last event", l.active().In(e.now().Location()).Format(time.DateTime)},
		{"Ref", l.Ref}, {"Head", string(l.Head)},
	}
	if l.ForkedFrom != nil {
		facts = append(facts, [2]string{"Fork of", fmt.Sprintf("%s@%d", l.ForkedFrom.ID, l.ForkedFrom.Seq)})
	}
	if l.Parent != nil {
		facts = append(facts, [2]string{"Works for", string(*l.Parent)})
	}
	facts = append(facts, l.marks(e.now())...)
	if words := r.standings().origin(ctx, info, l); words != "" {
		facts = append(facts, [2]string{"Origin", words + ": it can be read, not continued"})
	}
	if l.Usage.Input+l.Usage.Output > 0 {
		facts = append(facts, [2]string{"Usage", conversation.Tokens(l.Usage.Input) + " in, " + conversation.Tokens(l.Usage.Output) + " out"})
	}
	p := e.palette(e.stdout)
	for _, f := range facts {
		if _, err := fmt.Fprintf(e.results(), "%s %s\n", p.Dim(fmt.Sprintf("%-13s", f[0])), oneLine(f[1])); err != nil {
			return err
		}
	}
	return nil
}

// marks are what the user has said about a conversation.
func (l listing) marks(now time.Time) (facts [][2]string) {
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
func (v *screenView) showEvent(ctx context.Context, w io.Writer, e *conversation.Event) error {
	fmt.Fprintf(w, "%s %s\n", v.palette.Yellow(fmt.Sprintf("@%d", e.Seq)), v.palette.Bold(safetext.Clean(e.Subject)))
	for _, f := range [][2]string{
		{"Type", string(e.Type())}, {"Turn", itoa(e.Turn)}, {"By", safetext.Clean(e.Author)},
		{"Time", e.Time.In(v.env.now().Location()).Format(time.RFC3339)}, {"Commit", e.Commit}, {"Tree", e.Tree},
	} {
		fmt.Fprintf(w, "%s %s\n", v.palette.Dim(fmt.Sprintf("%-7s", f[0])), f[1])
	}
	if why := unanswered(e); why != "" {
		fmt.Fprintf(w, "%s %s\n", v.palette.Dim("Reason "), safetext.Clean(strings.Join(strings.Fields(why), " ")))
	}
	if text, ok := e.Text(); ok && text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(safetext.RevealOutput(text), "\n"))
	}
	v.printRest(w, e)
	for _, p := range e.Payloads {
		fmt.Fprintf(w, "\n%s %s, %d bytes, blob %.10s%s\n", v.palette.Dim("payload"), safetext.Clean(p.Name), p.Bytes, p.OID, absentMark(p))
	}
	var left unseen
	if left.follow(e); !left.none() {
		fmt.Fprintf(w, "\n%s %s\n", v.palette.Dim("changed, but in no snapshot:"), left.words(200, true))
	}
	return v.showChanges(ctx, w, e)
}

// showChanges prints what an event changed in the files.
func (v *screenView) showChanges(ctx context.Context, w io.Writer, e *conversation.Event) (err error) {
	before := ""
	if earlier := bySeq(v.events, e.Seq-1); earlier != nil {
		before = earlier.Tree
	} else if before, err = v.ground(ctx); err != nil {
		return err
	}
	if before == e.Tree {
		return nil
	}
	fmt.Fprintln(w)
	return v.printPatch(ctx, w, entry{event: e, before: before}, nil)
}
