// Package interrupted describes interrupted turns: what they wait for, how far their tool calls
// are, how the files differ since, and the commands that lead back.
package interrupted

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/reconcile"
)

// Text is what the turn has done and waits for.
func Text(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn, record reconcile.Record, truth reconcile.RepoState) string {
	var b strings.Builder
	ago := longAgo(truth.Now.Sub(record.At))
	if e := tail.Ledger().Interrupted; e != nil && e.Body.(*conversation.TurnInterrupted).By == conversation.ByUser {
		fmt.Fprintf(&b, "You aborted turn %d of %s, %s.\n", tail.Number, id, ago)
	} else {
		fmt.Fprintf(&b, "%s stopped in turn %d, %s.\n", id, tail.Number, ago)
	}
	for _, call := range tail.Ledger().ToolCalls {
		title := safetext.Show(CallTitle(call))
		words := cmp.Or(delegateState(ctx, r, call, title), callState(call, title, truth.Alive[call.Event.Seq]))
		fmt.Fprintf(&b, "  %s%s\n", words, effectWords(call))
		if said := stateWords(truth.Delegates[call.Event.Seq].State); said != "" {
			fmt.Fprintf(&b, "      it said: %s\n", safetext.Show(said))
		}
	}
	if record.CutOff {
		b.WriteString("  " + CutOffWords + "\n")
	}
	if words := ApprovedWords(record.Ledger.Approved); words != "" {
		b.WriteString("  Its tools: " + words + "\n")
	}
	b.WriteString(placeText(r, record, truth) + "\n")
	return b.String()
}

// ApprovedWords say which tool runs of a turn were approved in advance, "" for none.
func ApprovedWords(a conversation.Approval) string {
	switch {
	case len(a) == 0:
		return ""
	case a.All():
		return "approved in advance (-y)"
	}
	return "approved in advance (-y): " + safetext.Show(strings.Join(a, ", "))
}

// effectWords are what a call that came to its end did, " (+7 -3)"; "" where
// the record does not say.
func effectWords(call *conversation.ToolCall) string {
	if call.Open() {
		return ""
	}
	effect, ok := strings.CutPrefix(call.Response.Subject, CallTitle(call)+": ")
	if !ok {
		return ""
	}
	return " (" + safetext.Show(effect) + ")"
}

// longAgo says how long ago something was, in words.
func longAgo(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		noun string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / unit.size); n > 0 {
			return conversation.Count(n, unit.noun) + " ago"
		}
	}
	return "just now"
}
