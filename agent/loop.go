package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"jp/agent/contextfiles"
	"jp/agent/live"
	"jp/agent/models"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/agent/snapshot"
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
	"jp/undo"
	"jp/usage"
	"jp/worktree"
)

// prepare prepares the loop of a turn. unknown decides about calls of unknown outcome, and untracked
// are the untracked files that a resume has found; both are nil for a new turn.
func (e *turn) prepare(ctx context.Context, unknown turnloop.Resolver, untracked *worktree.Listing) (*turnloop.Loop, error) {
	if e.run.repo.Wrong != nil {
		return nil, e.run.repo.Wrong
	}
	lasting := context.WithoutCancel(ctx) // for the work behind an interrupted turn
	var err error
	if e.model, err = e.history.chooseModel(ctx); err != nil {
		return nil, err
	}
	model, err := models.OpenModel(ctx, e.run.env, e.run.repo, e.model)
	if err != nil {
		return nil, err
	}
	asked := e.limitCost(model)
	e.rules = rulesOf(e.run.repo)
	tools, err := e.openTools(ctx)
	if err != nil {
		return nil, err
	}
	files, err := e.run.openFiles(ctx)
	if err != nil {
		return nil, err
	}
	system, err := systemPrompt(e.run.env, e.run.repo.Config.System)
	if err != nil {
		return nil, err
	}
	e.instructions = contextfiles.OpenInstructions(e.run.repo, files, e.run.env.Dir, e.run.opts.Turn.NoInstructions)
	e.instructions.More = e.skillFiles
	place, err := environmentOf(ctx, e.run.env, e.instructions, files)
	if err != nil {
		return nil, err
	}
	e.run.out.Begin(e.info(lasting, files))
	if e.run.delegation == nil { // the parent has told the user
		for _, line := range slices.Concat(e.run.repo.HeldBackLine(), toolset.SandboxOf(e.run.repo, e.run.env).Missing(toolset.StartsPrograms(e.run.repo, tools)), e.res.servers.Told(), untoldNotice(e.model, untold(model, tools)), e.missingNotice(lasting)) {
			e.run.out.Noticed(line)
		}
	}
	e.meet(lasting)
	limits := e.run.repo.Config.Limits
	opts := turnloop.Options{
		Conversation: turnloop.ConversationOptions{
			Journal: e.run.repo.Store,
			ID:      e.target.id,
			Head:    e.history.head,
			Stream:  e.history.stream,
			JP:      version.Get().Version,
			NewID:   func() (conversation.ID, error) { return e.run.freeID(lasting) },
		},
		Model: turnloop.ModelOptions{
			Provider: asked,
			API:      model.API,
			Endpoint: model.Endpoint,
			Account:  model.Account,
			Name:     e.model,
			System:   e.history.system(system),
			Known:    e.run.opts.Turn.History.known(),
			Retry:    provider.Retry{Asked: limits.RetryWait},
			Fallback: e.fallbacks(),
			Replace:  e.replacement(),
		},
		Tools: turnloop.ToolOptions{
			Registry:  tools,
			Lock:      e.target.toolLock,
			Orphaned:  e.orphanedTool,
			Mentioned: snapshot.Mentioned,
		},
		Files: turnloop.FileOptions{
			Workspace:     files,
			Hold:          files.Hold,
			Digest:        files.Digest(),
			ListUntracked: files.Listing(),
			NoCopy:        files.NoCopy(ctx), BackupRequired: e.run.repo.Config.Backup.Required,
		},
		User: turnloop.UserOptions{
			Policy:   e.run.policy(),
			Grant:    e.rules.commands,
			Restrict: e.history.restriction,
			Unknown:  unknown,
			Review:   e.run.review(),
			GoOn:     e.target.askToContinue(),
		},
		Observer: e.run.out,
		Verbose:  e.run.opts.Show.Verbose,
		Clock: turnloop.Clock{
			Now:  e.run.env.Now,
			Wait: e.run.env.Wait,
		},
		Limits: turnloop.Limits{
			ModelCalls: int(limits.ModelCalls), SameCalls: int(limits.SameCalls), ToolOutput: int(limits.ToolOutput), ToolTimeout: toolset.ToolTime(e.run.repo), Tokens: int(limits.Tokens),
		},
		Hooks: e.target.openHooks(),
		Input: turnloop.InputOptions{
			Touched:     e.instructions.Touched,
			Environment: place.text(),
		},
		Secrets: turnloop.SecretOptions{
			Restore:      e.run.repo.Values.Restorer(e.target.id),
			Placeholders: placeholders,
			Redacts:      e.run.repo.Values.Redacts(),
			Redact:       e.run.repo.Values.Concealer(e.target.id),
			RedactOutput: e.run.repo.Values.Redactor(e.target.id),
		},
	}
	e.instructions.Notice = func(text string) { opts.Observer.Noticed(text) }
	if name := e.run.repo.Config.ResolveModel(e.run.repo.Config.Compaction.Model); name != "" {
		if err := models.NeedsPrice(e.run.repo, name); err != nil {
			return nil, err
		}
	}
	room := e.history.compactor(e.model, model, e.run.out.Noticed)
	room.Provider = asked
	if e.run.opts.Show.Verbose && room.Window == 0 && model.API != models.Scripted {
		e.run.out.Noticed(fmt.Sprintf("The context of %s is unknown: jp compacts when the provider refuses. %s sets it.", safetext.Show(e.model), config.DottedKey("models", e.model, "context")))
	}
	opts.Model.MakeRoom, opts.Model.Window = room.MakeRoom, func() int { return room.Window }
	e.run.context = func() (tokens, window int) {
		tokens, _ = compaction.Used(e.history.stream.Events())
		return tokens, room.Window
	}
	if opts.Limits.ModelCalls == 0 {
		opts.Limits.ModelCalls = math.MaxInt
	}
	if opts.Limits.SameCalls == 0 {
		opts.Limits.SameCalls = -1
	}
	if opts.Model.Retry.Asked == 0 || e.run.opts.Turn.Wait {
		opts.Model.Retry.Asked = -1
	}
	if e.run.opts.unrecorded() {
		opts.Conversation.Journal, opts.Files.Hold, opts.Tools.Lock, opts.Tools.Orphaned = e.run.repo.Store.Transient(), nil, nil, nil
	} else {
		if files.Tree != nil && !files.Off {
			e.res.listed = &snapshot.UntrackedKeeper{Observer: opts.Observer, Ctx: lasting, Own: e.run.repo.StateDir(), Name: snapshot.UntrackedName(e.target.id), Files: files, Found: untracked}
			opts.Observer = e.res.listed
		}
		e.res.drafts = live.KeepAnswer(opts.Observer, e.run.repo.StateDir(), e.target.id, e.run.opts.Show.KeepStreamed)
		if d := e.run.delegation; d != nil {
			opts.Observer = d.presence.Relay(e.res.drafts)
		} else {
			opts.Observer = e.res.presence.Relay(e.res.drafts)
		}
		e.run.front.OnSuspend(e.res.drafts.Flush)
	}
	if q := e.res.messages; q != nil && e.run.delegation == nil {
		opts.Input.Queued, opts.Observer = func() []string { return q.Send(-1) }, queueKeeper{opts.Observer, q}
		if e.run.opts.Turn.Queue == nil { // a chat asks the rest as a turn of its own
			opts.Input.More = q.Rest
		}
	}
	if e.run.opts.preview != nil {
		opts.Model.MakeRoom, opts.Hooks = nil, nil
		opts.Model.Provider = previewer(func(request *provider.Request) { e.previewed(lasting, request, model, room) })
	}
	if opts.Conversation.Base, err = e.target.base(ctx, files); err != nil {
		return nil, err
	}
	if d := e.run.delegation; d != nil { // it asks as its parent does
		opts.User.Prompter = d.presence
		return turnloop.New(opts), nil
	}
	opts.User.Prompter = e.res.presence.Prompter()
	loop := turnloop.New(opts)
	e.res.presence.Runs(loop)
	if e.res.user != nil {
		e.run.front.Running(loop, e.run.opts.unrecorded())
	}
	return loop, nil
}

