package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/compaction"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

const compactHelp = `Send the model less of a conversation, to make room in its context. All events
stay, and the compaction can be undone.

The model writes a summary of all but the newest model calls. Your messages, your
decisions, the instructions and the plan stay word for word. --trim-only asks no
model: it names each long result of a tool in one line. The model can read every
event again with event_read.

jp compacts by itself when a conversation fills 80 % of the model's context
(compaction.auto, compaction.at).

--dry-run says what would go. --show says what went, event by event, and shows
the summary. --undo sends the whole conversation again. A fork at an event before
the compaction has all of it, too.

JSON: {"conversation","event","undone","compaction":{"kind","from_seq","to_seq",
"keep","by","focus","before_tokens","after_tokens","before_basis","window","model","usage",
"dropped","items":[{"kind","text","cites"}],
"events":[{"seq","type","subject","sent","cited"}]}}; compaction is null if there
is nothing to compact, and event if nothing was recorded.

Exit codes: 0 done, or nothing to compact · 1 the model gave no summary ·
2 usage, or no compaction to undo or show · 3 someone else's conversation ·
4 locked · 5 no such conversation or event · 6 damaged · 7 provider`

type compactOptions struct {
	agent.CompactRequest
	show bool
}

func newCompactCommand(e *ui.Env) *cobra.Command {
	o := compactOptions{CompactRequest: agent.CompactRequest{Keep: -1}}
	cmd := &cobra.Command{
		Use: "compact [ID]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Make room in the model's context by a summary", Long: compactHelp,
		Example: "  jp compact --dry-run                  # what would go\n" +
			"  jp compact --focus \"the retry loop\"   # a summary about this\n" +
			"  jp compact --trim-only                # only long results of tools\n" +
			"  jp compact --to @40 4400              # the events up to @40\n" +
			"  jp compact --show                     # what went, and the summary\n" +
			"  jp compact --undo",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("keep") && o.Keep < 0 {
				return problem.Usage("--keep takes a number from 0 on.")
			}
			o.ID = strings.Join(args, "")
			if o.show {
				return showCompaction(cmd.Context(), e, o.ID)
			}
			return runCompact(cmd.Context(), e, o.CompactRequest)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "cover the events up to `E` at most")
	f.IntVar(&o.Keep, "keep", -1, "leave the newest `N` model calls as they are (default: compaction.keep_cycles)")
	f.StringVar(&o.Focus, "focus", "", "tell the model to summarise with a view to `TEXT`")
	f.BoolVar(&o.TrimOnly, "trim-only", false, "ask no model; name long results of tools in one line each")
	f.BoolVar(&o.DryRun, "dry-run", false, "only say what would go")
	f.BoolVar(&o.show, "show", false, "show the newest compaction, or that of ID@E")
	f.BoolVar(&o.Undo, "undo", false, "undo the newest compaction")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "show", "undo")
	for _, flag := range []string{"to", "keep", "focus", "trim-only"} {
		cmd.MarkFlagsMutuallyExclusive("undo", flag)
		cmd.MarkFlagsMutuallyExclusive("show", flag)
	}
	cmd.MarkFlagsMutuallyExclusive("trim-only", "focus")
	return cmd
}

func runCompact(ctx context.Context, e *ui.Env, o agent.CompactRequest) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var front agent.Frontend = agent.Headless{}
	if !e.Format.Structured() {
		front = e.Frontend(r, agent.Request{Input: agent.Input{NoStdin: true}})
	}
	done, err := agent.Compact(ctx, r, o, front)
	if err != nil {
		return err
	}
	shown := compactionOf(done, readerOf(ctx, r))
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), shown)
	}
	return shown.write(e, o)
}

// readerOf reads whole texts of events.
func readerOf(ctx context.Context, r *repo.Repo) compaction.Reader {
	return func(e *conversation.Event) string {
		text, _ := e.Text()
		if p := e.Payload(conversation.PayloadText); p != nil {
			if data, ok, err := r.Store.Payload(ctx, *p); ok && err == nil {
				return string(data)
			}
		}
		return text
	}
}

