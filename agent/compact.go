package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/compaction"
	"jp/conversation"
	"jp/internal/action"
	"jp/provider"
	"jp/provider/catalog"
	"jp/tool"
	"jp/turnloop"
)

// A CompactRequest is a user's request for a compaction.
type CompactRequest struct {
	ID       string
	To       string // the newest event to cover; "": as far as Keep leaves
	Keep     int    // newest model calls that stay as they are; negative: as configured
	Focus    string // the subject of the summary
	TrimOnly bool
	DryRun   bool // only plan: record no event and ask no model
	Undo     bool // the newest compaction that holds
}

// A Compacted conversation is the result of a [CompactRequest].
type Compacted struct {
	ID     conversation.ID
	Events []*conversation.Event    // of the conversation, the new one with them
	Event  *conversation.Event      // the recorded one, or nil
	Plan   *conversation.Compaction // done, or only planned; nil if there is nothing to compact
	Undone *conversation.Event      // the compaction that Undo ended
}

// Compact makes room in a conversation, estimates the room that this would make, or undoes the newest
// compaction. It fails while a turn runs. An interrupted turn stays as it is.
func Compact(ctx context.Context, r *repo.Repo, o CompactRequest, front Frontend) (done Compacted, err error) {
	if o.DryRun {
		return wouldCompact(ctx, r, o)
	}
	r.Store.PrepareWrite()
	id, err := r.Find().Resolve(ctx, r.Env, o.ID)
	if err != nil {
		return done, err
	}
	run := newRun(front, r, Request{Target: Target{ID: string(id)}, Input: Input{None: true}, Resume: ResumeOptions{Continue: true}}, nil)
	t := newTarget(run, id)
	defer func() {
		run.out.Ended(Ending{ID: id, Err: err})
		t.res.close()
	}()
	if err := t.acquireLock(ctx); err != nil {
		return done, err
	}
	l, err := t.load(ctx)
	if err != nil {
		return done, err
	}
	done.ID = id
	opts := turnloop.Options{
		Conversation: turnloop.ConversationOptions{
			Journal: r.Store,
			ID:      id,
			Head:    l.head,
			Stream:  l.stream,
		},
		Tools: turnloop.ToolOptions{
			Registry: new(tool.Registry),
		},
		Clock: turnloop.Clock{
			Now: r.Env.Now,
		},
		Observer: run.out,
		Secrets: turnloop.SecretOptions{
			Redact: r.Values.Concealer(id),
		},
	}
	var order func(context.Context, turnloop.Room) ([]conversation.Body, error)
	if o.Undo {
		if done.Undone = compaction.Newest(l.stream.Events()); done.Undone == nil {
			return done, problem.Usage("%s has no compaction to undo.", id.Short()).About(id)
		}
		order = func(context.Context, turnloop.Room) ([]conversation.Body, error) {
			return []conversation.Body{&conversation.CompactionUndone{For: done.Undone.Seq}}, nil
		}
	} else if order, err = l.order(ctx, o, &opts, &done); err != nil {
		return done, err
	}
	events, err := turnloop.Compact(ctx, opts, order)
	if errors.Is(err, errNothing) {
		err = nil
	}
	done.Events = l.stream.Events()
	if err == nil && len(events) > 0 {
		done.Event = events[0]
	}
	return done, l.notCompacted(err)
}

// order opens the model of the conversation, and sets up the loop for the compaction.
func (l *history) order(ctx context.Context, o CompactRequest, opts *turnloop.Options, done *Compacted) (func(context.Context, turnloop.Room) ([]conversation.Body, error), error) {
	model, err := l.chooseModel(ctx)
	if err != nil {
		return nil, err
	}
	open := unasked(ctx, l.run.repo, model)
	if !o.TrimOnly {
		if open, err = models.OpenModel(ctx, l.run.env, l.run.repo, model); err != nil {
			return nil, err
		}
	}
	opts.Model.Provider, opts.Model.API, opts.Model.Endpoint, opts.Model.Account, opts.Model.Name = open, open.API, open.Endpoint, open.Account, model
	wanted, err := orderOf(l.run.repo, l.target.id, l.stream.Events(), o)
	if err != nil {
		return nil, err
	}
	c := l.compactor(model, open, l.run.out.Noticed)
	return func(ctx context.Context, r turnloop.Room) ([]conversation.Body, error) {
		plan, err := c.Do(ctx, r, wanted)
		if err != nil {
			return nil, err
		}
		done.Plan = plan
		return []conversation.Body{plan}, nil
	}, nil
}

