package turnloop

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"jp/conversation"
	"jp/tool"
)

// subjectOf is the part of a call's arguments that says most, on one line.
func subjectOf(tools *tool.Registry, name string, arguments json.RawMessage) string {
	def := lookup(tools, name)
	if def == nil || def.Subject == nil {
		return ""
	}
	return strings.TrimSpace(def.Subject(arguments))
}

// line joins the words of a subject.
func line(words ...string) string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// responseSubject names the tool, the object and the effect. If it is too long, the
// object is cut, and the effect stays.
func responseSubject(tools *tool.Registry, call *conversation.ToolCall, effect string) string {
	if q := call.Permission(); q != nil && q == call.Edited() && q.Response.By == conversation.ByUser {
		effect += ", edited by you"
	}
	name, thing := call.Request.Name, subjectOf(tools, call.Request.Name, call.Arguments())
	room := conversation.SubjectColumns - utf8.RuneCountInString(name) - utf8.RuneCountInString(effect) - len(" : ")
	return line(name, conversation.Shorten(thing, max(room, 12))) + ": " + effect
}

// notRun is the short reason why a call never ran.
func notRun(reason string) string {
	if strings.HasPrefix(reason, textNoSuchTool) {
		return "not run: no tool of this name is on"
	}
	if reason == textPlanMode {
		return "not run: plan mode"
	}
	why, _ := strings.CutPrefix(reason, textNotRun)
	why, _, _ = strings.Cut(why, "\n")
	why, _, _ = strings.Cut(why, ". ")
	return "not run: " + strings.TrimSuffix(why, ".")
}

// effect is the effect of a result in a few words.
func effect(result tool.Result, content string) string {
	switch {
	case result.Effect != "":
		return result.Effect
	case result.IsError:
		first, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
		return "error: " + first
	}
	return conversation.Lines(content)
}
