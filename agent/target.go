package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"jp/agent/background"
	"jp/agent/drafts"
	"jp/agent/evidence"
	"jp/agent/presence"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/fork"
	"jp/process"
	"jp/process/attach"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

// A query is one run of the command.
type query struct {
	ctx   context.Context // for what is still to be done when the turn was interrupted
	env   *repo.Host
	front Frontend
	repo  *repo.Repo
	opts  Request
	out   Output

	id           conversation.ID
	fresh        bool       // the conversation does not exist yet
	forked       *fork.Fork // it was made for this query; nil where it was not
	head         conversation.Head
	held         *process.Lock
	stream       *conversation.Stream
	events       []*conversation.Event        // all of them, with the incomplete turn
	stoppedAt    time.Time                    // when the newest of them happened that was there at the start
	tail         *conversation.IncompleteTurn // nil where every turn is complete
	files        *snapshot.Files
	registry     *tool.Registry
	servers      *toolset.Servers
	plan         reconcile.Plan
	toldOutlived []conversation.ID           // of whose tools the user knows
	resolved     map[int]turnloop.Resolution // of calls of unknown outcome, by seq
	drafts       *drafts.AnswerKeeper
	evidence     *evidence.Source // of the incomplete turn; nil where it was not looked at
	listed       *snapshot.UntrackedKeeper
	user         User                 // nil where nobody can be asked
	presence     *presence.Presence   // nil until the loop is prepared
	handover     *background.Handover // nil where a person started it
	drafted      string               // what the user wrote in an editor
	discarded    *conversation.Event  // the question of the turn that was just taken back, nil if none was
	model        string
	leftModel    string // of an incomplete turn that is left out, "" for none
	outcome      turnloop.Outcome

	parent   *query             // whose model gave the task; nil where the user asks
	delegate *presence.Delegate // how others see it where it has a parent
}

// target finds the conversation to ask in.
func (q *query) target(ctx context.Context) error {
	if q.opts.Fork != "" {
		return q.targetFork(ctx)
	}
	if q.opts.ID != "" {
		id, err := q.repo.Find().Resolve(ctx, q.env, q.opts.ID)
		q.id = id
		return err
	}
	if !q.opts.New {
		id, err := q.repo.Find().Visited(ctx, q.env, 0)
		if err == nil {
			q.id = id
			return nil
		}
		var none *problem.Error
		if !errors.As(err, &none) || none.Gone {
			return err
		}
		if q.opts.decision() != undecided {
			return q.chooseBroken(ctx)
		}
	}
	id, err := conversation.NewID(q.env.Now(), q.env.Random)
	q.id, q.fresh = id, true
	return err
}

// chooseBroken finds the conversation to settle in a session that has none: the
// user chooses, or is told which turns were broken off.
func (q *query) chooseBroken(ctx context.Context) error {
	id, err := q.repo.Find().Pick(ctx, q.env)
	var none *problem.Error
	if errors.As(err, &none) && none.Exit == problem.ExitUsage {
		err = namingBroken(ctx, q.repo, q.opts)
	}
	q.id = id
	return err
}

// lock takes the conversation for this process, or fails with a
// *process.LockedError.
func (q *query) lock() error {
	holder := process.Holder{
		PID: repo.PID(), Start: process.StartOf(repo.PID()), Started: q.env.Now().UTC(), Session: q.repo.Session(q.env).Name, Detached: q.handover != nil,
	}
	if q.handover != nil {
		held, err := q.repo.Locks.Adopt(q.id, q.handover.Lock, holder)
		q.held = held
		return err
	}
	held, err := q.repo.Locks.Take(q.id, holder)
	if repo.IsReadOnly(err) {
		return q.unwritable(err)
	}
	q.held = held
	return err
}

// unwritable says that the question cannot be recorded, and how it can be asked.
func (q *query) unwritable(err error) *problem.Error {
	command := `jp query --no-persist "…"`
	if !q.fresh && q.id != "" {
		command = fmt.Sprintf(`jp query --no-persist --id=%s "…"`, q.id)
	}
	return repo.Unwritable(err).Hint(command, "and so does asking; nothing is recorded")
}

