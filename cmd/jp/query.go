package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// queryOptions are the flags of jp query.
type queryOptions struct {
	text           []string
	new            bool
	id             string
	fork           string // E, or forkAtEnd; "" for no fork
	model          string
	yes            bool
	tools          []string
	withoutTools   []string
	noTools        bool
	title          string
	attachments    []string
	schema         string
	policy         string
	nonInteractive bool
	partial        bool
	edit, noEdit   bool
	stdin, noStdin bool
	continueTurn   bool
	discardTurn    bool
	bare           bool // nothing is asked afterwards
	pending        string
	anyway         bool
	detach         bool
	wait           bool // as long as a provider asks
	noPersist      bool
	quiet, verbose bool
}

const queryHelp = `Ask the model, in this session's conversation or a new one, and let it use tools.

The text is the words given; what is piped in stands before it. Without a text
an editor opens. On a terminal the answer streams to it; piped, stdout gets the
final message only. Every event is durable before it is shown as such.
What another process holds is waited for on a terminal; elsewhere that is exit 4.

Exit codes: 0 done · 1 refused, over a limit, or no answer that satisfies the
schema · 2 usage, configuration, model ·
3 a decision is needed first · 4 locked · 5 no such conversation · 6 damaged ·
7 the provider failed · 130, 143, 129, 131 interrupted (what was recorded stays)`

const queryExamples = `  jp query "Why does login hang when the server is down?"
  git diff | jp query "Review this."
  jp query -y --new "Cap the retries, and test it."
  jp query --json "…" | jq -r 'select(.type=="result").message'
  jp query --detach "Port the tests."    # in the background; jp attach looks at it
  jp query -a shot.png -a 'src/**/*.css' "Why is it cut off?"
  jp query -s '{"type":"object","properties":{"ok":{"type":"boolean"}}}' "Is it green?" | jq .ok
  jp query --no-persist "What did we decide about retries?"   # asked beside the conversation
  jp query -m script/demo "…"            # needs no key`

func newQueryCommand(e *env) *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use: "query [TEXT…]", Aliases: []string{"q"}, GroupID: "ask",
		Short: "Ask the model", Long: queryHelp, Example: queryExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.text = args
			if cmd.Flags().Changed("fork") && o.fork == "" {
				o.fork = forkAtEnd
				return runQuery(cmd.Context(), e, o)
			}
			if err := o.checkFork(); err != nil {
				return err
			}
			return runQuery(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.new, "new", "n", false, "start a new conversation")
	f.StringVarP(&o.id, "id", "i", "", "ask in this conversation `ID`")
	f.StringVar(&o.fork, "fork", "", "ask in a fork, made at event `E` (--fork=E) or at the end")
	f.Lookup("fork").NoOptDefVal = forkAtEnd
	o.runFlags(f)
	f.StringArrayVarP(&o.attachments, "attachment", "a", nil, "send along `PATH`: a file, a pattern, - for stdin, or a conversation ID[@turn:N]; a file of that name comes first (repeatable)")
	f.StringVarP(&o.schema, "schema", "s", "", "answer with data that satisfies this JSON schema, `FILE` or JSON")
	f.StringVar(&o.title, "title", "", "give the conversation a `TITLE`")
	f.BoolVarP(&o.edit, "edit", "e", false, "write the text in an editor")
	f.BoolVarP(&o.noEdit, "no-edit", "E", false, "never open an editor; without a text: ask the last one again")
	f.BoolVar(&o.stdin, "stdin", false, "wait for standard input without limit")
	f.BoolVar(&o.noStdin, "no-stdin", false, "never read standard input")
	f.BoolVar(&o.continueTurn, "continue-turn", false, "go on with an incomplete turn; takes no text")
	f.BoolVar(&o.discardTurn, "discard-turn", false, "take an incomplete turn back, then ask; with -E and no text: ask its question again")
	f.BoolVar(&o.noPersist, "no-persist", false, "record nothing, and hold nothing: the model reads, and changes nothing")
	o.resumeFlags(f)
	cmd.MarkFlagsMutuallyExclusive("new", "id")
	cmd.MarkFlagsMutuallyExclusive("new", "fork")
	cmd.MarkFlagsMutuallyExclusive("edit", "no-edit")
	cmd.MarkFlagsMutuallyExclusive("stdin", "no-stdin")
	return cmd
}

