package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/process"
	"jp/process/attach"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
	"jp/worktree"
)

// A query is one run of the command.
type query struct {
	ctx   context.Context // for what is still to be done when the turn was interrupted
	env   *host
	front frontend
	repo  *repo
	opts  queryOptions
	out   output

	id           conversation.ID
	fresh        bool  // the conversation does not exist yet
	forked       *fork // it was made for this query; nil where it was not
	head         conversation.Head
	held         *process.Lock
	stream       *conversation.Stream
	events       []*conversation.Event        // all of them, with the incomplete turn
	stoppedAt    time.Time                    // when the newest of them happened that was there at the start
	tail         *conversation.IncompleteTurn // nil where every turn is complete
	files        *files
	registry     *tool.Registry
	servers      *servers
	plan         reconcile.Plan
	leftOut      []conversation.LeftOut      // of the snapshot that the plan is made from
	toldOutlived []conversation.ID           // of whose tools the user knows
	resolved     map[int]turnloop.Resolution // of calls of unknown outcome, by seq
	drafts       *draftKeeper
	listing      *worktree.Listing // of untracked files, which a resume compares; nil: there is none
	listed       *untrackedKeeper
	user         user // nil where nobody can be asked
	server       *attach.Server
	presence     *presence // nil where nobody can reach it, yet
	handover     *handover // nil where a person started it
	desk         *desk
	drafted      string              // what the user wrote in an editor
	discarded    *conversation.Event // the question of the turn that was just taken back, nil if none was
	running      atomic.Pointer[turnloop.Loop]
	model        string
	leftModel    string // of an incomplete turn that is left out, "" for none
	outcome      turnloop.Outcome

	parent  *query            // whose model gave the task; nil where the user asks
	command *turnloop.Command // of the user, at a question of a delegate; nil if none
}

// target finds the conversation to ask in.
func (q *query) target(ctx context.Context) error {
	if q.opts.fork != "" {
		return q.targetFork(ctx)
	}
	if q.opts.id != "" {
		id, err := q.repo.find().resolve(ctx, q.env, q.opts.id)
		q.id = id
		return err
	}
	if !q.opts.new {
		id, err := q.repo.find().visited(ctx, q.env, 0)
		if err == nil {
			q.id = id
			return nil
		}
		var none *failure
		if !errors.As(err, &none) || none.gone {
			return err
		}
		if q.opts.decision() != undecided {
			return q.chooseBroken(ctx)
		}
	}
	id, err := conversation.NewID(q.env.now(), q.env.random)
	q.id, q.fresh = id, true
	return err
}

// chooseBroken finds the conversation to settle in a session that has none: the
// user chooses, or is told which turns were broken off.
func (q *query) chooseBroken(ctx context.Context) error {
	id, err := q.repo.find().pick(ctx, q.env)
	var none *failure
	if errors.As(err, &none) && none.exit == exitUsage {
		err = q.repo.namingBroken(ctx, q.opts)
	}
	q.id = id
	return err
}

// lock takes the conversation for this process, or fails with a
// *process.LockedError.
func (q *query) lock() error {
	holder := process.Holder{
		PID: pid(), Start: process.StartOf(pid()), Started: q.env.now().UTC(), Session: q.repo.session(q.env).name, Detached: q.handover != nil,
	}
	if q.handover != nil {
		held, err := q.repo.locks.Adopt(q.id, q.handover.lock, holder)
		q.held = held
		return err
	}
	held, err := q.repo.locks.Take(q.id, holder)
	if isReadOnly(err) {
		return q.unwritable(err)
	}
	q.held = held
	return err
}

// unwritable says that the question cannot be recorded, and how it can be asked.
func (q *query) unwritable(err error) *failure {
	command := `jp query --no-persist "…"`
	if !q.fresh && q.id != "" {
		command = fmt.Sprintf(`jp query --no-persist --id=%s "…"`, q.id)
	}
	return unwritable(err).hint(command, "and so does asking; nothing is recorded")
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
	if !q.opts.noPersist && conversation.Local(events) && slices.ContainsFunc(events, func(e *conversation.Event) bool { return len(e.Payloads) > 0 }) {
		if err := q.repo.store.Keep(ctx, q.id, head); err != nil {
			return err
		}
	}
	stream, tail := conversation.Split(events)
	q.events = events
	if tail != nil {
		q.stoppedAt = reconcile.Read(events, tail, "").At
	}
	switch {
	case events[len(events)-1].Opaque():
		return fail(exitDecision, "untrusted", "Conversation %s was written by a newer jp; it can be read, not continued.", q.id).about(q.id)
	}
	if err := q.repo.standings().mayAct(ctx, q.id, head, events, "read, not continued"); err != nil {
		return err
	}
	switch {
	case tail != nil && !tail.Empty():
		q.tail = tail
	}
	q.stream = conversation.Join(stream, tail)
	if q.opts.noPersist {
		q.leaveIncomplete()
	}
	q.stream.SetClock(q.env.now)
	err = q.repo.configure(q.env, q.events)
	if err == nil && q.parent == nil { // a child shows what it does among what its parent shows
		q.front.Configured(q.repo.config.Style)
	}
	return err
}