// load reads the conversation and refuses one in which a decision is open.
func (q *query) load(ctx context.Context) error {
	q.stream = conversation.NewStream(q.env.Now)
	if q.fresh {
		return nil
	}
	head, err := q.repo.Store.Head(ctx, q.id)
	if err != nil {
		return err
	}
	events, err := q.repo.Store.Load(ctx, head)
	if err != nil {
		return repo.AboutConversation(err, q.id)
	}
	q.head = head
	if !q.opts.NoPersist && conversation.Local(events) && slices.ContainsFunc(events, func(e *conversation.Event) bool { return len(e.Payloads) > 0 }) {
		if err := q.repo.Store.Keep(ctx, q.id, head); err != nil {
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
		return problem.New(problem.ExitDecision, "untrusted", "Conversation %s was written by a newer jp; it can be read, not continued.", q.id).About(q.id)
	}
	if err := q.repo.Standings().MayAct(ctx, q.id, head, events, "read, not continued"); err != nil {
		return err
	}
	switch {
	case tail != nil && !tail.Empty():
		q.tail = tail
	}
	q.stream = conversation.Join(stream, tail)
	if q.opts.NoPersist {
		q.leaveIncomplete()
	}
	q.stream.SetClock(q.env.Now)
	err = q.repo.Configure(q.env, q.events)
	if err == nil && q.parent == nil { // a child shows what it does among what its parent shows
		q.front.Configured(q.repo.Config.Style)
	}
	return err
}

// verdict makes an exit code of how the turn ended.
func (q *query) verdict(err error) error {
	if err != nil {
		var obeyed *turnloop.ObeyedError
		if errors.As(err, &obeyed) {
			return q.stoppedByObeyed(obeyed)
		}
		f := repo.ProblemOf(err)
		if q.outcome.Turn > 0 && f.Code != "interrupted" {
			f.About(q.id)
		}
		if f.Code == "interrupted" && q.outcome.Turn > 0 && q.outcome.Status == turnloop.Incomplete && !q.opts.NoPersist {
			f.About(q.id).Details = append(f.Details, fmt.Sprintf("Turn %d is incomplete; nothing is lost.", q.outcome.Turn))
			f.Hint("jp continue "+q.id.Short(), "resumes it")
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
			return problem.New(problem.ExitFailed, "provider", "the answer was cut off before it satisfied the schema.").About(q.id)
		}
		if q.outcome.Unfit != nil {
			return problem.New(problem.ExitFailed, "provider", "the answer does not satisfy the schema: %v.", q.outcome.Unfit).About(q.id)
		}
		if q.outcome.Empty {
			return q.emptyAnswer()
		}
	case turnloop.Refused:
		return problem.New(problem.ExitFailed, "provider", "the model refused to answer; the turn is over.").About(q.id)
	case turnloop.Stopped:
		if failing := q.outcome.Failing; failing != nil {
			return q.stoppedFor(failing)
		}
		if q.outcome.By == conversation.ByLimit {
			return problem.New(problem.ExitFailed, "interrupted", "the turn was stopped: it reached the limit of model calls (limits.model_calls).").About(q.id).
				Hint(`jp query --cfg limits.model_calls=N "…"`, "go on in a turn with another limit")
		}
		if q.outcome.By == conversation.ByBudget {
			return problem.New(problem.ExitFailed, "interrupted", "the turn was stopped: it used up its budget of tokens (limits.tokens).").About(q.id).
				Hint(`jp query --cfg limits.tokens=N "…"`, "go on in a turn with another budget; 0 is none")
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
	f := problem.New(problem.ExitDecision, "incomplete_turn", "Conversation %s waits for an answer, and there is nobody to ask (policy %s).", who, q.policy()).About(q.id)
	if q.policy() == turnloop.PolicyQueue && q.presence.Published() {
		f.Message = fmt.Sprintf("Conversation %s waits for an answer: there is no terminal to ask at, and no answer came within %s (policy.timeout).", who, conversation.Ago(q.presence.Limit()))
	}
	f.Details = append(f.Details, fmt.Sprintf("%s — %q", w.Call.Request.Name, w.Request.Question.Text))
	i := attach.InquiryOf(cmp.Or(q.outcome.In, q.id), w)
	f.Hint(repo.AnswerCommand(i), repo.AnswerWords(i)+": answers it, from any shell")
	f.Hint("jp continue "+q.id.Short(), "asks again")
	if w.Request.Kind == conversation.KindRunTool && !w.Request.Exclusive {
		f.Hint("jp continue -y "+q.id.Short(), "goes on and runs all tools of the turn unasked")
	}
	return f.Hint("jp print "+string(q.id), "how far it came")
}
