package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/process"
	"jp/process/attach"
)

// How long a process has to end after it was asked to, and after SIGTERM.
const (
	askedToEnd = 2 * time.Second
	termToEnd  = 10 * time.Second
)

const killHelp = `End the process that runs a conversation, its tools, and those of its delegates:
jp asks it to end, then sends SIGTERM, and SIGKILL after ten seconds. jp signals
only a process that provably holds the conversation. The turn stays incomplete,
and jp continue resumes it. If nothing runs, kill does nothing.

JSON: docs/json.md

Exit codes: 0 nothing runs (any more) · 1 it could not be ended · 2 usage ·
5 no such conversation`

func newKillCommand(e *ui.Env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "kill ID…|--all", Short: "End the process that runs a conversation", GroupID: "run", Long: killHelp,
		Example: "  jp kill 4400\n  jp kill --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return problem.Usage("name the conversations, or give --all.").Hint(action.List, "what runs has a pid")
			}
			return runKill(cmd.Context(), e, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all running conversations of this repository")
	return cmd
}

func runKill(ctx context.Context, e *ui.Env, words []string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if toolset.FromTool(r, "") {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	ids, err := toKill(ctx, r, e, words)
	if err != nil {
		return err
	}
	defer r.States().Sweep(ctx, e.Host)
	results := []killedJSON{}
	for _, id := range ids {
		killed, err := kill(ctx, r, id)
		if err != nil {
			return err
		}
		results = append(results, killed)
		if !e.Format.Structured() {
			fmt.Fprintln(e.Results(), killed.words())
		}
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), results)
	}
	if len(ids) == 0 {
		e.Note("Nothing runs.")
	}
	return nil
}

// toKill are the conversations that are named, or all that run. One whose ref is
// gone can run still.
func toKill(ctx context.Context, r *repo.Repo, e *ui.Env, words []string) (ids []conversation.ID, err error) {
	add := func(id conversation.ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, word := range words {
		id, err := conversation.ParseID(word)
		if _, held := r.Locks.Held(id); err != nil || !held {
			if id, err = r.Find().Resolve(ctx, e.Host, word); err != nil {
				return nil, err
			}
		}
		add(id)
	}
	if len(words) > 0 {
		return ids, nil
	}
	infos, err := r.Find().EveryInfo(ctx)
	for _, i := range infos {
		if _, held := r.Locks.Held(i.ID); held || len(r.States().ToolsLeft(i)) > 0 {
			add(i.ID)
		}
	}
	if registry, ok := r.States().ToldRegistry(); ok {
		live, _ := registry.Live(ctx) // a sweep reports unreadable entries
		for _, id := range slices.Sorted(maps.Keys(live)) {
			add(id)
		}
	}
	return ids, err
}

type killedJSON struct {
	ui.Change
	PID   int `json:"pid"`   // of the process that was ended, 0 if none ran
	Tools int `json:"tools"` // how many tools were ended that had outlived their process

	Delegates []killedDelegateJSON `json:"delegates"` // whose tools were ended, too

	by conversation.ID // the conversation whose process it was
}

// A killedDelegateJSON is a delegate of which jp kill ended tools.
type killedDelegateJSON struct {
	Conversation conversation.ID `json:"conversation"`
	Tools        int             `json:"tools"`
}

// words has one line for each conversation.
func (k killedJSON) words() string {
	var lines []string
	switch {
	case k.PID != 0 && k.by != k.Conversation:
		lines = append(lines, fmt.Sprintf("%s: ended pid %d, which ran %s.", k.Conversation, k.PID, k.by))
	case k.PID != 0:
		lines = append(lines, fmt.Sprintf("%s: ended pid %d.", k.Conversation, k.PID))
	case k.Tools > 0:
		lines = append(lines, fmt.Sprintf("%s: ended %s that had outlived the process.", k.Conversation, conversation.Count(k.Tools, "tool")))
	case len(k.Delegates) == 0:
		lines = append(lines, fmt.Sprintf("%s: nothing runs.", k.Conversation))
	}
	for _, d := range k.Delegates {
		lines = append(lines, fmt.Sprintf("%s, which works for %s: ended %s that had outlived the process.",
			d.Conversation, k.Conversation, conversation.Count(d.Tools, "tool")))
	}
	return strings.Join(lines, "\n")
}

// kill ends the process that runs a conversation, and the tools that outlived theirs.
func kill(ctx context.Context, r *repo.Repo, id conversation.ID) (_ killedJSON, err error) {
	k := killedJSON{Change: ui.Changed("kill", id), Delegates: []killedDelegateJSON{}, by: r.States().AskedIn(ctx, id)}
	holder, held := r.Locks.Held(id)
	if held {
		k.PID = holder.PID
	}
	if held && !askToEnd(ctx, r, k.by, id, holder) {
		if err := r.Locks.End(ctx, id, holder, termToEnd); err != nil {
			return k, problem.New(problem.ExitFailed, "internal", "%s was not ended: %v.", id, err).About(id)
		}
	}
	if k.Tools, err = agent.EndTools(ctx, r, id); err != nil {
		return k, err
	}
	for _, child := range agent.WorkersOf(ctx, r, id) {
		tools, err := agent.EndTools(ctx, r, child)
		if tools > 0 {
			k.Delegates = append(k.Delegates, killedDelegateJSON{Conversation: child, Tools: tools})
		}
		if err != nil {
			return k, err
		}
	}
	return k, nil
}

// askToEnd tells the process to shut down, gives it a moment, and reports whether it has let go of its
// lock: a waiting process may hold it by then. If it returns false, the caller sends a signal.
func askToEnd(ctx context.Context, r *repo.Repo, by, id conversation.ID, holder process.Holder) bool {
	ctx, cancel := context.WithTimeout(ctx, askedToEnd)
	defer cancel()
	client, err := r.Processes().Reach(ctx, by)
	var version *attach.VersionError
	if err != nil && !errors.As(err, &version) {
		return false
	}
	defer client.Close()
	return client.Send(&attach.Shutdown{}) == nil && r.Locks.AwaitEnd(ctx, id, holder) == nil
}
