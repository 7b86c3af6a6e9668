package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
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
	tools    bool
}

func newPrintCommand(e *ui.Env) *cobra.Command {
	var o printOptions
	cmd := &cobra.Command{
		Use: "print [ID…]", Short: "Print a conversation", GroupID: "look",
		Long: `Print a conversation, oldest turn first. An incomplete turn comes last, with what
it waits for. Discarded turns are left out, except with --turn or --internal.

Exit codes: 0 done · 2 usage · 5 no such conversation or turn,
or it is incomplete here · 6 damaged`,
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
	f.IntVar(&o.tail, "tail", -1, "only the last `N` events, without the beginnings of turns")
	f.BoolVar(&o.answer, "answer", false, "only the text of the last answer")
	f.BoolVar(&o.events, "events", false, "one line per event")
	f.BoolVar(&o.internal, "internal", false, "with bookkeeping events")
	f.StringVar(&o.style, "style", "full", "`full`, chat (without tools) or brief (first lines)")
	f.BoolVar(&o.tools, "tools", false, "with the whole output of tools")
	cmd.MarkFlagsMutuallyExclusive("answer", "events", "tools")
	cmd.MarkFlagsMutuallyExclusive("last", "turn", "tail", "answer")
	return cmd
}

func runPrint(ctx context.Context, e *ui.Env, o printOptions, words []string) error {
	if o.style != "full" && o.style != "chat" && o.style != "brief" {
		return problem.Usage("invalid --style %q (want full, chat or brief).", o.style)
	}
	if o.tools && o.style == "chat" {
		return problem.Usage("--style chat leaves tools out, and --tools shows what they said.")
	}
	if o.answer && e.Format.Structured() {
		return problem.Usage("--answer is the text alone, and no JSON.").Hint(action.PrintLast, "the events of the last turn")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	names, err := r.Find().Names(ctx, e.Host, words)
	if err != nil {
		return err
	}
	var views []*ui.ScreenView
	var rest strings.Builder // of conversations whose headers another program removed
	var damage error
	for _, name := range names {
		v, err := o.view(ctx, e, r, name)
		if err != nil || v.Broken != nil {
			stripped, failed := o.stripped(ctx, e, r, name)
			if failed != nil || err != nil && stripped == "" {
				return cmp.Or(err, failed)
			}
			rest.WriteString(stripped)
		}
		if err != nil {
			damage = cmp.Or(damage, err)
			continue
		}
		resume.MeetDelegates(ctx, v)
		views = append(views, e.OnScreen(v))
	}
	err = e.Paged(func(w io.Writer) error {
		if err := printViews(ctx, w, e, views, o); err != nil {
			return err
		}
		text := rest.String()
		if len(views) == 0 {
			text = strings.TrimPrefix(text, "\n")
		}
		_, err := io.WriteString(w, text)
		return err
	})
	for _, v := range views {
		err = v.View.Damage(err)
	}
	if err = cmp.Or(err, damage); err == nil || rest.Len() == 0 {
		return err
	}
	f := repo.ProblemOf(err)
	f.Hints = slices.DeleteFunc(f.Hints, func(h problem.Hint) bool { return h.Action.Kind() == action.Print("").Kind() }) // it is this one
	return f
}

// stripped is the text of the commit messages of a conversation whose headers are gone, each marked as
// not verified. Options that choose turns or answers need the headers.
func (o printOptions) stripped(ctx context.Context, e *ui.Env, r *repo.Repo, word string) (string, error) {
	if e.Format.Structured() || o.answer || o.last >= 0 || o.tail >= 0 || o.turn != "" {
		return "", nil
	}
	name, messages, err := r.Find().StrippedMessages(ctx, e.Host, word)
	if err != nil || len(messages) == 0 {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nNot verified: another program rewrote %s and removed the headers of its commits.\n"+
		"These are the commit messages, as plain text. jp cannot resume, undo or fork them.\n", name)
	for _, m := range messages {
		isTool := m.Type == conversation.TypeToolCallRequest || m.Type == conversation.TypeToolCallResponse
		if m.Type.Internal() && !o.internal || isTool && o.style == "chat" {
			continue
		}
		text := m.Text
		if subject, _, _ := strings.Cut(text, "\n"); o.events || o.style == "brief" {
			text = subject
		}
		fmt.Fprintf(&b, "\nnot verified: %s, %s, %s\n", problem.OneLine(m.Author), m.Time.In(e.Now().Location()).Format("2006-01-02 15:04"), m.Commit[:10])
		for line := range strings.Lines(safetext.Clean(text) + "\n") {
			b.WriteString(strings.TrimRight("    "+line, " \n") + "\n") // only lines of jp begin at the margin
		}
	}
	return b.String(), nil
}

// view loads the events that the window needs.
func (o printOptions) view(ctx context.Context, e *ui.Env, r *repo.Repo, word string) (*repo.View, error) {
	switch {
	case o.last > 0:
		return r.Find().ViewBack(ctx, e.Host, word, turnsBack(o.last, func(l *conversation.Ledger, _ []*conversation.Event) int {
			return problem.Count(o.internal || !l.Discarded)
		}))
	case o.answer:
		return r.Find().ViewBack(ctx, e.Host, word, turnsBack(1, func(l *conversation.Ledger, _ []*conversation.Event) int {
			return problem.Count(!l.Discarded && slices.ContainsFunc(l.Calls, (*conversation.ModelCall).Answer))
		}))
	case o.tail > 0:
		return r.Find().ViewBack(ctx, e.Host, word, turnsBack(o.tail, func(l *conversation.Ledger, turn []*conversation.Event) int {
			n := 0
			for _, ev := range turn {
				n += problem.Count(o.counts(ev) && (o.internal || !l.Discarded && !ev.Type().Internal()))
			}
			return n
		}))
	case o.turn != "":
		if from, to, err := o.turns(math.MaxInt); err == nil {
			return r.Find().ViewTurns(ctx, e.Host, word, from, to)
		}
	}
	return r.Find().ViewForward(ctx, e.Host, word)
}

// turnsBack reaches back until the worth of the turns adds up to n.
func turnsBack(n int, worth func(l *conversation.Ledger, turn []*conversation.Event) int) repo.Reach {
	seen := 0
	return func(back []*conversation.Event) bool {
		turn := slices.Clone(back[seen:])
		slices.Reverse(turn)
		seen = len(back)
		n -= worth(conversation.LedgerOf(turn), turn)
		return n <= 0
	}
}

func printViews(ctx context.Context, w io.Writer, e *ui.Env, views []*ui.ScreenView, o printOptions) error {
	gathered := ui.Gather(w)
	rows := ui.NewJSONRows(gathered, e.Format)
	for _, v := range views {
		turn := ui.NewTurn(v, w, o.style, o.tools)
		for _, err := range v.View.Forward(ctx) {
			var events []*conversation.Event
			if err == nil {
				events, err = windowOf(v.View, o)
			}
			switch {
			case err != nil:
			case e.Format.Structured():
				if err = rows.AddEvents(v, events); err == nil {
					err = gathered.Flush()
				}
			case o.answer:
				printAnswer(v, w)
			case o.events:
				for _, ev := range events {
					fmt.Fprintln(w, logLine(v, ev))
				}
			default:
				turn.Print(events)
			}
			if err = cmp.Or(err, e.Lost.First()); err != nil {
				return err
			}
		}
	}
	if !e.Format.Structured() {
		return nil
	}
	return cmp.Or(rows.Close(), gathered.Flush())
}

// printAnswer writes the last answer: laid out for a person, as it was written for another program.
// Notes about missing parts go to standard error, so stdout has the answer alone.
func printAnswer(v *ui.ScreenView, w io.Writer) {
	text, part := "", conversation.PartMessage
	var events []*conversation.Event
	for t := range conversation.Turns(v.View.Events) {
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
	for _, e := range events {
		b := e.Body.(*conversation.ChatResponse)
		if text += b.Text; b.Part == conversation.PartData {
			part = b.Part
		}
		if rest := v.View.Rest(e); rest != "" {
			defer v.Env.Note("%s", rest)
		}
	}
	if strings.Trim(text, "\n") == "" {
		fmt.Fprintln(w)
		return
	}
	ui.NewTurn(v, w, "full", false).Said(part, text)
}

func windowOf(v *repo.View, o printOptions) ([]*conversation.Event, error) {
	gone := map[int]bool{} // turns that were taken back
	if o.turn == "" && !o.internal {
		for t := range conversation.Turns(v.Events) {
			if t.Ledger().Discarded {
				gone[t.Number] = true
			}
		}
	}
	from, to, err := turnRange(v, o, gone)
	if err != nil {
		return nil, err
	}
	var events []*conversation.Event
	for _, e := range v.Events {
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

// counts reports whether --tail counts an event. The beginning of a turn has no text,
// and is shown between two events that count.
func (o printOptions) counts(e *conversation.Event) bool {
	return o.internal || e.Type() != conversation.TypeTurnStart
}

// turnRange is the range of turns to print. Discarded turns do not count.
func turnRange(v *repo.View, o printOptions, gone map[int]bool) (from, to int, err error) {
	newest := v.Newest().Turn
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
	if from, to, err = o.turns(newest); err == nil && (from > newest || to > newest) {
		err = problem.New(problem.ExitNotFound, "not_found", "%s has no turn %s; its last is %d.", v.ID, o.turn, newest).About(v.ID)
	}
	return from, to, err
}

// turns are the numbers of --turn.
func (o printOptions) turns(newest int) (from, to int, err error) {
	a, b, isRange := strings.Cut(o.turn, "..")
	from, errA := turnNumber(a, 1)
	to, errB := turnNumber(b, newest)
	if !isRange {
		to, errB = from, errA
	}
	if errA != nil || errB != nil || from < 1 || from > to {
		return 0, 0, problem.Usage("--turn %q is not a turn, as in 2 or 1..3.", o.turn)
	}
	return from, to, nil
}

func turnNumber(s string, otherwise int) (int, error) {
	if s == "" {
		return otherwise, nil
	}
	return strconv.Atoi(s)
}
