package main

import (
	"context"
	"fmt"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/reconcile"
)

// awaitTools refuses to go on while a tool of the earlier run still works.
func (q *query) awaitTools(ctx context.Context, ledger *conversation.Ledger) error {
	for _, call := range ledger.Open() {
		if !q.repo.locks.ToolAlive(q.id, call.Event.Seq) {
			continue
		}
		if q.client == nil {
			return fail(exitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, q.id).about(q.id).
				hint("jp continue "+q.id.Short(), "when it has ended")
		}
		if err := q.waitOrEnd(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (q *query) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	seq, tty := call.Event.Seq, q.client.tty
	fmt.Fprintf(tty, "%s\n  It is still running, from before.\n", terminal.Show(callTitle(call)))
	key, err := tty.Choose(ctx, "  w wait for it   e end it   q quit, change nothing > ", oneOf("weq"))
	switch {
	case err != nil:
		return choiceError(err)
	case key == terminal.KeyCtrlC:
		fmt.Fprintln(tty)
		return q.leftAlone()
	case key.Lower() == 'w':
		fmt.Fprintln(tty, "w")
		return q.repo.locks.AwaitTool(ctx, q.id, seq)
	case key.Lower() == 'e':
		fmt.Fprintln(tty, "e")
		return q.repo.locks.EndTool(ctx, q.id, seq)
	}
	fmt.Fprintln(tty, "q")
	return q.keepText(fail(exitLocked, "locked", "%s still runs; nothing was changed.", call.Request.Name).about(q.id))
}

// unknown decides about a call whose outcome nobody knows: as --pending says,
// as the user says, or by telling the model.
func (q *query) unknown(ctx context.Context, call *conversation.ToolCall) (again bool, text string, err error) {
	found := q.plan.Find(call)
	text = reconcile.Evidence(found)
	t, ok := q.registry.Lookup(call.Request.Name)
	switch {
	case !ok, q.opts.pending == "report":
		return false, text, nil
	case q.opts.pending == "run" && !t.Definition().Exclusive:
		return true, "", nil
	case q.client == nil:
		return false, text, nil
	}
	q.client.gate.Lock()
	defer q.client.gate.Unlock()
	return q.askUnknown(ctx, call, found, text)
}

func (q *query) askUnknown(ctx context.Context, call *conversation.ToolCall, found reconcile.Call, text string) (bool, string, error) {
	tty := q.client.tty
	fmt.Fprintf(tty, "%s\n  It was started, and nobody knows what it did.\n", terminal.Show(callTitle(call)))
	if len(found.Touched)+len(found.Untouched) > 0 {
		fmt.Fprintf(tty, "  Of the files it named: changed since: %s; not changed: %s.\n", pathList(found.Touched), pathList(found.Untouched))
	} else {
		fmt.Fprintf(tty, "  Files: %s.\n", filesWords(q.plan.Changed))
	}
	key, err := tty.Choose(ctx, "  a run it again   r report it to the model   w write the result by hand   q quit > ", oneOf("arwq"))
	if err != nil {
		return false, "", choiceError(err)
	}
	if key != terminal.KeyCtrlC && key != terminal.KeyCtrlD {
		fmt.Fprintf(tty, "%c\n", key.Lower())
	}
	switch key.Lower() {
	case 'a':
		return true, "", nil
	case 'r':
		return false, text, nil
	case 'w':
		line, err := tty.Line(ctx, "The result, for the model: ")
		if err != nil {
			return false, "", choiceError(err)
		}
		return false, "The user says how this call ended: " + line, nil
	case terminal.KeyCtrlC:
		fmt.Fprintln(tty)
		return false, "", q.leftAlone()
	}
	return false, "", fail(exitDecision, "incomplete_turn", "the turn is still incomplete.").about(q.id)
}

func pathList(paths []string) string {
	if len(paths) == 0 {
		return "none"
	}
	shown := make([]string, len(paths))
	for i, p := range paths {
		shown[i] = terminal.Show(p)
	}
	return strings.Join(shown, ", ")
}

// callTitle names a tool call with the argument that says most.
func callTitle(call *conversation.ToolCall) string {
	return strings.TrimPrefix(call.Event.Subject, "call ")
}
