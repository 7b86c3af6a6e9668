package agent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"jp/agent/drafts"
	"jp/agent/interrupted"
	"jp/agent/models"
	"jp/agent/presence"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/process/attach"
	"jp/provider"
	"jp/turnloop"
)

// loop prepares the turn loop.
func (q *query) loop(ctx context.Context) (*turnloop.Loop, error) {
	if q.repo.Wrong != nil {
		return nil, q.repo.Wrong
	}
	var err error
	if q.model, err = q.chooseModel(ctx); err != nil {
		return nil, err
	}
	model, err := models.OpenModel(ctx, q.env, q.repo, q.model)
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
		for _, line := range slices.Concat(q.repo.HeldBackLine(), toolset.SandboxOf(q.repo, q.env).Missing(toolset.StartsPrograms(q.repo, tools)), q.servers.Told(), untoldNotice(q.model, untold(model, tools))) {
			q.out.Noticed(line)
		}
	}
	opts := turnloop.Options{
		Journal: q.repo.Store, ID: q.id, Head: q.head, Stream: q.stream,
		Provider: model, API: model.API, Endpoint: model.Endpoint, Account: model.Account,
		Model: q.model, System: q.system(), Tools: tools,
		Workspace: files, Hold: files.Hold, ToolLock: q.toolLock, Outlived: q.outlived,
		Policy: q.policy(), Grant: q.repo.Config.Policy.Allow, Observer: q.out, Verbose: q.opts.Verbose,
		JP: models.Version(), Now: q.env.Now, NewID: q.freeID,
		Retry: q.retry(), Limits: q.limits(), Unknown: q.unknown, Wait: q.env.Wait,
		Restore: q.repo.Values.Restorer(q.id), Placeholders: repo.Placeholders, Redacts: q.repo.Values.Redacts(),
		Redact: q.repo.Values.Concealer(q.id), RedactOutput: q.repo.Values.Redactor(q.id),
	}
	opts.Prompter, opts.Hooks = q.openPrompter(), q.openHooks()
	opts.Review, opts.Digest, opts.Mentioned = q.review(), files.Digest(), snapshot.Mentioned
	q.keep(&opts)
	if q.opts.NoPersist {
		opts.Journal, opts.Hold, opts.ToolLock, opts.Outlived = q.repo.Store.Transient(), nil, nil, nil
	}
	if opts.Base, err = q.base(ctx, files); err != nil {
		return nil, err
	}
	loop := turnloop.New(opts)
	if q.parent == nil {
		q.presence.Runs(loop)
	}
	if q.user != nil && q.parent == nil {
		q.front.Running(loop, q.opts.NoPersist)
	}
	return loop, nil
}

// limits are those of the configuration.
func (q *query) limits() turnloop.Limits {
	l := q.repo.Config.Limits
	calls := int(l.ModelCalls)
	if calls == 0 {
		calls = math.MaxInt
	}
	return turnloop.Limits{
		ModelCalls: calls, ToolOutput: int(l.ToolOutput), ToolTimeout: toolset.ToolTime(q.repo), Tokens: int(l.Tokens),
	}
}

// retry is how long the loop waits for a provider.
func (q *query) retry() provider.Retry {
	asked := q.repo.Config.Limits.RetryWait
	if asked == 0 || q.opts.Wait {
		asked = -1
	}
	return provider.Retry{Asked: asked}
}

// findUser finds the person who can be asked, once.
func (q *query) findUser() {
	if q.user == nil && !q.opts.NonInteractive {
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
		return q.delegate
	}
	q.findUser()
	if q.presence == nil {
		seq := -1
		if q.stream.Len() > 0 {
			seq = q.stream.Last().Seq
		}
		q.presence = presence.New(presence.Options{
			Ctx: q.ctx, Repo: q.repo, Env: q.env, ID: q.id, Head: q.head, Seq: seq, User: q.user, Handover: q.handover, Abort: q.front.Abort,
		})
	}
	return q.presence.Prompter()
}