// limitCost wraps the model in the turn's cost limit. The turns of delegates count to their parent's.
func (e *turn) limitCost(model *catalog.Provider) provider.Provider {
	if e.run.delegation == nil {
		e.res.spent = usage.NewTurnCost(e.run.repo.Config.Limits.CostUSD)
	}
	if tail := e.history.stream.Tail(); !tail.Complete() && !tail.Discarded { // it is resumed
		e.res.spent.Count(turnloop.SpentBy(e.history.stream).CostUSD)
	}
	return e.res.spent.Limit(model, model.Price)
}

// previewed keeps the request that would be sent. The loop asks again for want of an answer, so only the
// first request counts.
func (e *turn) previewed(ctx context.Context, request *provider.Request, model *catalog.Provider, room *Compactor) {
	p := e.run.opts.preview
	if p.Parts != nil {
		return
	}
	*p = Previewed{ID: e.target.known(), Turn: e.history.stream.TurnNumber(), Model: e.model, Tokens: request.Tokens(), Window: room.Window}
	p.CostUSD = usage.InputCost(model.Price, request)
	p.Compacts = room.Auto && room.Window > 0 && float64(p.Tokens) > float64(room.Window)*room.At
	p.add(request, kindsOf(ctx, e.run.repo, e.history.stream.Events(), e.model, model))
}

