package resume

import (
	"fmt"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// TailWords describe the wait of a conversation's incomplete turn, or its process.
func TailWords(r *repo.Repo, id conversation.ID, status conversation.Status) string {
	if _, held := r.Locks.Held(id); held && status != conversation.StatusInput {
		return "running"
	}
	return map[conversation.Status]string{
		conversation.StatusInput: "waiting for input", conversation.StatusTools: "pending tool execution",
		conversation.StatusFollowUp: "pending follow-up", conversation.StatusResponse: "pending LLM response",
	}[status]
}

// CutOffWords say that calls may be missing.
const CutOffWords = "The answer was cut off while it asked for tools."

// callState is a tool call of an incomplete turn, on one line, under the name
// given; running is whether an open one runs now.
func callState(call *conversation.ToolCall, name string, running bool) string {
	for _, q := range call.Inquiries {
		if q.Live() {
			return fmt.Sprintf("⏸ %s — waiting for input: %q", name, safetext.Clean(tool.Asked(q.Request.Question.Text)))
		}
	}
	switch {
	case call.Undelivered():
		return "⏸ " + name + " — ran; its result waits to be delivered"
	case !call.Open() && call.Response.Closed() != "":
		return "– " + name + " — " + call.Response.Closed()
	case !call.Open() && notRun(call):
		return "– " + name + " — not run"
	case !call.Open() && call.Result.IsError:
		return "✗ " + name + " — failed"
	case !call.Open():
		return "✓ " + name + " — completed"
	case running:
		return "▶ " + name + " — running"
	case call.Lost():
		return "? " + name + " — started; its outcome is unknown"
	case call.Started != nil:
		return "○ " + name + " — asked, and was answered; not run again yet"
	}
	return "○ " + name + " — not started"
}

// notRun reports whether jp closed a call without a run: it was denied, or a tool for it was missing.
func notRun(call *conversation.ToolCall) bool {
	effect, _ := strings.CutPrefix(call.Response.Subject, CallTitle(call)+": ")
	return strings.HasPrefix(effect, "not run: ") || strings.HasPrefix(effect, "declined by ") || strings.HasPrefix(effect, "denied by a hook")
}

func PathList(paths []string) string {
	shown := make([]string, len(paths))
	for i, p := range paths {
		shown[i] = repo.ShownPath(p)
	}
	return strings.Join(shown, ", ")
}

// CallTitle names a tool call with the argument that says most, as its result does.
func CallTitle(call *conversation.ToolCall) string {
	return strings.TrimPrefix(call.Event.Subject, "call ")
}

// CallLine is a tool call on one line, for people.
func CallLine(call *conversation.ToolCall) string {
	return safetext.Show(tool.Line(call.Request.Name, strings.TrimPrefix(CallTitle(call), call.Request.Name)))
}
