package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/process"
	"jp/turnloop"
)

// queryOptions are the flags of jp query.
type queryOptions struct {
	text           []string
	new            bool
	id             string
	model          string
	yes            bool
	tools          []string
	withoutTools   []string
	noTools        bool
	title          string
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
}

const queryHelp = `Ask the model, in this session's conversation or a new one, and let it use tools.

The text is the words given; what is piped in stands before it. Without a text
an editor opens. On a terminal the answer streams to it; piped, stdout gets the
final message only. Every event is durable before it is shown as such.

Exit codes: 0 done · 1 refused, or over a limit · 2 usage, configuration, model ·
3 a decision is needed first · 4 locked · 5 no such conversation · 6 damaged ·
7 the provider failed · 130, 143, 129 interrupted (what was recorded stays)`

const queryExamples = `  jp query "Why does login hang when the server is down?"
  git diff | jp query "Review this."
  jp query -y --new "Cap the retries, and test it."
  jp query --json "…" | jq -r 'select(.type=="result").message'
  jp query -m script/demo "…"            # needs no key`

func newQueryCommand(e *env) *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use: "query [TEXT…]", Aliases: []string{"q"}, GroupID: "ask",
		Short: "Ask the model", Long: queryHelp, Example: queryExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.text = args
			return runQuery(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.new, "new", "n", false, "start a new conversation")
	f.StringVarP(&o.id, "id", "i", "", "ask in this conversation `ID`")
	f.StringVarP(&o.model, "model", "m", "", "ask this model, `PROVIDER/NAME` or an alias")
	f.BoolVarP(&o.yes, "yes", "y", false, "approve the tool runs of this turn in advance")
	f.StringArrayVarP(&o.tools, "tool", "t", nil, "switch this tool `NAME` on, from now on (repeatable)")
	f.StringArrayVar(&o.withoutTools, "no-tool", nil, "switch this tool `NAME` off, from now on (repeatable)")
	f.BoolVarP(&o.noTools, "no-tools", "T", false, "no tools in this turn, but those of -t")
	f.StringVar(&o.title, "title", "", "give the conversation a title")
	f.StringVar(&o.policy, "policy", "", "when nobody can be asked: auto, defaults, deny, queue or defer (default defer)")
	f.BoolVar(&o.nonInteractive, "non-interactive", false, "ask nobody, even on a terminal")
	f.BoolVar(&o.partial, "partial", false, "with jsonl: also text that is not durable yet")
	f.BoolVarP(&o.edit, "edit", "e", false, "write the text in an editor")
	f.BoolVarP(&o.noEdit, "no-edit", "E", false, "never open an editor")
	f.BoolVar(&o.stdin, "stdin", false, "wait for standard input without limit")
	f.BoolVar(&o.noStdin, "no-stdin", false, "never read standard input")
	cmd.MarkFlagsMutuallyExclusive("new", "id")
	cmd.MarkFlagsMutuallyExclusive("edit", "no-edit")
	cmd.MarkFlagsMutuallyExclusive("stdin", "no-stdin")
	return cmd
}

// runQuery runs one turn. What can be wrong is checked in this order: the
// target, the lock, an open decision, configuration and model.
func runQuery(ctx context.Context, e *env, o queryOptions) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	q := &query{ctx: context.WithoutCancel(ctx), env: e, repo: r, opts: o}
	q.out = newOutput(e, r, o)
	defer func() { err = q.out.ended(q.outcome, err) }()
	if err := q.target(ctx); err != nil {
		return err
	}
	defer func() { q.held.Release() }()
	if !q.fresh {
		if err := q.lock(); err != nil {
			return err
		}
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	defer func() { q.client.close() }()
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
	q.outcome, err = loop.Start(ctx, request)
	if q.head = loop.Head(); q.outcome.Turn > 0 {
		os.Remove(q.draft()) // what it kept is recorded now
	}
	return q.verdict(err)
}

