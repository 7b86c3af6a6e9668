package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/internal/safetext"
)

type printOptions struct {
	last     int
	turn     string
	tail     int
	answer   bool
	events   bool
	internal bool
	style    string
}

func newPrintCommand(e *env) *cobra.Command {
	var o printOptions
	cmd := &cobra.Command{
		Use: "print [ID…]", Short: "Print a conversation", GroupID: "look",
		Long: "Print a conversation, oldest turn first; an incomplete turn comes last, with what it waits for. Turns\n" +
			"that were discarded are left out, unless one is asked for by --turn or --internal.\n\nExit codes: 0 done · 2 usage · 5 no such conversation or turn,\nor it is incomplete here · 6 damaged",
		Example: "  jp print\n  jp print 4400 --last 1\n  jp print --answer | pbcopy\n  jp print --json | jq '.[].type'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := atLeast(cmd.Flags(), 0, "last", "tail"); err != nil {
				return err
			}
			return runPrint(cmd.Context(), e, o, args)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.last, "last", -1, "only the last `N` turns")
	f.StringVar(&o.turn, "turn", "", "only turn `N, or A..B`")
	f.IntVar(&o.tail, "tail", -1, "only the last `N` events; the begin of a turn does not count")
	f.BoolVar(&o.answer, "answer", false, "only the text of the last answer")
	f.BoolVar(&o.events, "events", false, "one line per event")
	f.BoolVar(&o.internal, "internal", false, "with bookkeeping events")
	f.StringVar(&o.style, "style", "full", "`full`, chat (without tools) or brief (first lines)")
	cmd.MarkFlagsMutuallyExclusive("last", "turn", "tail", "answer")
	cmd.MarkFlagsMutuallyExclusive("answer", "events")
	return cmd
}

func runPrint(ctx context.Context, e *env, o printOptions, words []string) error {
	if o.style != "full" && o.style != "chat" && o.style != "brief" {
		return usage("--style %q is none of full, chat, brief.", o.style)
	}
	if o.answer && e.format.structured() {
		return usage("--answer is the text alone, and no JSON.").hint("jp print --json --last 1", "the events of the last turn")
	}
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	names, err := r.find().names(ctx, e.host, words)
	if err != nil {
		return err
	}
	var views []*screenView
	for _, name := range names {
		v, err := o.view(ctx, e, r, name)
		if err != nil {
			return err
		}
		v.meetChildren(ctx)
		views = append(views, e.onScreen(v))
	}
	err = e.paged(func(w io.Writer) error { return printViews(w, e, views, o) })
	for _, v := range views {
		err = v.damage(err)
	}
	return err
}

// view loads what has to be known to print the window.
func (o printOptions) view(ctx context.Context, e *env, r *repo, word string) (*view, error) {
	switch {
	case o.last > 0:
		return r.find().viewBack(ctx, e.host, word, turnsBack(o.last, func(l *conversation.Ledger, _ []*conversation.Event) int {
			return count(o.internal || !l.Discarded)
		}))
	case o.answer:
		return r.find().viewBack(ctx, e.host, word, turnsBack(1, func(l *conversation.Ledger, _ []*conversation.Event) int {
			return count(!l.Discarded && slices.ContainsFunc(l.Calls, (*conversation.ModelCall).Answer))
		}))
	case o.tail > 0:
		return r.find().viewBack(ctx, e.host, word, turnsBack(o.tail, func(l *conversation.Ledger, turn []*conversation.Event) int {
			n := 0
			for _, ev := range turn {
				n += count(o.counts(ev) && (o.internal || !l.Discarded && !ev.Type().Internal()))
			}
			return n
		}))
	}
	return r.find().view(ctx, e.host, word)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// turnsBack reaches back until what the turns are worth comes to n.
func turnsBack(n int, worth func(l *conversation.Ledger, turn []*conversation.Event) int) reach {
	seen := 0
	return func(back []*conversation.Event) bool {
		turn := slices.Clone(back[seen:])
		slices.Reverse(turn)
		seen = len(back)
		n -= worth(conversation.LedgerOf(turn), turn)
		return n <= 0
	}
}

func printViews(w io.Writer, e *env, views []*screenView, o printOptions) error {
	var lines [][]byte
	for _, v := range views {
		events, err := v.window(o)
		if err != nil {
			return err
		}
		switch {
		case e.format.structured():
			for _, ev := range events {
				line, err := conversation.ViewJSON(ev, v.id, v.incomplete(ev))
				if err != nil {
					return err
				}
				lines = append(lines, line)
			}
		case o.answer:
			v.printAnswer(w)
		case o.events:
			for _, ev := range events {
				fmt.Fprintln(w, v.logLine(ev))
			}
		default:
			newTranscript(v, w, o.style).print(events)
		}
	}
	return writeLines(w, e.format, lines)
}

// writeLines writes JSON objects as an array, or one per line.
func writeLines(w io.Writer, f format, lines [][]byte) error {
	var err error
	switch f {
	case formatJSONL:
		for _, line := range lines {
			_, err = fmt.Fprintf(w, "%s\n", line)
		}
	case formatJSON:
		fmt.Fprint(w, "[")
		for i, line := range lines {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, "\n%s", line)
		}
		_, err = fmt.Fprint(w, "]\n")
	}
	return err
}