type shownCompaction struct {
	Conversation string              `json:"conversation"`
	Event        *int                `json:"event"`
	Undone       *int                `json:"undone"`
	Compaction   *shownCompactionFor `json:"compaction"`

	before int // the compaction in force behind an undone one, 0 for none
}

type shownCompactionFor struct {
	Kind    conversation.CompactionKind `json:"kind"`
	FromSeq int                         `json:"from_seq"`
	ToSeq   int                         `json:"to_seq"`
	Keep    int                         `json:"keep"`
	By      conversation.Cause          `json:"by"`
	Focus   *string                     `json:"focus"`
	Before  int                         `json:"before_tokens"`
	After   int                         `json:"after_tokens"`
	Basis   string                      `json:"before_basis"`
	Window  *int                        `json:"window"`
	Model   *string                     `json:"model"`
	Usage   *conversation.Usage         `json:"usage"`
	Dropped int                         `json:"dropped"`
	Items   []shownItem                 `json:"items"`
	Events  []shownFate                 `json:"events"`
}

type shownItem struct {
	Kind  conversation.ItemKind `json:"kind"`
	Text  string                `json:"text"`
	Cites []int                 `json:"cites"`
}

type shownFate struct {
	Seq     int             `json:"seq"`
	Type    string          `json:"type"`
	Subject string          `json:"subject"`
	Sent    compaction.Keep `json:"sent"`
	Cited   bool            `json:"cited"`
}

func compactionOf(done agent.Compacted, text compaction.Reader) shownCompaction {
	s := shownCompaction{Conversation: string(done.ID)}
	if done.Event != nil {
		s.Event = &done.Event.Seq
	}
	b := done.Plan
	if done.Undone != nil {
		s.Undone = &done.Undone.Seq
		b = done.Undone.Body.(*conversation.Compaction)
		if holds := compaction.Newest(done.Events); holds != nil {
			s.before = holds.Seq
		}
	}
	if b == nil {
		return s
	}
	c := &shownCompactionFor{
		Kind: b.Kind, FromSeq: b.FromSeq, ToSeq: b.ToSeq, Keep: b.Keep, By: b.By, Before: b.Before, Basis: b.Basis, After: b.After, Usage: b.Usage, Dropped: b.Dropped,
		Items: []shownItem{}, Events: []shownFate{},
	}
	if b.Focus != "" {
		c.Focus = &b.Focus
	}
	if b.Window > 0 {
		c.Window = &b.Window
	}
	if b.Model != "" {
		c.Model = &b.Model
	}
	lines := b.Lines()
	for i, item := range b.Items {
		c.Items = append(c.Items, shownItem{item.Kind, lines[i], item.Cites})
	}
	for _, f := range compaction.Fates(done.Events, b, text) {
		subject, _ := conversation.SubjectOf(f.Event)
		c.Events = append(c.Events, shownFate{f.Event.Seq, string(f.Event.Type()), subject, f.Keep, f.Cited})
	}
	s.Compaction = c
	return s
}

// write prints a few lines about the compaction, done or planned.
func (s shownCompaction) write(e *ui.Env, o agent.CompactRequest) error {
	w := wrapped(e.Results(), e)
	c, id := s.Compaction, conversation.ID(s.Conversation).Short()
	switch {
	case s.Undone != nil:
		now := "The model gets the whole conversation again."
		if s.before > 0 {
			now = fmt.Sprintf("The earlier one @%d holds.", s.before)
		}
		_, err := fmt.Fprintf(w, "%s: undid the compaction @%d. %s\n", id, *s.Undone, now)
		return err
	case c == nil:
		why := "The newest model calls stay as they are (--keep)."
		if o.To != "" || o.Keep == 0 {
			why = "The events that it may cover are as short as what would stand for them."
		}
		_, err := fmt.Fprintf(w, "%s: nothing to compact. %s\n", id, why)
		return err
	case o.DryRun:
		if _, err := fmt.Fprintf(w, "%s: would %s.\n", id, c.words("summarise", "trim", true)); err != nil {
			return err
		}
		return c.writeEvents(w)
	}
	if _, err := fmt.Fprintf(w, "%s: %s.\n", id, c.words("summarised", "trimmed", false)); err != nil {
		return err
	}
	if !e.Quiet {
		e.Note("%s shows what went, %s sends all of it again.", action.CompactShow(id), action.CompactUndo(id))
	}
	return nil
}