// runFlags are the flags of everything that runs a turn.
func (o *queryOptions) runFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.model, "model", "m", "", "ask this model, `PROVIDER/NAME` or an alias")
	f.BoolVarP(&o.yes, "yes", "y", false, "approve the tool runs of this turn in advance")
	f.StringArrayVarP(&o.tools, "tool", "t", nil, "switch this tool `NAME` on, from now on (repeatable)")
	f.StringArrayVar(&o.withoutTools, "no-tool", nil, "switch this tool `NAME` off, from now on (repeatable)")
	f.BoolVarP(&o.noTools, "no-tools", "T", false, "no tools in this turn, but those of -t")
	f.StringVar(&o.policy, "policy", "", "`POLICY` when nobody can be asked: auto, defaults, deny, queue or defer (default queue; in the foreground defer where CI is set)")
	f.BoolVar(&o.nonInteractive, "non-interactive", false, "ask nobody, even on a terminal")
	f.BoolVar(&o.wait, "wait", false, "wait as long as a provider asks to, also longer than limits.retry_wait")
	f.BoolVar(&o.partial, "partial", false, "with jsonl: also text that is not durable yet")
}

// resumeFlags are the flags of everything that can go on with a turn.
func (o *queryOptions) resumeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.pending, "pending", "", "a call of unknown outcome: `WHAT` becomes of it, run (again) or report (to the model)")
	f.BoolVar(&o.anyway, "anyway", false, "go on although this is not where the turn stopped")
	f.BoolVar(&o.detach, "detach", false, "go on in the background, and print the conversation's id")
}

// runQuery runs one turn, or goes on with one. What can be wrong is checked in
// this order: the target, the lock, an open decision, configuration and model.
func runQuery(ctx context.Context, e *env, o queryOptions) (err error) {
	o.quiet, o.verbose = e.quiet, e.verbose
	if err := o.check(); err != nil {
		return err
	}
	o.tools, o.withoutTools = spelledOut(o.tools), spelledOut(o.withoutTools)
	r, err := e.findRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.fromTool("") {
		return fail(exitDecision, "untrusted", "%v.", errFromTool)
	}
	if err := notInHook(e.host); err != nil {
		return err
	}
	q := newQuery(ctx, e.frontend(r, o), r, o, nil)
	if o.noPersist {
		return q.runTransient(ctx)
	}
	r.store.ExpectWrite()
	return q.run(ctx)
}

func newQuery(ctx context.Context, front frontend, r *repo, o queryOptions, h *handover) *query {
	return &query{
		ctx: context.WithoutCancel(ctx), env: r.env, front: front, repo: r, opts: o, handover: h,
		out: front.Output(outputOptions{partial: o.partial}),
	}
}