// incompleteFailure says what an incomplete turn waits for.
func incompleteFailure(id conversation.ID, tail *conversation.IncompleteTurn) *failure {
	f := fail(exitDecision, "incomplete_turn", "Conversation %s has an incomplete turn (turn %d).", id, tail.Number).about(id)
	for _, q := range tail.Ledger().Live() {
		f.details = append(f.details, fmt.Sprintf("Waiting for input: %s — %q", q.Call.Request.Name, q.Request.Question.Text))
	}
	return f.hint("jp query --continue-turn --id="+string(id), "resume it (jp continue "+id.Short()+")").
		hint("jp query --discard-turn --id="+string(id), "discard it (jp discard "+id.Short()+")")
}

// aboutConversation adds to an error which conversation it is about.
func aboutConversation(err error, id conversation.ID) error {
	return aboutInfo(err, conversation.Info{ID: id})
}

// aboutInfo is aboutConversation for one that may have been fetched.
func aboutInfo(err error, of conversation.Info) error {
	if errors.Is(err, gitstore.ErrShallow) {
		return partial(of)
	}
	f, id := failureOf(err), of.ID
	if f.code != "damaged" {
		return f.about(id)
	}
	var damage *gitstore.DamageError
	if !errors.As(err, &damage) {
		return f.about(id) // its ref, which the message names
	}
	f.message = fmt.Sprintf("%s is damaged at %s", id, f.message)
	if damage.Good > 0 {
		f.hint(fmt.Sprintf("jp fork %s@%d", id.Short(), damage.Good-1), "go on from the last good event")
	}
	return f.about(id).hint("jp verify "+id.Short(), "all that is wrong with it")
}

// aboutDamage says of a conversation whose newest event cannot be read how much of
// it can.
func (r *repo) aboutDamage(ctx context.Context, err error, info conversation.Info) error {
	if info.Head == "" {
		return aboutInfo(err, info) // its ref names nothing that could be read
	}
	if _, found := r.store.Load(ctx, info.Head); found != nil {
		err = found
	}
	return aboutInfo(err, info)
}

// verdict makes an exit code of how the turn ended.
func (q *query) verdict(err error) error {
	if err != nil {
		var obeyed *turnloop.ObeyedError
		if errors.As(err, &obeyed) {
			return q.stoppedByObeyed(obeyed)
		}
		f := failureOf(err)
		if q.outcome.Turn > 0 && f.code != "interrupted" {
			f.about(q.id)
		}
		if f.code == "interrupted" && q.outcome.Turn > 0 && q.outcome.Status == turnloop.Incomplete && !q.opts.noPersist {
			f.about(q.id).details = append(f.details, fmt.Sprintf("Turn %d is incomplete; nothing is lost.", q.outcome.Turn))
			f.hint("jp continue "+q.id.Short(), "resumes it")
		}
		var failed *turnloop.ProviderError
		if errors.As(err, &failed) && q.outcome.Turn > 0 {
			q.wayOut(f, err)
		}
		return f
	}
	switch q.outcome.Status {
	case turnloop.Waiting:
		return q.waiting()
	case turnloop.Complete, turnloop.Length:
		if q.outcome.Unfit != nil && q.outcome.Status == turnloop.Length {
			return fail(exitFailed, "provider", "the answer was cut off before it satisfied the schema.").about(q.id)
		}
		if q.outcome.Unfit != nil {
			return fail(exitFailed, "provider", "the answer does not satisfy the schema: %v.", q.outcome.Unfit).about(q.id)
		}
		if q.outcome.Empty {
			return q.emptyAnswer()
		}
	case turnloop.Refused:
		return fail(exitFailed, "provider", "the model refused to answer; the turn is over.").about(q.id)
	case turnloop.Stopped:
		if failing := q.outcome.Failing; failing != nil {
			return q.stoppedFor(failing)
		}
		if q.outcome.By == conversation.ByLimit {
			return fail(exitFailed, "interrupted", "the turn was stopped: it reached the limit of model calls (limits.model_calls).").about(q.id).
				hint(`jp query --cfg limits.model_calls=N "…"`, "go on in a turn with another limit")
		}
		if q.outcome.By == conversation.ByBudget {
			return fail(exitFailed, "interrupted", "the turn was stopped: it used up its budget of tokens (limits.tokens).").about(q.id).
				hint(`jp query --cfg limits.tokens=N "…"`, "go on in a turn with another budget; 0 is none")
		}
	}
	return nil
}

// waiting says what a turn waits for, and for whom.
func (q *query) waiting() error {
	w, who := q.outcome.Waiting, string(q.id)
	if q.outcome.In != "" {
		who = fmt.Sprintf("%s, which works for %s,", q.outcome.In, q.id)
	}
	f := fail(exitDecision, "incomplete_turn", "Conversation %s waits for an answer, and there is nobody to ask (policy %s).", who, q.policy()).about(q.id)
	if q.policy() == turnloop.PolicyQueue && q.presence != nil {
		f.message = fmt.Sprintf("Conversation %s waits for an answer: there is no terminal to ask at, and no answer came within %s (policy.timeout).", who, conversation.Ago(q.desk.limit))
	}
	f.details = append(f.details, fmt.Sprintf("%s — %q", w.Call.Request.Name, w.Request.Question.Text))
	i := attach.InquiryOf(cmp.Or(q.outcome.In, q.id), w)
	f.hint(answerCommand(i), answerWords(i)+": answers it, from any shell")
	f.hint("jp continue "+q.id.Short(), "asks again")
	if w.Request.Kind == conversation.KindRunTool && !w.Request.Exclusive {
		f.hint("jp continue -y "+q.id.Short(), "goes on and runs all tools of the turn unasked")
	}
	return f.hint("jp print "+string(q.id), "how far it came")
}
