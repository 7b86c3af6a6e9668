package recall

import (
	"slices"
	"strconv"
	"strings"

	"jp/conversation"
	"jp/search"
)

// parts are the names of the parts that a call may ask for, by the kinds of event in them. The kinds are
// scopes of a search.
var parts = map[search.Scope]string{
	search.User: "chat", search.Assistant: "chat", search.Reasoning: "reasoning",
	search.ToolCall: "tool_calls", search.ToolResult: "tool_results",
}

// turn writes a turn with the parts that the call asks for, by default all.
func (e *envelope) turn(t shownTurn, of readArguments) {
	e.open("turn", attribute{"index", strconv.Itoa(t.Number)}, flag("incomplete", t.incomplete))
	ledger := t.Ledger()
	for _, ev := range t.Events {
		part, shown := parts[kindOf(ev)]
		if shown && (len(of.Include) == 0 || slices.Contains(of.Include, part)) {
			e.event(ledger, ev, of.IncludeRecall)
		}
	}
	e.close("turn")
}

func kindOf(ev *conversation.Event) search.Scope {
	switch b := ev.Body.(type) {
	case *conversation.ChatRequest:
		return search.User
	case *conversation.ChatResponse:
		if b.Part == conversation.PartReasoning {
			return search.Reasoning
		}
		return search.Assistant
	case *conversation.ToolCallRequest:
		return search.ToolCall
	case *conversation.ToolCallResponse:
		return search.ToolResult
	}
	return ""
}

// event writes one event, if it has text. withRecall also shows the results of these tools.
func (e *envelope) event(ledger *conversation.Ledger, ev *conversation.Event, withRecall bool) {
	switch b := ev.Body.(type) {
	case *conversation.ChatRequest:
		e.said(ev, b.Content)
	case *conversation.ChatResponse:
		text := b.Text
		if b.Part == conversation.PartData {
			text = fenced(text)
		}
		if strings.TrimSpace(b.Text) != "" {
			e.said(ev, text, flag("partial", b.Partial))
		}
	case *conversation.ToolCallRequest:
		arguments := "{}"
		if len(b.Arguments) > 0 {
			arguments = string(b.Arguments)
		}
		e.said(ev, fenced(arguments), attribute{"name", b.Name}, flag("malformed", b.Malformed))
	case *conversation.ToolCallResponse:
		text := ""
		seen, ok := release(ledger, ev)
		leave := ok && !withRecall && Is(b.Name)
		if ok && !leave {
			text, _ = seen.Text()
		}
		e.said(ev, text, attribute{"name", b.Name}, flag("is_error", b.IsError), flag("withheld", !ok), flag("left_out", leave))
	}
}

func (e *envelope) said(ev *conversation.Event, content string, more ...attribute) {
	e.leaf("event", content, append([]attribute{
		{"kind", string(kindOf(ev))}, {"seq", strconv.Itoa(ev.Seq)}, {"timestamp", moment(ev.Time)},
	}, more...)...)
}
