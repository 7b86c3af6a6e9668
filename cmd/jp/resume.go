package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

func newContinueCommand(e *env) *cobra.Command {
	o := queryOptions{continueTurn: true, bare: true}
	cmd := &cobra.Command{
		Use: "continue [ID]", Aliases: []string{"resume"}, GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Go on with a turn that was broken off",
		Long: "Go on with the incomplete turn of a conversation: what is recorded is not done again, open questions are asked\n" +
			"again, and the model is told what the working tree says really happened. The same as jp query --continue-turn.\n\n" +
			"Exit codes: as jp query; 0 also where nothing is incomplete",
		Example: "  jp continue\n  jp continue 4400 -y\n  jp continue --pending report --policy auto --non-interactive",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = strings.Join(args, "")
			return runQuery(cmd.Context(), e, o)
		},
	}
	o.runFlags(cmd.Flags())
	o.resumeFlags(cmd.Flags())
	return cmd
}

func newDiscardCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "discard [ID]", GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Take back a turn that was broken off",
		Long: "Take back the incomplete turn of a conversation. Its events stay in git log; readers and the model skip them.\n" +
			"The same as jp query --discard-turn, and it asks nothing afterwards.\n\nExit codes: as jp query; 0 also where nothing is incomplete",
		Example: "  jp discard\n  jp discard 4400",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runQuery(cmd.Context(), e, queryOptions{discardTurn: true, bare: true, id: strings.Join(args, "")})
		},
	}
}

// settle deals with an incomplete turn, before anything new is asked. It
// reports whether that was all there is to do.
func (q *query) settle(ctx context.Context) (done bool, err error) {
	switch q.opts.decision() {
	case decideResume:
		return q.resume(ctx)
	case decideDiscard:
		return q.discard(ctx)
	}
	if q.client = q.openClient(); q.client == nil {
		return true, incompleteFailure(q.id, q.tail)
	}
	choice, err := q.offer(ctx, q.client.tty)
	if err != nil {
		return true, err
	}
	switch choice {
	case decideResume:
		return q.resume(ctx)
	case decideDiscard:
		return q.discard(ctx)
	case decideEdit:
		return q.editPending(ctx)
	}
	return true, q.keepText(&failure{exit: exitDecision, code: "incomplete_turn", message: "nothing was changed.", conversation: q.id})
}

// A decision is what becomes of an incomplete turn.
type decision int

const (
	undecided decision = iota
	decideResume
	decideDiscard
	decideEdit
	decideQuit
)

func (o queryOptions) decision() decision {
	switch {
	case o.continueTurn:
		return decideResume
	case o.discardTurn:
		return decideDiscard
	}
	return undecided
}

// resume goes on with the incomplete turn.
func (q *query) resume(ctx context.Context) (done bool, err error) {
	loop, err := q.loop(ctx)
	if err != nil {
		return true, err
	}
	record := reconcile.Read(q.events, q.tail, q.streamed(q.events))
	truth, err := q.truth(ctx, q.files, q.registry, record)
	if err != nil {
		return true, err
	}
	if err := q.awaitTools(ctx, &truth, record); err != nil {
		return true, err
	}
	plan := reconcile.Make(record, truth, named(q.registry))
	if err := q.allowPlace(ctx, plan, truth); err != nil {
		return true, err
	}
	q.plan = plan
	resume := turnloop.Resume{Resumed: plan.Resumed}
	if q.opts.yes {
		resume.Approved = conversation.ApproveAll()
	}
	if delta, err := q.delta(); err != nil {
		return true, err
	} else if delta != nil {
		resume.Records = append(resume.Records, delta)
	}
	q.out.resumed(plan.Resumed)
	if err := q.repo.session(q.env).use(q.id, q.env.now()); err != nil {
		return true, err
	}
	q.outcome, err = loop.Resume(ctx, resume)
	q.head = loop.Head()
	if err := q.verdict(err); err != nil {
		return true, err
	}
	return !q.asks(), q.removeDraft()
}

