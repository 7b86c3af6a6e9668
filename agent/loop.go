package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"jp/agent/agentsmd"
	"jp/agent/compactor"
	"jp/agent/drafts"
	"jp/agent/interrupted"
	"jp/agent/models"
	"jp/agent/presence"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/spending"
	"jp/agent/toolset"
	"jp/compaction"
	"jp/config"
	"jp/conversation"
	"jp/instructions"
	"jp/internal/safetext"
	"jp/internal/version"
	"jp/provider"
	"jp/provider/catalog"
	"jp/turnloop"
	"jp/worktree"
)

// prepare prepares the loop of a turn. unknown decides about calls of unknown outcome, and untracked
// are the untracked files that a resume has found; both are nil for a new turn.
func (e *equipped) prepare(ctx context.Context, unknown turnloop.Resolver, untracked *worktree.Listing) (*turnloop.Loop, error) {
	if e.repo.Wrong != nil {
		return nil, e.repo.Wrong
	}
	var err error
	if e.model, err = e.chooseModel(ctx); err != nil {
		return nil, err
	}
	model, err := models.OpenModel(ctx, e.env, e.repo, e.model)
	if err != nil {
		return nil, err
	}
	asked := e.limitCost(model)
	tools, err := e.openTools(ctx)
	if err != nil {
		return nil, err
	}
	files, err := e.openFiles(ctx)
	if err != nil {
		return nil, err
	}
	system, err := systemPrompt(e.env, e.repo.Config.System)
	if err != nil {
		return nil, err
	}
	e.instructions = agentsmd.Open(e.repo, files, e.env.Dir, e.opts.NoInstructions)
	e.instructions.More = e.skillFiles
	place, err := e.environment(ctx, files)
	if err != nil {
		return nil, err
	}
	e.out.Begin(e.info(files))
	if e.delegation == nil { // its parent has said it
		for _, line := range slices.Concat(e.repo.HeldBackLine(), toolset.SandboxOf(e.repo, e.env).Missing(toolset.StartsPrograms(e.repo, tools)), e.servers.Told(), untoldNotice(e.model, untold(model, tools)), e.absentNotice()) {
			e.out.Noticed(line)
		}
	}
	e.meet()
	limits := e.repo.Config.Limits
	opts := turnloop.Options{
		Journal: e.repo.Store, ID: e.id, Head: e.head, Stream: e.stream,
		Provider: asked, API: model.API, Endpoint: model.Endpoint, Account: model.Account,
		Model: e.model, System: e.system(system), Tools: tools,
		Workspace: files, Hold: files.Hold, ToolLock: e.toolLock, OrphanedTool: e.orphanedTool,
		Policy: e.policy(), Grant: rulesOf(e.repo).now, Observer: e.out, Verbose: e.opts.Verbose,
		JP: version.Get().Version, Now: e.env.Now, NewID: e.freeID,
		Retry: provider.Retry{Asked: limits.RetryWait},
		Limits: turnloop.Limits{
			ModelCalls: int(limits.ModelCalls), SameCalls: int(limits.SameCalls), ToolOutput: int(limits.ToolOutput), ToolTimeout: toolset.ToolTime(e.repo), Tokens: int(limits.Tokens),
		},
		Fallback: e.fallbacks(), Replace: e.replacement(), Restrict: e.restriction,
		Unknown: unknown, Wait: e.env.Wait, Review: e.review(), GoOn: e.askToContinue(), Digest: files.Digest(), ListUntracked: files.Listing(), Hooks: e.openHooks(), Touched: e.instructions.Touched, Environment: place.text(),
		Restore: e.repo.Values.Restorer(e.id), Placeholders: repo.Placeholders, Redacts: e.repo.Values.Redacts(),
		Redact: e.repo.Values.Concealer(e.id), RedactOutput: e.repo.Values.Redactor(e.id), Mentioned: snapshot.Mentioned,
	}
	e.instructions.Notice = func(text string) { opts.Observer.Noticed(text) }
	if name := e.repo.Config.ResolveModel(e.repo.Config.Compaction.Model); name != "" {
		if err := models.NeedsPrice(e.repo, name); err != nil {
			return nil, err
		}
	}
	room := e.compactor(e.model, model, e.out.Noticed)
	room.Provider = asked
	if e.opts.Verbose && room.Window == 0 && model.API != models.Scripted {
		e.out.Noticed(fmt.Sprintf("The context of %s is unknown: jp compacts when the provider refuses. %s sets it.", safetext.Show(e.model), config.DottedKey("models", e.model, "context")))
	}
	opts.MakeRoom, opts.Window = room.MakeRoom, func() int { return room.Window }
	e.context = func() (tokens, window int) {
		tokens, _ = compaction.Used(e.stream.Events())
		return tokens, room.Window
	}
	if opts.Limits.ModelCalls == 0 {
		opts.Limits.ModelCalls = math.MaxInt
	}
	if opts.Limits.SameCalls == 0 {
		opts.Limits.SameCalls = -1
	}
	if opts.Retry.Asked == 0 || e.opts.Wait {
		opts.Retry.Asked = -1
	}
	if e.opts.unrecorded() {
		opts.Journal, opts.Hold, opts.ToolLock, opts.OrphanedTool = e.repo.Store.Transient(), nil, nil, nil
	} else {
		if files.Tree != nil && !files.Off {
			e.listed = &snapshot.UntrackedKeeper{Observer: opts.Observer, Ctx: e.ctx, Own: e.repo.StateDir(), Name: snapshot.UntrackedName(e.id), Files: files, Found: untracked}
			opts.Observer = e.listed
		}
		e.drafts = drafts.KeepAnswer(opts.Observer, e.repo.StateDir(), e.id, e.opts.KeepStreamed)
		if d := e.delegation; d != nil {
			opts.Observer = d.presence.Relay(e.drafts)
		} else {
			opts.Observer = e.presence.Relay(e.drafts)
		}
		e.front.OnSuspend(e.drafts.Flush)
	}
	if q := e.opts.Queue; q != nil && e.delegation == nil && !e.opts.unrecorded() {
		opts.Queued, opts.Observer = func() []string { return q.Send(-1) }, queueKeeper{opts.Observer, q}
	}
	if e.opts.preview != nil {
		opts.MakeRoom, opts.Hooks = nil, nil
		opts.Provider = previewer(func(request *provider.Request) { e.previewed(request, model, room) })
	}
	if opts.Base, err = e.base(ctx, files); err != nil {
		return nil, err
	}
	if d := e.delegation; d != nil { // it asks where its parent does
		opts.Prompter = d.presence
		return turnloop.New(opts), nil
	}
	opts.Prompter = e.presence.Prompter()
	loop := turnloop.New(opts)
	e.presence.Runs(loop)
	if e.user != nil {
		e.front.Running(loop, e.opts.unrecorded())
	}
	return loop, nil
}

