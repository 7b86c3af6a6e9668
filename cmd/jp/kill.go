package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/process"
	"jp/process/attach"
)

// How long a process has to end after it was asked to, and after SIGTERM.
const (
	askedToEnd = 2 * time.Second
	termToEnd  = 10 * time.Second
)

const killHelp = `End the process that runs a conversation: it is asked to, then gets SIGTERM, and
SIGKILL after ten seconds; its tools are ended, too. Only a process that provably
holds the conversation is signalled. The conversation stays as it is: its turn is
incomplete and can be gone on with. Where nothing runs there is nothing to do.

JSON: docs/json.md

Exit codes: 0 nothing runs (any more) · 1 it could not be ended · 2 usage ·
5 no such conversation`

func newKillCommand(e *env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "kill ID…|--all", Short: "End the process that runs a conversation", GroupID: "run", Long: killHelp,
		Example: "  jp kill 4400\n  jp kill --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usage("name the conversations, or give --all.").hint("jp ls --status running", "those that run")
			}
			return runKill(cmd.Context(), e, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that run in this repository")
	return cmd
}

func runKill(ctx context.Context, e *env, words []string) error {
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	ids, err := r.toKill(ctx, e, words)
	if err != nil {
		return err
	}
	defer r.sweep(ctx, e)
	results := []killedJSON{}
	for _, id := range ids {
		killed, err := r.kill(ctx, id)
		if err != nil {
			return err
		}
		results = append(results, killed)
		if !e.format.structured() {
			fmt.Fprintln(e.results(), killed.words())
		}
	}
	if e.format.structured() {
		return writeJSON(e.results(), results)
	}
	if len(ids) == 0 {
		e.note("Nothing runs.")
	}
	return nil
}

// toKill are the conversations that are named, or all that run.
func (r *repo) toKill(ctx context.Context, e *env, words []string) (ids []conversation.ID, err error) {
	for _, word := range words {
		id, err := r.resolve(ctx, e, word)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(words) > 0 {
		return ids, nil
	}
	infos, err := r.everyInfo(ctx)
	for _, i := range infos {
		if _, held := r.locks.Held(i.ID); held {
			ids = append(ids, i.ID)
		}
	}
	return ids, err
}

// A killedJSON is what jp kill did about one conversation.
type killedJSON struct {
	change
	PID int `json:"pid"` // of the process that was ended, 0 where none ran
}

func (k killedJSON) words() string {
	if k.PID == 0 {
		return fmt.Sprintf("%s: nothing runs.", k.Conversation)
	}
	return fmt.Sprintf("%s: ended pid %d.", k.Conversation, k.PID)
}

// kill ends the process that runs a conversation, and what its tools left.
func (r *repo) kill(ctx context.Context, id conversation.ID) (killedJSON, error) {
	k := killedJSON{change: changed("kill", id)}
	holder, held := r.locks.Held(id)
	if held {
		k.PID = holder.PID
	}
	if held && !r.askToEnd(ctx, id, holder) {
		if err := r.locks.End(ctx, id, holder, termToEnd); err != nil {
			return k, fail(exitFailed, "internal", "%s was not ended: %v.", id, err).about(id)
		}
	}
	return k, r.endTools(ctx, id)
}

// askToEnd tells the process to shut down, gives it a moment, and reports whether
// it has let go: who waited for the conversation may hold it by then. What it
// cannot be told, a signal says.
func (r *repo) askToEnd(ctx context.Context, id conversation.ID, holder process.Holder) bool {
	ctx, cancel := context.WithTimeout(ctx, askedToEnd)
	defer cancel()
	client, err := r.reach(ctx, r.askedIn(ctx, id))
	var version *attach.VersionError
	if err != nil && !errors.As(err, &version) {
		return false
	}
	defer client.Close()
	return client.Send(&attach.Shutdown{}) == nil && r.locks.AwaitEnd(ctx, id, holder) == nil
}

// endTools ends the tools of the conversation's open calls that outlived their
// process.
func (r *repo) endTools(ctx context.Context, id conversation.ID) error {
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return nil // it is unreadable, or was never there: no call of it is known
	}
	for _, call := range info.Summary.Open {
		if r.locks.ToolAlive(id, call.Seq) {
			if err := r.locks.EndTool(ctx, id, call.Seq); err != nil {
				return err
			}
		}
	}
	return nil
}