func (o queryOptions) check() error {
	switch turnloop.Policy(o.policy) {
	case "", turnloop.PolicyAuto, turnloop.PolicyDefaults, turnloop.PolicyDeny, turnloop.PolicyQueue, turnloop.PolicyDefer:
		return nil
	}
	return usage("--policy %q is none of auto, defaults, deny, queue, defer.", o.policy)
}

// A query is one run of the command.
type query struct {
	ctx  context.Context // for what is still to be done when the turn was interrupted
	env  *env
	repo *repo
	opts queryOptions
	out  output

	id      conversation.ID
	fresh   bool // the conversation does not exist yet
	head    conversation.Head
	held    *process.Lock
	stream  *conversation.Stream
	client  *client // nil where nobody can be asked
	model   string
	outcome turnloop.Outcome
}

// target finds the conversation to ask in.
func (q *query) target(ctx context.Context) error {
	if q.opts.id != "" {
		id, err := q.repo.resolve(ctx, q.env, q.opts.id)
		q.id = id
		return err
	}
	if !q.opts.new {
		id, err := q.repo.visited(ctx, q.env, 0)
		if err == nil {
			q.id = id
			return nil
		}
		var none *failure
		if !errors.As(err, &none) {
			return err
		}
	}
	id, err := conversation.NewID(q.env.now(), q.env.random)
	q.id, q.fresh = id, true
	return err
}

// lock takes the conversation for this process.
func (q *query) lock() error {
	holder := process.Holder{PID: pid(), Started: q.env.now().UTC(), Session: q.repo.session(q.env).name}
	held, err := q.repo.locks.Take(q.id, holder)
	if isReadOnly(err) {
		return fail(exitFailed, "internal", "the repository cannot be written to: %v", err)
	}
	q.held = held
	return err
}

// load reads the conversation and refuses one in which a decision is open.
func (q *query) load(ctx context.Context) error {
	q.stream = conversation.NewStream(q.env.now)
	if q.fresh {
		return nil
	}
	head, err := q.repo.store.Head(ctx, q.id)
	if err != nil {
		return err
	}
	events, err := q.repo.store.Load(ctx, head)
	if err != nil {
		return aboutConversation(err, q.id)
	}
	q.head = head
	stream, tail := conversation.Split(events)
	switch {
	case events[len(events)-1].Opaque():
		return fail(exitDecision, "untrusted", "Conversation %s was written by a newer jp; it can be read, not continued.", q.id).about(q.id)
	case !conversation.Local(events):
		return fail(exitDecision, "untrusted", "Conversation %s was written by someone else; it can be read, not continued.", q.id).about(q.id)
	case tail != nil && !tail.Empty():
		return incompleteFailure(q.id, tail)
	}
	q.stream = conversation.Join(stream, tail)
	q.stream.SetClock(q.env.now)
	return q.repo.configure(q.env, events)
}

// incompleteFailure says what an incomplete turn waits for.
func incompleteFailure(id conversation.ID, tail *conversation.IncompleteTurn) error {
	f := fail(exitDecision, "incomplete_turn", "Conversation %s has an incomplete turn (turn %d).", id, tail.Number).about(id)
	for _, q := range tail.Ledger().Live() {
		f.details = append(f.details, fmt.Sprintf("Waiting for input: %s — %q", q.Call.Request.Name, q.Request.Question.Text))
	}
	return f.hint("jp print "+string(id), "how far it came").hint(`jp query --new "…"`, "ask in a new conversation")
}

// aboutConversation adds to an error which conversation it is about.
func aboutConversation(err error, id conversation.ID) error {
	f := failureOf(err)
	if f.code == "damaged" {
		f.message = fmt.Sprintf("%s is damaged at %s", id, f.message)
	}
	return f.about(id)
}