// printAnswer writes the last answer: laid out for a person, as it was written for
// anybody else. Data is no Markdown.
func (v *screenView) printAnswer(w io.Writer) {
	text, data := v.answer()
	defer v.noteRest()
	if text != "" && !data && v.env.rendered() {
		v.markdown(w, text)
		return
	}
	fmt.Fprintln(w, safetext.Clean(strings.TrimRight(text, "\n")))
}

// noteRest says on standard error what the last answer lacks: what is printed is the
// answer alone.
func (v *screenView) noteRest() {
	for _, e := range v.answerEvents() {
		if rest := v.rest(e); rest != "" {
			v.env.note("%s", rest)
		}
	}
}

// answer is the text of the last answer, and whether it is data.
func (v *view) answer() (text string, data bool) {
	for _, e := range v.answerEvents() {
		b := e.Body.(*conversation.ChatResponse)
		text += b.Text
		data = data || b.Part == conversation.PartData
	}
	return text, data
}

// answerEvents are those of the last answer that say something.
func (v *view) answerEvents() (events []*conversation.Event) {
	for t := range conversation.Turns(v.events) {
		ledger := t.Ledger()
		for _, call := range ledger.Calls {
			if !call.Answer() || ledger.Discarded {
				continue
			}
			events = nil
			for _, e := range call.Events {
				if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part != conversation.PartReasoning {
					events = append(events, e)
				}
			}
		}
	}
	return events
}

// window are the events to print.
func (v *view) window(o printOptions) ([]*conversation.Event, error) {
	gone := map[int]bool{} // turns that were taken back
	if o.turn == "" && !o.internal {
		gone = discardedTurns(v.events)
	}
	from, to, err := v.turnRange(o, gone)
	if err != nil {
		return nil, err
	}
	var events []*conversation.Event
	for _, e := range v.events {
		if e.Turn >= from && e.Turn <= to && !gone[e.Turn] && (o.internal || !e.Type().Internal()) {
			events = append(events, e)
		}
	}
	if o.tail < 0 {
		return events, nil
	}
	from, left := len(events), o.tail
	for i := from - 1; i >= 0 && left > 0; i-- {
		if o.counts(events[i]) {
			from = i
			left--
		}
	}
	return events[from:], nil
}

// counts reports whether --tail counts an event. The begin of a turn has nothing to
// read; it is shown where it stands between two events that count.
func (o printOptions) counts(e *conversation.Event) bool {
	return o.internal || e.Type() != conversation.TypeTurnStart
}

// discardedTurns are the numbers of the turns that readers skip.
func discardedTurns(events []*conversation.Event) map[int]bool {
	gone := map[int]bool{}
	for t := range conversation.Turns(events) {
		if t.Ledger().Discarded {
			gone[t.Number] = true
		}
	}
	return gone
}

// turnRange is which turns to print; those that are gone do not count.
func (v *view) turnRange(o printOptions, gone map[int]bool) (from, to int, err error) {
	newest := 0
	if len(v.events) > 0 {
		newest = v.events[len(v.events)-1].Turn
	}
	if o.last >= 0 {
		from = newest + 1
		for left := o.last; from > 1 && left > 0; {
			if from--; !gone[from] {
				left--
			}
		}
		return from, newest, nil
	}
	if o.turn == "" {
		return 0, newest, nil
	}
	a, b, isRange := strings.Cut(o.turn, "..")
	from, errA := turnNumber(a, 1)
	to, errB := turnNumber(b, newest)
	if !isRange {
		to, errB = from, errA
	}
	if errA != nil || errB != nil || from < 1 || from > to {
		return 0, 0, usage("--turn %q is not a turn, as in 2 or 1..3.", o.turn)
	}
	if from > newest || to > newest {
		return 0, 0, fail(exitNotFound, "not_found", "%s has no turn %s; its last is %d.", v.id, o.turn, newest).about(v.id)
	}
	return from, to, nil
}

func turnNumber(s string, otherwise int) (int, error) {
	if s == "" {
		return otherwise, nil
	}
	return strconv.Atoi(s)
}
