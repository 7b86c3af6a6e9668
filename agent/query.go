package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"jp/agent/attachments"
	"jp/agent/background"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/titles"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A Request is what a run is to do.
type Request struct {
	Text           []string
	New            bool
	ID             string
	Fork           string // E, or forkAtEnd; "" for no fork
	Model          string
	Yes            bool
	Tools          []string
	WithoutTools   []string
	NoTools        bool
	Title          string
	Attachments    []string
	Schema         string
	Policy         string
	NonInteractive bool
	Partial        bool
	Edit, NoEdit   bool
	Stdin, NoStdin bool
	ContinueTurn   bool
	DiscardTurn    bool
	Bare           bool // nothing is asked afterwards
	Pending        string
	Anyway         bool
	Detach         bool
	Wait           bool // as long as a provider asks
	NoPersist      bool
	Quiet, Verbose bool
}

func NewQuery(ctx context.Context, front Frontend, r *repo.Repo, o Request, h *background.Handover) *query {
	return &query{
		ctx: context.WithoutCancel(ctx), env: r.Env, front: front, repo: r, opts: o, handover: h,
		out: front.Output(OutputOptions{Partial: o.Partial}),
	}
}

func (q *query) Run(ctx context.Context) (err error) {
	defer func() {
		if repo.IsReadOnly(err) {
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
		q.presence.Close(q.bye(err))
		q.held.Release()
	}()
	defer func() {
		q.unlisten()
		q.closeUser()
	}()
	defer func() { q.servers.Close() }()
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
func (q *query) ending(err error) Ending {
	e := Ending{Outcome: q.outcome, Err: err, ID: q.known(), Discard: q.opts.DiscardTurn && q.outcome.Turn == 0}
	if e.ID != "" && q.outcome.Turn == 0 {
		if _, gone := q.repo.Store.Head(q.ctx, e.ID); errors.Is(gone, conversation.ErrNotFound) {
			e.ID = ""
		}
	}
	return e
}

// nothingToSettle says so where the user asked to settle a turn and nothing
// else, and no turn is incomplete.
func (q *query) nothingToSettle(ctx context.Context) (bool, error) {
	if q.opts.decision() == undecided || !q.opts.Bare && !q.repeats() && q.front.CanWrite() {
		return false, nil
	}
	if has, err := q.hasQuestion(ctx); has || err != nil {
		return false, err
	}
	what := "go on with"
	if q.opts.DiscardTurn {
		what = "discard"
	}
	q.env.Note("No turn is incomplete; there is nothing to %s.", what)
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
	if q.opts.Detach {
		return q.detach(ctx, func() error {
			if err := loop.Begin(ctx, request); err != nil {
				return err
			}
			q.head = loop.Head()
			q.forgetDraft(request.Chat.Content)
			return nil
		})
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
	return strings.TrimSpace(strings.Join(q.opts.Text, " ")) != "" || q.opts.Edit || q.opts.Stdin
}

func (o Request) Check() error {
	for _, name := range o.Tools {
		if slices.Contains(o.WithoutTools, name) {
			return problem.Usage("-t %s and --no-tool %s exclude each other.", safetext.Show(name), safetext.Show(name))
		}
	}
	if err := titles.Check(o.Title); err != nil {
		return err
	}
	switch turnloop.Policy(o.Policy) {
	case "", turnloop.PolicyAuto, turnloop.PolicyDefaults, turnloop.PolicyDeny, turnloop.PolicyQueue, turnloop.PolicyDefer:
	default:
		return problem.Usage("--policy %q is none of auto, defaults, deny, queue, defer.", o.Policy)
	}
	if o.NoPersist {
		if err := o.checkTransient(); err != nil {
			return err
		}
	}
	switch {
	case o.Pending != "" && o.Pending != "run" && o.Pending != "report":
		return problem.Usage("--pending %q is neither run nor report.", o.Pending)
	case o.Detach && o.Partial:
		return problem.Usage("--partial has nothing to show with --detach.").Hint("jp attach", "shows what streams")
	case o.ContinueTurn && o.DiscardTurn:
		return problem.Usage("--continue-turn and --discard-turn exclude each other.")
	case o.ContinueTurn && len(o.Attachments) > 0, o.ContinueTurn && o.Schema != "":
		return problem.Usage("--continue-turn finishes the turn as it is; -a and -s belong to a new one.")
	case o.ContinueTurn && len(o.Text) > 0:
		return problem.Usage("--continue-turn finishes the turn as it is and takes no text.").
			Hint("jp continue", "finish it, and ask then").Hint(`jp query --discard-turn "…"`, "drop it and ask this instead")
	}
	return nil
}

// request is what the turn begins with.
func (q *query) request(ctx context.Context) (turnloop.Request, error) {
	files, err := (attachments.Source{Repo: q.repo, Env: q.env, ID: q.id, Input: q.front.Input()}).Read(ctx, q.opts.Attachments)
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
		attachments.Repeat(&r, again)
	}
	attachments.AddTo(&r, files)
	if q.opts.Yes {
		r.Approved = conversation.ApproveAll()
	}
	if q.opts.Title != "" {
		r.Records = append(r.Records, &conversation.Event{Body: &conversation.Metadata{Title: &q.opts.Title, TitleSource: "user"}})
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
	if q.handover != nil || q.opts.NoPersist {
		return nil
	}
	return q.repo.Session(q.env).Use(q.id, q.env.Now())
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
	for _, name := range q.opts.Tools {
		tools[name] = map[string]any{"enable": true}
	}
	for _, name := range q.opts.WithoutTools {
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
	if q.opts.Bare || q.opts.ContinueTurn {
		return false, nil
	}
	piped, err := q.front.Read(ctx)
	return strings.TrimSpace(piped) != "", err
}