func (q *query) run(ctx context.Context) (err error) {
	defer func() {
		if isReadOnly(err) {
			err = q.unwritable(err)
		}
		q.out.Ended(q.ending(err))
	}()
	if err := q.target(ctx); err != nil {
		return err
	}
	defer func() {
		if q.forked != nil {
			err = q.takeBackFork(q.ctx, err)
		}
		q.disappear(err)
		q.held.Release()
	}()
	defer func() {
		q.unlisten()
		q.closeUser()
	}()
	defer func() { q.servers.close() }()
	if err := q.take(ctx); err != nil {
		return err
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	if q.tail != nil {
		if done, err := q.settle(ctx); done || err != nil {
			return err
		}
	} else if nothing, err := q.nothingToSettle(ctx); nothing || err != nil {
		return err
	}
	return q.ask(ctx)
}

// ending is what the run came to. A new conversation that nothing was recorded in, and a
// fork that was taken back, are not there, though they have names.
func (q *query) ending(err error) ending {
	e := ending{outcome: q.outcome, err: err, id: q.known(), discard: q.opts.discardTurn && q.outcome.Turn == 0}
	if e.id != "" && q.outcome.Turn == 0 {
		if _, gone := q.repo.store.Head(q.ctx, e.id); errors.Is(gone, conversation.ErrNotFound) {
			e.id = ""
		}
	}
	return e
}

// nothingToSettle says so where the user asked to settle a turn and nothing
// else, and no turn is incomplete.
func (q *query) nothingToSettle(ctx context.Context) (bool, error) {
	if q.opts.decision() == undecided || !q.opts.bare && !q.repeats() && q.front.CanWrite() {
		return false, nil
	}
	if has, err := q.hasQuestion(ctx); has || err != nil {
		return false, err
	}
	what := "go on with"
	if q.opts.discardTurn {
		what = "discard"
	}
	q.env.note("No turn is incomplete; there is nothing to %s.", what)
	return true, nil
}

// ask runs a new turn.
func (q *query) ask(ctx context.Context) error {
	loop, err := q.loop(ctx)
	if err != nil {
		return err
	}
	request, err := q.request(ctx)
	if err != nil {
		return err
	}
	if q.fresh { // nobody else knows the id: no lock is left behind by what goes wrong before
		if err := q.lock(); err != nil {
			return err
		}
	}
	if q.opts.detach {
		return q.askDetached(ctx, loop, request)
	}
	if err := q.appear(); err != nil {
		return err
	}
	q.outcome, err = loop.Start(ctx, request)
	if q.head = loop.Head(); q.outcome.Turn > 0 {
		q.forgetDraft(request.Chat.Content)
	}
	return q.verdict(err)
}

// asks reports whether the command line has something to ask.
func (q *query) asks() bool {
	return strings.TrimSpace(strings.Join(q.opts.text, " ")) != "" || q.opts.edit || q.opts.stdin
}

func (o queryOptions) check() error {
	for _, name := range o.tools {
		if slices.Contains(o.withoutTools, name) {
			return usage("-t %s and --no-tool %s exclude each other.", safetext.Show(name), safetext.Show(name))
		}
	}
	if err := checkTitle(o.title); err != nil {
		return err
	}
	switch turnloop.Policy(o.policy) {
	case "", turnloop.PolicyAuto, turnloop.PolicyDefaults, turnloop.PolicyDeny, turnloop.PolicyQueue, turnloop.PolicyDefer:
	default:
		return usage("--policy %q is none of auto, defaults, deny, queue, defer.", o.policy)
	}
	if o.noPersist {
		if err := o.checkTransient(); err != nil {
			return err
		}
	}
	switch {
	case o.pending != "" && o.pending != "run" && o.pending != "report":
		return usage("--pending %q is neither run nor report.", o.pending)
	case o.detach && o.partial:
		return usage("--partial has nothing to show with --detach.").hint("jp attach", "shows what streams")
	case o.continueTurn && o.discardTurn:
		return usage("--continue-turn and --discard-turn exclude each other.")
	case o.continueTurn && len(o.attachments) > 0, o.continueTurn && o.schema != "":
		return usage("--continue-turn finishes the turn as it is; -a and -s belong to a new one.")
	case o.continueTurn && len(o.text) > 0:
		return usage("--continue-turn finishes the turn as it is and takes no text.").
			hint("jp continue", "finish it, and ask then").hint(`jp query --discard-turn "…"`, "drop it and ask this instead")
	}
	return nil
}

// request is what the turn begins with.
func (q *query) request(ctx context.Context) (turnloop.Request, error) {
	files, err := q.requestFiles(ctx)
	if err != nil {
		return turnloop.Request{}, err
	}
	schema, err := q.opts.parseSchema(q.env)
	if err != nil {
		return turnloop.Request{}, err
	}
	text, again, err := q.text(ctx)
	if err != nil {
		return turnloop.Request{}, err
	}
	r := turnloop.Request{Chat: conversation.ChatRequest{Content: text, Schema: schema}}
	if again != nil {
		repeat(&r, again)
	}
	attachTo(&r, files)
	if q.opts.yes {
		r.Approved = conversation.ApproveAll()
	}
	if q.opts.title != "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &q.opts.title, TitleSource: "user"}})
	}
	if note := q.note(ctx); note != nil {
		r.Records = append(r.Records, note)
	}
	if delta, err := q.delta(); err != nil || delta != nil {
		if err != nil {
			return r, err
		}
		r.Records = append(r.Records, delta)
	}
	return r, q.visit()
}

// visit makes the conversation the session's. Who is in the background has none.
func (q *query) visit() error {
	if q.handover != nil || q.opts.noPersist {
		return nil
	}
	return q.repo.session(q.env).use(q.id, q.env.now())
}

// delta is the event for what the flags change for good: another model, tools
// switched on or off. It is nil where they change nothing.
func (q *query) delta() (*conversation.Event, error) {
	if q.handover != nil && q.handover.Asked {
		return nil, nil // it is recorded
	}
	delta := map[string]any{}
	if was := q.stream.ModelOnRecord(); was != "" && was != q.model {
		delta["model"] = q.model
	}
	tools := map[string]any{}
	for _, name := range q.opts.tools {
		tools[name] = map[string]any{"enable": true}
	}
	for _, name := range q.opts.withoutTools {
		tools[name] = map[string]any{"enable": false}
	}
	if len(tools) > 0 {
		delta["tools"] = tools
	}
	if len(delta) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(delta)
	return &conversation.Event{Body: &conversation.ConfigDelta{Delta: text}}, err
}

// hasQuestion reports whether the user asks something besides settling an incomplete
// turn: on the command line, or piped in. --continue-turn takes no text.
func (q *query) hasQuestion(ctx context.Context) (bool, error) {
	if q.asks() {
		return true, nil
	}
	if q.opts.bare || q.opts.continueTurn {
		return false, nil
	}
	piped, err := q.front.Read(ctx)
	return strings.TrimSpace(piped) != "", err
}
