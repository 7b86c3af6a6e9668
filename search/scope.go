package search

import (
	"fmt"
	"strings"

	"jp/conversation"
)

// A Scope is a kind of text.
type Scope string

// The scopes. Chat, Tool and All stand for several.
const (
	User       Scope = "user"
	Assistant  Scope = "assistant"
	Reasoning  Scope = "reasoning"
	ToolCall   Scope = "tool-call"
	ToolResult Scope = "tool-result"
	Inquiry    Scope = "inquiry"
	Title      Scope = "title"
	Chat       Scope = "chat"
	Tool       Scope = "tool"
	All        Scope = "all"
)

// Scopes are the names that [Compile] takes, in the order to show them.
var Scopes = []Scope{Chat, User, Assistant, Reasoning, Tool, ToolCall, ToolResult, Inquiry, Title, All}

// groups are the scopes that stand for several.
var groups = map[Scope][]Scope{
	Chat: {User, Assistant},
	Tool: {ToolCall, ToolResult},
	All:  {User, Assistant, Reasoning, ToolCall, ToolResult, Inquiry, Title},
}

// scopeSet spells out scopes. An empty list means all.
func scopeSet(scopes []Scope) (map[Scope]bool, error) {
	if len(scopes) == 0 {
		scopes = []Scope{All}
	}
	set := map[Scope]bool{}
	for _, s := range scopes {
		members, known := groups[s]
		if !known {
			members = []Scope{s}
		}
		if !known && !concrete(s) {
			names := make([]string, len(Scopes))
			for i, s := range Scopes {
				names[i] = string(s)
			}
			return nil, fmt.Errorf("%w: %q; there are %s", ErrScope, s, strings.Join(names, " "))
		}
		for _, m := range members {
			set[m] = true
		}
	}
	return set, nil
}

func concrete(s Scope) bool {
	for _, member := range groups[All] {
		if s == member {
			return true
		}
	}
	return false
}

// textOf is the searchable text of an event, and its scope, or "".
func textOf(e *conversation.Event) (Scope, string) {
	switch b := e.Body.(type) {
	case *conversation.ChatRequest:
		return User, b.Content
	case *conversation.ChatResponse:
		if b.Part == conversation.PartReasoning {
			return Reasoning, b.Text
		}
		return Assistant, b.Text
	case *conversation.ToolCallRequest:
		text, _ := e.Text()
		return ToolCall, b.Name + "\n" + text
	case *conversation.ToolCallResponse:
		return ToolResult, b.Content
	case *conversation.InquiryRequest:
		return Inquiry, b.Question.Text
	case *conversation.InquiryResponse:
		text, _ := e.Text()
		if b.Reason != "" {
			text += "\n" + b.Reason
		}
		return Inquiry, text
	}
	return "", ""
}