// limitCost is the model within what the turn may cost. The turns of delegates count to their parent's.
func (e *equipped) limitCost(model *catalog.Provider) provider.Provider {
	if e.delegation == nil {
		e.spent = spending.NewTurn(e.repo.Config.Limits.CostUSD)
	}
	if tail := e.stream.Tail(); !tail.Complete() && !tail.Discarded { // it is resumed
		e.spent.Count(turnloop.SpentBy(e.stream).CostUSD)
	}
	return e.spent.Limit(model, model.Price)
}

// previewed keeps what would be sent. If the model is asked again, that was for want of an answer.
func (e *equipped) previewed(request *provider.Request, model *catalog.Provider, room *compactor.Compactor) {
	p := e.opts.preview
	if p.Parts != nil {
		return
	}
	*p = Previewed{ID: e.known(), Turn: e.stream.TurnNumber(), Model: e.model, Tokens: request.Tokens(), Window: room.Window}
	p.CostUSD = spending.Input(model.Price, request)
	p.Compacts = room.Auto && room.Window > 0 && float64(p.Tokens) > float64(room.Window)*room.At
	p.add(request)
}

// meet finds the user, and makes what other processes will see of the run, once.
func (e *equipped) meet() {
	if e.delegation != nil {
		return
	}
	if e.findUser(); e.presence != nil {
		return
	}
	seq := -1
	if e.stream.Len() > 0 {
		seq = e.stream.Last().Seq
	}
	e.presence = presence.New(presence.Options{
		Ctx: e.ctx, Repo: e.repo, Env: e.env, ID: e.id, Head: e.head, Seq: seq, User: e.user, Handover: e.background, Abort: e.front.Abort,
	})
}

// info is what the front end is told of the run before its turn.
func (e *equipped) info(files *snapshot.Files) RunInfo {
	r := RunInfo{
		ID: e.id, Fresh: e.fresh, Recorded: !e.opts.unrecorded(), Detach: e.opts.Detach, Approves: e.opts.Yes, Model: e.model, Dir: e.repo.Place(),
		Archived: conversation.Summarize(e.stream.Events()).ArchivedAt != nil,
		Approved: func() string { return interrupted.ApprovedWords(e.stream.Tail().Approved) },
	}
	r.Instructions = func() []string { return instructions.Follow(e.stream.Events()).Names() }
	if e.tail != nil {
		r.Turn = e.tail.Number
	}
	if f := e.forked; f != nil {
		r.ForkedFrom = &repo.ForkedFrom{ID: f.View.ID, Seq: f.At.Seq}
	}
	r.Snapshots = func() bool { return files.Tree != nil && !files.Off }
	r.Changed = func(before, after string) (changed []FileChange, err error) {
		changes, err := files.Tree.Diff(e.ctx, before, after)
		for _, c := range changes {
			changed = append(changed, FileChange{Path: c.Path, Added: c.Added, Deleted: c.Deleted})
		}
		return changed, err
	}
	return r
}

// delta is the event for what the flags change for good: another model, tools
// switched on or off. It is nil where they change nothing.
func (e *equipped) delta() (*conversation.Event, error) {
	if e.background != nil && e.background.Asked {
		return nil, nil // it is recorded
	}
	delta := map[string]any{}
	merge(delta, e.repo.Report.Lasting)
	delete(delta, "model") // the turn's start says it
	if was := e.stream.ModelOnRecord(); was != "" && was != e.model {
		delta["model"] = e.model
	}
	tools := map[string]any{}
	for _, name := range e.opts.Tools {
		tools[name] = map[string]any{"enable": true}
	}
	for _, name := range e.opts.WithoutTools {
		tools[name] = map[string]any{"enable": false}
	}
	if len(tools) > 0 {
		merge(delta, map[string]any{"tools": tools})
	}
	if len(delta) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(delta)
	return &conversation.Event{Body: &conversation.ConfigDelta{Delta: text}}, err
}

// register lets other processes reach the run. A run in the background that they cannot reach
// ends, and any other goes on.
func (e *equipped) register() error {
	err := e.presence.Publish()
	if err != nil && e.background == nil {
		e.out.Noticed(fmt.Sprintf("Other terminals cannot reach this: %v", err))
		return nil
	}
	return err
}