// loop prepares the turn loop.
func (q *query) loop(ctx context.Context) (*turnloop.Loop, error) {
	q.model = q.chooseModel()
	model, err := openModel(q.env, q.repo, q.model)
	if err != nil {
		return nil, err
	}
	tools, err := q.tools()
	if err != nil {
		return nil, err
	}
	files, err := q.repo.openFiles(ctx)
	if err != nil {
		return nil, err
	}
	q.out.begin(q, files)
	for _, line := range q.repo.heldBack() {
		q.out.Noticed(line)
	}
	opts := turnloop.Options{
		Journal: q.repo.store, ID: q.id, Head: q.head, Stream: q.stream,
		Provider: model, API: strings.Split(q.model, "/")[0], Model: q.model, System: systemPrompt, Tools: tools,
		Workspace: files, Hold: files.hold, ToolLock: q.toolLock,
		Policy: q.policy(), Grant: q.repo.config.Policy.Allow, Observer: q.out,
		JP: version(), Now: q.env.now,
		Limits: turnloop.Limits{
			ModelCalls: int(q.repo.config.Limits.ModelCalls), ToolOutput: int(q.repo.config.Limits.ToolOutput),
			ToolTimeout: q.repo.config.Limits.ToolTimeout,
		},
	}
	if q.client = q.openClient(); q.client != nil {
		opts.Prompter = q.client
	}
	if opts.Base, err = q.base(ctx, files); err != nil {
		return nil, err
	}
	return turnloop.New(opts), nil
}

// base is the commit that a new conversation branches off.
func (q *query) base(ctx context.Context, files *files) (string, error) {
	if !q.fresh || q.repo.config.Snapshot.Base == "none" || files.tree == nil {
		return "", nil
	}
	state, err := files.tree.State(ctx)
	return state.Head, err
}

// policy is what happens to questions that nobody can be asked.
func (q *query) policy() turnloop.Policy {
	for _, name := range []string{q.opts.policy, q.repo.config.Policy.Detached} {
		if name != "" {
			return turnloop.Policy(name)
		}
	}
	return turnloop.PolicyDefer
}

// request is what the turn begins with.
func (q *query) request(ctx context.Context) (turnloop.Request, error) {
	text, err := q.text(ctx)
	if err != nil {
		return turnloop.Request{}, err
	}
	r := turnloop.Request{Chat: conversation.ChatRequest{Content: text}}
	if q.opts.yes {
		r.Approved = conversation.ApproveAll()
	}
	if q.opts.title != "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &q.opts.title, TitleSource: "user"}})
	}
	if delta, err := q.delta(); err != nil || delta != nil {
		if err != nil {
			return r, err
		}
		r.Records = append(r.Records, delta)
	}
	return r, q.repo.session(q.env).use(q.id, q.env.now())
}

// delta is the event for what the flags change for good: another model, tools
// switched on or off. It is nil where they change nothing.
func (q *query) delta() (*conversation.Event, error) {
	delta := map[string]any{}
	if was := q.stream.Model(); was != "" && was != q.model {
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

// verdict makes an exit code of how the turn ended.
func (q *query) verdict(err error) error {
	if err != nil {
		f := failureOf(err)
		if q.outcome.Turn > 0 && f.code != "interrupted" {
			f.about(q.id)
		}
		return f
	}
	switch q.outcome.Status {
	case turnloop.Waiting:
		return q.waiting()
	case turnloop.Refused:
		return fail(exitFailed, "provider", "the model refused to answer; the turn is over.").about(q.id)
	case turnloop.Stopped:
		if q.outcome.By == conversation.ByLimit {
			return fail(exitFailed, "internal", "the turn was stopped: it reached the limit of model calls.").about(q.id)
		}
	}
	return nil
}

// waiting says what a turn waits for, and for whom.
func (q *query) waiting() error {
	w := q.outcome.Waiting
	f := fail(exitDecision, "incomplete_turn", "Conversation %s waits for an answer, and there is nobody to ask (policy %s).", q.id, q.policy()).about(q.id)
	f.details = append(f.details, fmt.Sprintf("%s — %q", w.Call.Request.Name, w.Request.Question.Text))
	return f.hint("jp print "+string(q.id), "how far it came")
}