// orderOf reads a request by the events and the configuration of a conversation.
func orderOf(r *repo.Repo, id conversation.ID, events []*conversation.Event, o CompactRequest) (CompactionOrder, error) {
	wanted := CompactionOrder{To: -1, Keep: o.Keep, Exactly: o.Keep >= 0, Focus: o.Focus, TrimOnly: o.TrimOnly}
	if o.Keep < 0 {
		wanted.Keep = int(r.Config.Compaction.KeepCycles)
	}
	if o.To != "" {
		to, err := repo.SelectEvent(events, o.To, id, r.Env.Now())
		if err != nil {
			return wanted, err
		}
		wanted.To = to.Seq
		if o.Keep < 0 {
			wanted.Keep = 0 // the end is named
		}
	}
	return wanted, nil
}

// wouldCompact estimates the result of a compaction.
func wouldCompact(ctx context.Context, r *repo.Repo, o CompactRequest) (done Compacted, err error) {
	v, err := r.Find().View(ctx, r.Env, o.ID)
	if err == nil {
		err = v.Damage(nil)
	}
	if err != nil {
		return done, err
	}
	if err := r.Configure(r.Env, v.Events); err != nil {
		return done, err
	}
	done.ID, done.Events = v.ID, v.Events
	wanted, err := orderOf(r, v.ID, v.Events, o)
	if err != nil {
		return done, err
	}
	model := nextModelOf(r, v.Events)
	if model == "" {
		if model, err = models.ProvidersOf(r).UsualModel(ctx, r.Env); err != nil {
			return done, err
		}
	}
	of := &run{env: r.Env, repo: r, res: &resources{}}
	l := &history{run: of, res: of.res, target: newTarget(of, v.ID)}
	open := unasked(ctx, r, model)
	c := l.compactor(model, open, r.Env.Notify)
	content := func(p conversation.Payload) ([]byte, bool) {
		data, ok, err := r.Store.Payload(ctx, p)
		return data, ok && err == nil
	}
	done.Plan, err = c.plan(turnloop.Room{Events: v.Events, Request: provider.Options{Model: model, API: open.API, Content: content}}, wanted)
	if errors.Is(err, errNothing) {
		err = nil
	}
	return done, err
}

// unasked is a model of which only the context matters, so it needs no key.
func unasked(ctx context.Context, r *repo.Repo, model string) *catalog.Provider {
	if vendor, _, _ := models.CutModel(model); vendor == models.Scripted { // its file gives the context
		if script, err := models.OpenModel(ctx, r.Env, r, model); err == nil {
			return script
		}
	}
	return &catalog.Provider{Context: models.ContextOf(r, model)}
}

// notCompacted explains an error of a compaction.
func (l *history) notCompacted(err error) error {
	var refused *provider.Error
	switch {
	case errors.As(err, &refused) && refused.Class == provider.ClassBudget:
		return problem.New(problem.ExitFailed, "interrupted", "jp could not compact %s: %s. Nothing was changed.", l.target.id.Short(), refused.Message).About(l.target.id).
			Hint(action.CompactTrim(l.target.id.Short()), "makes room without a model")
	case errors.Is(err, errNoSummary), errors.Is(err, errUncited), errors.Is(err, errLonger):
		return problem.New(problem.ExitFailed, "provider", "jp could not compact %s: %v. Nothing was changed.", l.target.id.Short(), err).About(l.target.id).
			Hint(action.CompactTrim(l.target.id.Short()), "makes room without a model")
	case errors.As(err, &refused):
		f := repo.ProblemOf(&turnloop.ProviderError{Tries: 1, Err: err}).About(l.target.id)
		f.Message = strings.TrimSuffix(f.Message, repo.QuestionKept) + "Nothing was changed."
		return f.Hint(action.CompactTrim(l.target.id.Short()), "makes room without a model")
	}
	return err
}

// compactor makes room in the conversation, whose model is open.
func (l *history) compactor(model string, open *catalog.Provider, notice func(string)) *Compactor {
	set := l.run.repo.Config.Compaction
	c := &Compactor{
		Model: model, Provider: open, Window: open.Context, At: set.At, Keep: int(set.KeepCycles), Auto: set.Auto, Notice: notice, Now: l.run.env.Now,
	}
	if name := l.run.repo.Config.ResolveModel(set.Model); name != "" && name != model {
		c.Other = func(ctx context.Context) (SummaryWriter, error) {
			other, err := models.OpenModel(ctx, l.run.env, l.run.repo, name)
			if err != nil {
				return SummaryWriter{}, err
			}
			writer := provider.Provider(other)
			if l.res.spent != nil {
				writer = l.res.spent.Limit(other, other.Price)
			}
			return SummaryWriter{Model: name, Provider: writer, Options: provider.Options{
				Model: name, API: other.API, Endpoint: other.Endpoint, Account: other.Account,
			}}, nil
		}
	}
	return c
}