// words describe a compaction. As a plan it has no summary yet, and After is its upper bound.
func (c *shownCompactionFor) words(summarise, trim string, plan bool) string {
	most := ""
	if plan && c.Kind == conversation.CompactSummary {
		if most = "at most "; c.After >= c.Before {
			return fmt.Sprintf("%s the events %d to %d (little to gain: they are about as short as a summary may be, in %s tokens now)", summarise, c.FromSeq, c.ToSeq, conversation.Tokens(c.Before))
		}
	}
	room := conversation.TokensWords(c.Before, c.Basis, most, c.After)
	if c.Window != nil {
		room += ", " + conversation.PartOf(c.After, *c.Window)
	}
	if c.Kind == conversation.CompactTrim {
		return fmt.Sprintf("%s %s in the events %d to %d (%s)", trim, conversation.Count(len(c.Events), "result"), c.FromSeq, c.ToSeq, room)
	}
	return fmt.Sprintf("%s the events %d to %d (%s)", summarise, c.FromSeq, c.ToSeq, room)
}

// sentWords describe the part of an event that is sent.
var sentWords = map[compaction.Keep]string{
	compaction.KeepWhole: "word for word", compaction.KeepStart: "its beginning", compaction.KeepShort: "its first words",
	compaction.KeepNumber: "only counted", compaction.Summarised: "summarised", compaction.KeepLine: "one line", compaction.KeepEnds: "both ends",
}

func (c *shownCompactionFor) writeEvents(w io.Writer) error {
	for _, f := range c.Events {
		mark := " "
		if f.Cited {
			mark = "*"
		}
		if _, err := fmt.Fprintf(w, "%s @%-5d %-14s %s\n", mark, f.Seq, sentWords[f.Sent], safetext.Clean(f.Subject)); err != nil {
			return err
		}
	}
	return nil
}

// showCompaction shows a compaction: the newest that holds, or the one at an event.
func showCompaction(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	v, found, err := r.Find().ViewAt(ctx, e.Host, word)
	if err != nil {
		return err
	}
	named := found != nil
	if !named {
		found = compaction.Newest(v.Events)
	}
	if found == nil || found.Type() != conversation.TypeCompaction {
		if named {
			return problem.Usage("@%d of %s is no compaction.", found.Seq, v.Name()).About(v.ID)
		}
		return problem.Usage("%s has no compaction to show.", v.Name()).About(v.ID)
	}
	shown := compactionOf(agent.Compacted{ID: v.ID, Events: v.Events, Event: found, Plan: found.Body.(*conversation.Compaction)}, readerOf(ctx, r))
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), shown)
	}
	return e.Paged(func(w io.Writer) error {
		p, c := e.Palette(e.Stdout), shown.Compaction
		w = wrapped(w, e)
		fmt.Fprintf(w, "%s %s\n", p.Yellow(fmt.Sprintf("@%d", found.Seq)), p.Bold(safetext.Clean(found.Subject)))
		if c.Model != nil {
			fmt.Fprintf(w, "%s\n", p.Dim("summary by "+safetext.Clean(*c.Model)))
		}
		for _, item := range c.Items {
			cites := make([]string, len(item.Cites))
			for i, seq := range item.Cites {
				cites[i] = fmt.Sprintf("@%d", seq)
			}
			fmt.Fprintf(w, "- %s %s\n", safetext.Clean(item.Text), p.Dim("("+string(item.Kind)+", "+strings.Join(cites, " ")+")"))
		}
		if c.Dropped > 0 {
			fmt.Fprintf(w, "%s\n", p.Dim(conversation.Count(c.Dropped, "item")+" of the model cited no event of the range, and jp dropped them"))
		}
		fmt.Fprintln(w)
		return c.writeEvents(w)
	})
}