// keep puts what streams into a file, and lets what is shown wait for the
// terminal.
func (q *query) keep(opts *turnloop.Options) {
	if q.opts.NoPersist {
		return
	}
	if q.files.Tree != nil && !q.files.Off {
		q.listed = &snapshot.UntrackedKeeper{Observer: opts.Observer, Ctx: q.ctx, Own: q.repo.Own(), Name: snapshot.UntrackedName(q.id), Files: q.files, Found: q.evidence.Listing()}
		opts.Observer = q.listed
	}
	q.drafts = drafts.KeepAnswer(opts.Observer, q.repo.Own(), q.id)
	if q.parent == nil {
		opts.Observer = q.presence.Relay(q.drafts)
	} else {
		opts.Observer = q.delegate.Relay(q.drafts)
	}
	q.front.OnSuspend(q.drafts.Flush)
}

// unlisten gives the signals back.
func (q *query) unlisten() {
	q.front.Over()
	if q.drafts != nil {
		q.drafts.Close()
	}
	q.listed.Close()
}

// info is what the front end is told of the run before its turn.
func (q *query) info(files *snapshot.Files) RunInfo {
	r := RunInfo{
		ID: q.id, Fresh: q.fresh, Recorded: !q.opts.NoPersist, Detach: q.opts.Detach, Approves: q.opts.Yes, Model: q.model, Dir: q.repo.Place(),
		Archived: conversation.Summarize(q.stream.Events()).ArchivedAt != nil,
		Approved: func() string { return interrupted.ApprovedWords(q.stream.Tail().Approved) },
	}
	if q.tail != nil {
		r.Turn = q.tail.Number
	}
	if f := q.forked; f != nil {
		r.ForkedFrom = &repo.ForkedFrom{ID: f.View.ID, Seq: f.At.Seq}
	}
	r.Snapshots = func() bool { return files.Tree != nil && !files.Off }
	r.Changed = func(before, after string) (changed []FileChange, err error) {
		changes, err := files.Tree.Diff(q.ctx, before, after)
		for _, c := range changes {
			changed = append(changed, FileChange{Path: c.Path, Added: c.Added, Deleted: c.Deleted})
		}
		return changed, err
	}
	return r
}

// appear lets other processes reach the run. A detached query that nobody can reach is none; any
// other one goes on.
func (q *query) appear() error {
	err := q.presence.Publish()
	if err != nil && q.handover == nil {
		q.out.Noticed(fmt.Sprintf("Other terminals cannot reach this: %v", err))
		return nil
	}
	return err
}

// bye is what the query came to.
func (q *query) bye(err error) attach.Bye {
	bye := attach.Bye{Reason: "the turn has ended", Ended: true, Status: string(q.outcome.Status)}
	if err != nil {
		f := repo.ProblemOf(err)
		bye.Exit, bye.Text = f.Exit, f.Message
		bye.Reason = "the process has ended"
	}
	return bye
}

// showResumed tells the front end that the turn is gone on with, unless the process that
// started this one has begun it a moment ago.
func (q *query) showResumed() {
	if q.handover == nil || !q.handover.Asked {
		q.out.Resumed(q.plan.Words, q.tail)
	}
}

// base is the commit that a new conversation branches off.
func (q *query) base(ctx context.Context, files *snapshot.Files) (string, error) {
	if !q.fresh || q.repo.Config.Snapshot.Base == "none" || files.Tree == nil {
		return "", nil
	}
	state, err := files.Tree.State(ctx)
	return state.Head, err
}

// policy is what happens to questions that nobody can be asked. Whoever is in the
// background waits for somebody; so does everybody else, but where nobody comes.
func (q *query) policy() turnloop.Policy {
	for _, name := range []string{q.opts.Policy, q.repo.Config.Policy.Detached} {
		if p := turnloop.Policy(name); name != "" && !(q.opts.NoPersist && p.Waits()) {
			return p
		}
	}
	if q.opts.NoPersist {
		return turnloop.PolicyDeny
	}
	if q.handover == nil && q.env.Get("CI") != "" {
		return turnloop.PolicyDefer
	}
	return turnloop.PolicyQueue
}
