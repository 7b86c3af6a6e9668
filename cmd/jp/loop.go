package main

import (
	"context"
	"math"
	"slices"

	"jp/conversation"
	"jp/provider"
	"jp/turnloop"
)

// loop prepares the turn loop.
func (q *query) loop(ctx context.Context) (*turnloop.Loop, error) {
	if q.repo.wrong != nil {
		return nil, q.repo.wrong
	}
	var err error
	if q.model, err = q.chooseModel(ctx); err != nil {
		return nil, err
	}
	model, err := openModel(ctx, q.env, q.repo, q.model)
	if err != nil {
		return nil, err
	}
	tools, err := q.openTools(ctx)
	if err != nil {
		return nil, err
	}
	files, err := q.openFiles(ctx)
	if err != nil {
		return nil, err
	}
	q.out.Begin(q.info(files))
	if q.parent == nil { // its parent has said it
		for _, line := range slices.Concat(q.repo.heldBackLine(), q.repo.walls(q.env).missing(q.repo.startsPrograms(tools)), q.servers.told(), untoldNotice(q.model, untold(model, tools))) {
			q.out.Noticed(line)
		}
	}
	opts := turnloop.Options{
		Journal: q.repo.store, ID: q.id, Head: q.head, Stream: q.stream,
		Provider: model, API: model.API, Endpoint: model.Endpoint, Account: model.Account,
		Model: q.model, System: q.system(), Tools: tools,
		Workspace: files, Hold: files.hold, ToolLock: q.toolLock, Outlived: q.outlived,
		Policy: q.policy(), Grant: q.repo.config.Policy.Allow, Observer: q.out, Verbose: q.opts.verbose,
		JP: version(), Now: q.env.now, NewID: q.freeID,
		Retry: q.retry(), Limits: q.limits(), Unknown: q.unknown, Wait: q.env.wait,
		Restore: q.repo.values.restorer(q.id), Placeholders: placeholders, Redacts: q.repo.values.redacts(),
	}
	opts.Prompter, opts.Hooks = q.openPrompter(), q.openHooks()
	opts.Review, opts.Digest = q.review(), files.digest()
	q.keep(&opts)
	if q.parent == nil { // of delegates, only what their tools came to is shown
		opts.Progress = q.front.Progress()
	}
	if q.opts.noPersist {
		opts.Journal, opts.Hold, opts.ToolLock, opts.Outlived = q.repo.store.Transient(), nil, nil, nil
	}
	if opts.Base, err = q.base(ctx, files); err != nil {
		return nil, err
	}
	loop := turnloop.New(opts)
	q.running.Store(loop)
	if q.user != nil && q.parent == nil {
		q.front.Running(loop, q.opts.noPersist)
	}
	return loop, nil
}

// limits are those of the configuration.
func (q *query) limits() turnloop.Limits {
	l := q.repo.config.Limits
	calls := int(l.ModelCalls)
	if calls == 0 {
		calls = math.MaxInt
	}
	return turnloop.Limits{
		ModelCalls: calls, ToolOutput: int(l.ToolOutput), ToolTimeout: q.repo.toolTime(), Tokens: int(l.Tokens),
	}
}

// retry is how long the loop waits for a provider.
func (q *query) retry() provider.Retry {
	asked := q.repo.config.Limits.RetryWait
	if asked == 0 || q.opts.wait {
		asked = -1
	}
	return provider.Retry{Asked: asked}
}

// findUser finds the person who can be asked, once.
func (q *query) findUser() {
	if q.user == nil && !q.opts.nonInteractive {
		q.user = q.front.User()
	}
}

func (q *query) closeUser() {
	if q.user != nil {
		q.user.Close()
	}
}

// openPrompter makes the place of the turn's questions: for a delegate, that of
// its parent.
func (q *query) openPrompter() turnloop.Prompter {
	if q.parent != nil {
		return childDesk{q.parent.desk, q}
	}
	q.findUser()
	q.serve()
	if q.desk == nil {
		q.desk = q.openDesk()
	}
	return q.desk
}

// keep puts what streams into a file, and lets what is shown wait for the
// terminal.
func (q *query) keep(opts *turnloop.Options) {
	if q.opts.noPersist {
		return
	}
	if q.files.tree != nil && !q.files.off {
		q.listed = &untrackedKeeper{Observer: opts.Observer, ctx: q.ctx, own: q.repo.own(), name: untrackedName(q.id), files: q.files, found: q.listing}
		opts.Observer = q.listed
	}
	q.drafts = &draftKeeper{Observer: opts.Observer, own: q.repo.own(), name: q.draftAnswer()}
	if q.parent == nil {
		opts.Observer = &relay{q.drafts, q.server}
	} else {
		opts.Observer = &childRelay{q.drafts, q.parent.server, q.id}
	}
	q.front.OnSuspend(q.drafts.flush)
}

// unlisten gives the signals back.
func (q *query) unlisten() {
	q.front.Over()
	if q.drafts != nil {
		q.drafts.close()
	}
	q.listed.close()
}

// info is what the front end is told of the run before its turn.
func (q *query) info(files *files) runInfo {
	r := runInfo{
		id: q.id, fresh: q.fresh, recorded: !q.opts.noPersist, detach: q.opts.detach, approves: q.opts.yes, model: q.model, dir: q.repo.place(),
		archived: conversation.Summarize(q.stream.Events()).ArchivedAt != nil,
		approved: func() string { return approvedWords(q.stream.Tail().Approved) },
	}
	if q.tail != nil {
		r.turn = q.tail.Number
	}
	if f := q.forked; f != nil {
		r.forkedFrom = &forkedFrom{ID: f.view.id, Seq: f.at.Seq}
	}
	r.snapshots = func() bool { return files.tree != nil && !files.off }
	r.changed = func(before, after string) (changed []fileChange, err error) {
		changes, err := files.tree.Diff(q.ctx, before, after)
		for _, c := range changes {
			changed = append(changed, fileChange{path: c.Path, added: c.Added, deleted: c.Deleted})
		}
		return changed, err
	}
	return r
}

// showResumed tells the front end that the turn is gone on with, unless the process that
// started this one has begun it a moment ago.
func (q *query) showResumed() {
	if q.handover == nil || !q.handover.Asked {
		q.out.Resumed(q.plan.Words, q.tail)
	}
}

// base is the commit that a new conversation branches off.
func (q *query) base(ctx context.Context, files *files) (string, error) {
	if !q.fresh || q.repo.config.Snapshot.Base == "none" || files.tree == nil {
		return "", nil
	}
	state, err := files.tree.State(ctx)
	return state.Head, err
}

// policy is what happens to questions that nobody can be asked. Whoever is in the
// background waits for somebody; so does everybody else, but where nobody comes.
func (q *query) policy() turnloop.Policy {
	for _, name := range []string{q.opts.policy, q.repo.config.Policy.Detached} {
		if p := turnloop.Policy(name); name != "" && !(q.opts.noPersist && p.Waits()) {
			return p
		}
	}
	if q.opts.noPersist {
		return turnloop.PolicyDeny
	}
	if q.handover == nil && q.env.get("CI") != "" {
		return turnloop.PolicyDefer
	}
	return turnloop.PolicyQueue
}
