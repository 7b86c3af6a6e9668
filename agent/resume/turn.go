package resume

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"jp/agent/live"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/reconcile"
)

// InterruptedText lists the calls of the turn and the question that it waits for.
func InterruptedText(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn, record reconcile.Record, truth reconcile.RepoState) string {
	var b strings.Builder
	ago := longAgo(truth.Now.Sub(record.At))
	if e := tail.Ledger().Interrupted; e != nil && e.Body.(*conversation.TurnInterrupted).By == conversation.ByUser {
		fmt.Fprintf(&b, "You aborted turn %d of %s, %s.\n", tail.Number, id, ago)
	} else {
		fmt.Fprintf(&b, "%s stopped in turn %d, %s.\n", id, tail.Number, ago)
	}
	for _, call := range tail.Ledger().ToolCalls {
		title := CallLine(call)
		words := cmp.Or(delegateState(ctx, r, call, title), callState(call, title, truth.Alive[call.Event.Seq]))
		fmt.Fprintf(&b, "  %s%s\n", words, effectWords(call))
		if said := stateWords(truth.Delegates[call.Event.Seq].State); said != "" {
			fmt.Fprintf(&b, "      it said: %s\n", safetext.Show(said))
		}
	}
	for _, t := range Unrecorded(r, id, tail) {
		b.WriteString(unrecordedEnd(t))
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

// NotRecorded stands behind a text that streamed when jp ended.
const NotRecorded = " …(cut off, not recorded)"

// Unrecorded are the texts that streamed when jp ended, before they became events. It is empty while a
// process runs the turn.
func Unrecorded(r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn) (texts []live.StreamedText) {
	if holder, held := r.Locks.Held(id); held && holder.PID != os.Getpid() {
		return nil
	}
	for _, t := range live.StreamedTexts(r.StateDir(), id, tail.Events) {
		if strings.TrimSpace(t.Text) != "" && (t.Part == conversation.PartMessage || t.Part == conversation.PartReasoning) {
			texts = append(texts, t)
		}
	}
	return texts
}

// quotedLines is how many lines of a text the question quotes, of quotedBytes at most together.
const (
	quotedLines = 4
	quotedBytes = 600
)

// unrecordedEnd quotes the end of a text that streamed.
func unrecordedEnd(t live.StreamedText) string {
	head, text := "  It was answering:\n", strings.TrimSpace(safetext.Clean(t.Text))
	if t.Part == conversation.PartReasoning {
		head = "  It was thinking:\n"
	}
	lines := strings.Split(text, "\n")
	end := strings.Join(lines[max(0, len(lines)-quotedLines):], "\n")
	if len(end) > quotedBytes {
		end = strings.ToValidUTF8(end[len(end)-quotedBytes:], "")
	}
	if len(end) < len(text) {
		end = "… " + strings.TrimSpace(end)
	}
	return head + "      " + strings.ReplaceAll(end, "\n", "\n      ") + NotRecorded + "\n"
}

// ApprovedWords name the tool runs of a turn that were approved in advance, or "".
func ApprovedWords(a conversation.Approval) string {
	switch {
	case len(a) == 0:
		return ""
	case a.All():
		return "approved in advance (-y)"
	}
	return "approved in advance (-y): " + safetext.Show(strings.Join(a, ", "))
}

// effectWords are the effect of an ended call, " (+7 -3)", "" if unrecorded.
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
