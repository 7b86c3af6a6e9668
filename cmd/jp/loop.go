package main

import (
	"context"
	"math"
	"slices"
	"sync"

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
	model, err := openModel(ctx, q.env.host, q.repo, q.model)
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
	q.out.begin(q, files)
	if q.parent == nil { // its parent has said it
		for _, line := range slices.Concat(q.repo.heldBackLine(), q.repo.walls(q.env.host).missing(q.repo.startsPrograms(tools)), q.servers.told(), untoldNotice(q.model, untold(model, tools))) {
			q.out.Noticed(line)
		}
	}
	opts := turnloop.Options{
		Journal: q.repo.store, ID: q.id, Head: q.head, Stream: q.stream,
		Provider: model, API: model.API, Endpoint: model.Endpoint, Account: model.Account,
		Model: q.model, System: q.system(), Tools: tools,
		Workspace: files, Hold: files.hold, ToolLock: q.toolLock, Outlived: q.outlived,
		Policy: q.policy(), Grant: q.repo.config.Policy.Allow, Observer: q.out, Verbose: q.env.verbose,
		JP: version(), Now: q.env.now, NewID: q.freeID,
		Retry: q.retry(), Limits: q.limits(), Unknown: q.unknown, Wait: q.env.wait,
		Restore: q.repo.values.restorer(q.id), Placeholders: placeholders, Redacts: q.repo.values.redacts(),
	}
	opts.Prompter, opts.Hooks = q.openPrompter(), q.openHooks()
	q.keep(&opts)
	q.showProgress(&opts)
	if q.opts.noPersist {
		opts.Journal, opts.Hold, opts.ToolLock, opts.Outlived = q.repo.store.Transient(), nil, nil, nil
	}
	if opts.Base, err = q.base(ctx, files); err != nil {
		return nil, err
	}
	loop := turnloop.New(opts)
	q.running.Store(loop)
	q.listen(loop)
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

// openPrompter makes the place of the turn's questions: for a delegate, that of
// its parent.
func (q *query) openPrompter() turnloop.Prompter {
	if q.parent != nil {
		return childDesk{q.parent.desk, q}
	}
	if q.client == nil {
		q.client = q.openClient()
	}
	q.serve()
	if q.desk == nil {
		q.desk = q.openDesk()
	}
	return q.desk
}

// keep puts what streams into a file, and lets what is shown wait for the
// terminal.
func (q *query) keep(opts *turnloop.Options) {
	if q.client != nil {
		opts.Observer = &gated{output: q.out, gate: &q.client.gate}
	}
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
	flush := q.drafts.flush
	q.env.onSuspend.Store(&flush)
}

// showProgress lets the output show how far tools say they are. Of delegates, only
// what their tools came to is shown.
func (q *query) showProgress(opts *turnloop.Options) {
	shows, can := q.out.(interface{ showTools(*toolProgress) })
	if q.parent != nil || !can {
		return
	}
	var gate *sync.Mutex
	if q.client != nil {
		gate = &q.client.gate
	}
	if p := newToolProgress(q.env, gate); p != nil {
		shows.showTools(p)
		opts.Progress = p.tell
	}
}

// listen lets Ctrl+C open a menu, where there is a terminal to show it.
func (q *query) listen(loop *turnloop.Loop) {
	if q.client == nil || q.parent != nil {
		return
	}
	q.menu = &menu{tty: q.client.tty, loop: loop, now: q.env.now, abort: q.env.abort, gate: &q.client.gate, transient: q.opts.noPersist}
	if screen, ok := q.out.(*screenOutput); ok {
		q.menu.clear = screen.hide
	}
	take := q.menu.interrupt
	q.env.onInterrupt.Store(&take)
}

// unlisten gives the signals back.
func (q *query) unlisten() {
	q.env.onInterrupt.Store(nil)
	q.env.onSuspend.Store(nil)
	if q.menu != nil {
		q.menu.done.Wait()
	}
	if q.drafts != nil {
		q.drafts.close()
	}
	q.listed.close()
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