// meet finds the user, and makes the run visible to other processes, once.
func (e *turn) meet(ctx context.Context) {
	if e.run.delegation != nil {
		return
	}
	if e.run.findUser(); e.res.presence != nil {
		return
	}
	seq := -1
	if e.history.stream.Len() > 0 {
		seq = e.history.stream.Last().Seq
	}
	if e.res.messages = e.run.opts.Turn.Queue; e.run.opts.unrecorded() {
		e.res.messages = nil
	} else if e.res.messages == nil {
		e.res.messages = live.NewInbox(e.run.repo.StateDir(), e.target.id)
	}
	e.res.presence = live.NewPresence(live.PresenceOptions{
		Ctx: ctx, Repo: e.run.repo, Env: e.run.env, ID: e.target.id, Head: e.history.head, Seq: seq, User: e.res.user, Queue: e.res.messages, Handover: e.run.background, Abort: e.run.front.Abort,
	})
}

// info describes the run to the front end before its turn.
func (e *turn) info(ctx context.Context, files *snapshot.Files) RunInfo {
	r := RunInfo{
		ID: e.target.id, Fresh: e.target.fresh, Recorded: !e.run.opts.unrecorded(), Detach: e.run.opts.Detach, Approves: e.run.opts.Turn.Yes, Model: e.model, Dir: e.run.repo.Place(),
		Archived: conversation.Archived(e.history.stream.Events()),
		Approved: func() string { return resume.ApprovedWords(e.history.stream.Tail().Approved) },
	}
	r.Instructions = func() []string { return instructions.Follow(e.history.stream.Events()).Names() }
	if e.history.tail != nil {
		r.Turn = e.history.tail.Number
	}
	if f := e.target.forked; f != nil {
		r.ForkedFrom = &repo.ForkedFrom{ID: f.View.ID, Seq: f.At.Seq}
	}
	r.Snapshots = func() bool { return files.Tree != nil && !files.Off }
	r.Changed = func(before, after string) (changed []FileChange, err error) {
		changes, err := files.Tree.Diff(ctx, before, after)
		for _, c := range changes {
			changed = append(changed, FileChange{Path: c.Path, Added: c.Added, Deleted: c.Deleted})
		}
		return changed, err
	}
	r.Outlook = func(turn int, unknown bool) (*undo.Outlook, error) {
		return undo.OutlookOf(context.WithoutCancel(ctx), e.run.repo, files.Backups(), r.ID, turn, unknown)
	}
	return r
}

// delta is the event for lasting changes by flags: another model, tools switched on or off. It is nil without
// such changes.
func (e *turn) delta() (*conversation.Event, error) {
	if e.run.background != nil && e.run.background.Order.Asked {
		return nil, nil // it is recorded
	}
	delta := map[string]any{}
	merge(delta, e.run.repo.Report.Lasting)
	delete(delta, "model") // it is in the turn's start
	if was := e.history.stream.ModelOnRecord(); was != "" && was != e.model {
		delta["model"] = e.model
	}
	tools := map[string]any{}
	for _, name := range e.run.opts.Tools.Enable {
		tools[name] = map[string]any{"enable": true}
	}
	for _, name := range e.run.opts.Tools.Disable {
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
func (e *turn) register() error {
	err := e.res.presence.Publish()
	if err != nil && e.run.background == nil {
		e.run.out.Noticed(fmt.Sprintf("Other terminals cannot reach this: %v", err))
		return nil
	}
	return err
}