// awaitTools refuses to go on while a tool of the earlier run still works.
func (q *query) awaitTools(ctx context.Context, truth *reconcile.Truth, record reconcile.Record) error {
	for _, call := range record.Ledger.Open() {
		seq := call.Event.Seq
		if !truth.Alive[seq] {
			continue
		}
		if q.client == nil {
			return fail(exitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, q.id).about(q.id).
				hint("jp continue "+q.id.Short(), "when it has ended")
		}
		if err := q.waitOrEnd(ctx, call); err != nil {
			return err
		}
		truth.Alive[seq] = false
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (q *query) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	seq := call.Event.Seq
	fmt.Fprintf(q.client.tty, "%s is still running, from before.\n", terminal.Show(callTitle(call)))
	key, err := q.client.tty.Choose(ctx, "w wait for it   e end it   q quit, change nothing > ", oneOf("weq"))
	switch {
	case err != nil:
		return choiceError(err)
	case key.Lower() == 'w':
		fmt.Fprintln(q.client.tty, "w")
		return q.repo.locks.AwaitTool(ctx, q.id, seq)
	case key.Lower() == 'e':
		fmt.Fprintln(q.client.tty, "e")
		return q.repo.locks.EndTool(ctx, q.id, seq)
	}
	return fail(exitLocked, "locked", "nothing was changed.").about(q.id)
}

// allowPlace refuses to go on somewhere else than where the turn stopped,
// unless the user says so.
func (q *query) allowPlace(ctx context.Context, plan reconcile.Plan, truth reconcile.Truth) error {
	if len(plan.Elsewhere) == 0 || q.opts.anyway {
		return nil
	}
	if q.client == nil {
		return q.elsewhereFailure(plan.Elsewhere)
	}
	fmt.Fprint(q.client.tty, elsewhereText(plan.Elsewhere, len(truth.Changed)))
	key, err := q.client.tty.Choose(ctx, "  r  resume here anyway (the model is told)   q  quit, change nothing > ", oneOf("rq"))
	if err != nil {
		return choiceError(err)
	}
	if key.Lower() == 'r' {
		fmt.Fprintln(q.client.tty, "r")
		return nil
	}
	fmt.Fprintln(q.client.tty, "q")
	return q.elsewhereFailure(plan.Elsewhere)
}

func (q *query) elsewhereFailure(differences []reconcile.Difference) error {
	f := fail(exitDecision, "elsewhere", "%s stopped elsewhere: %s.", q.id, differenceWords(differences)).about(q.id)
	for _, d := range differences {
		if d.What == "branch" && d.Was != "" {
			f.hint("git switch "+terminal.Escape(d.Was), "go back there")
		}
	}
	return f.hint("jp query --continue-turn --anyway --id="+string(q.id), "go on here; the model is told")
}

func differenceWords(differences []reconcile.Difference) string {
	var words []string
	for _, d := range differences {
		words = append(words, fmt.Sprintf("%s %s → %s", d.What, placeWord(d.Was), placeWord(d.Is)))
	}
	return strings.Join(words, "   ")
}

func placeWord(s string) string {
	switch {
	case s == "":
		return "none"
	case len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "":
		return s[:7]
	}
	return terminal.Show(s)
}

func elsewhereText(differences []reconcile.Difference, changed int) string {
	text := "  This is not where it stopped:  " + differenceWords(differences)
	if changed > 0 {
		text += "   " + conversation.Count(changed, "file") + " changed since"
	}
	return text + "\n"
}

// unknown decides about a call whose outcome nobody knows: as --pending says,
// as the user says, or by telling the model.
func (q *query) unknown(ctx context.Context, call *conversation.ToolCall) (again bool, text string, err error) {
	found := reconcile.Call{Call: call, Class: reconcile.Unknown}
	for _, c := range q.plan.Calls {
		if c.Call.Event.Seq == call.Event.Seq {
			found = c
		}
	}
	text = reconcile.Evidence(found)
	exclusive := false
	if t, ok := q.registry.Lookup(call.Request.Name); ok {
		exclusive = t.Definition().Exclusive
	} else {
		return false, text, nil
	}
	switch {
	case q.opts.pending == "report":
		return false, text, nil
	case q.opts.pending == "run" && !exclusive:
		return true, "", nil
	case q.client == nil:
		return false, text, nil
	}
	return q.askUnknown(ctx, call, found, text)
}

func (q *query) askUnknown(ctx context.Context, call *conversation.ToolCall, found reconcile.Call, text string) (bool, string, error) {
	tty := q.client.tty
	fmt.Fprintf(tty, "%s was started, and nobody knows what it did.\n", terminal.Show(callTitle(call)))
	if len(found.Touched)+len(found.Untouched) > 0 {
		fmt.Fprintf(tty, "  changed since: %s   not changed: %s\n", pathList(found.Touched), pathList(found.Untouched))
	}
	key, err := tty.Choose(ctx, "What now?  a run it again   r report it to the model   w write the result by hand   q quit > ", oneOf("arwq"))
	if err != nil {
		return false, "", choiceError(err)
	}
	fmt.Fprintf(tty, "%c\n", key.Lower())
	switch key.Lower() {
	case 'a':
		return true, "", nil
	case 'r':
		return false, text, nil
	case 'w':
		line, err := tty.Line(ctx, "The result, for the model: ")
		if err != nil {
			return false, "", choiceError(err)
		}
		return false, "The user says how this call ended: " + line, nil
	}
	return false, "", fail(exitDecision, "incomplete_turn", "the turn is still incomplete.").about(q.id)
}

func pathList(paths []string) string {
	if len(paths) == 0 {
		return "none"
	}
	shown := make([]string, len(paths))
	for i, p := range paths {
		shown[i] = terminal.Show(p)
	}
	return strings.Join(shown, ", ")
}

// discard takes the incomplete turn back.
func (q *query) discard(ctx context.Context) (done bool, err error) {
	for _, call := range q.tail.Ledger().Open() {
		if q.repo.locks.ToolAlive(q.id, call.Event.Seq) {
			if err := q.repo.locks.EndTool(ctx, q.id, call.Event.Seq); err != nil {
				return true, err
			}
		}
	}
	loop := turnloop.New(turnloop.Options{Journal: q.repo.store, ID: q.id, Head: q.head, Stream: q.stream, Tools: new(tool.Registry)})
	if err := loop.Discard(ctx); err != nil {
		return true, err
	}
	q.head = loop.Head()
	q.events = q.stream.Events()
	if err := q.removeDraft(); err != nil {
		return true, err
	}
	if !q.env.quiet {
		fmt.Fprintf(q.env.stderr, "Discarded turn %d of %s; it stays in git log.\n", q.tail.Number, q.id)
	}
	return !q.asks() && (q.opts.bare || !isTerminal(q.env.stdin)), nil
}

// editPending lets the user write the request anew that was not answered.
func (q *query) editPending(ctx context.Context) (done bool, err error) {
	pending := q.tail.Ledger().Request()
	was := pending.Body.(*conversation.ChatRequest)
	text, err := q.editText(ctx, []byte(was.Content), ".md")
	if err != nil {
		return true, err
	}
	content := strings.TrimSpace(string(text))
	if content == "" || content == strings.TrimSpace(was.Content) {
		return true, q.keepText(fail(exitDecision, "incomplete_turn", "nothing was changed.").about(q.id))
	}
	loop := turnloop.New(turnloop.Options{Journal: q.repo.store, ID: q.id, Head: q.head, Stream: q.stream, Tools: new(tool.Registry)})
	replaced := *was
	replaced.Content, replaced.Replaces = content, &pending.Seq
	if err := loop.Replace(ctx, replaced); err != nil {
		return true, err
	}
	q.head, q.events = loop.Head(), q.stream.Events()
	_, q.tail = conversation.Split(q.events)
	return q.resume(ctx)
}

// choiceError is how a question to the user that got no answer ends jp.
func choiceError(err error) error {
	if errors.Is(err, terminal.ErrHangup) {
		return fail(exitDecision, "incomplete_turn", "the terminal is gone; nothing was changed.")
	}
	return err
}

// oneOf accepts the letters of a prompt.
func oneOf(letters string) func(terminal.Key) bool {
	return func(k terminal.Key) bool { return strings.ContainsRune(letters, rune(k.Lower())) }
}

// callTitle names a tool call with the argument that says most.
func callTitle(call *conversation.ToolCall) string {
	return strings.TrimPrefix(call.Event.Subject, "call ")
}
