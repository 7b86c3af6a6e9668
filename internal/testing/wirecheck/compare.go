package wirecheck

import "bytes"

// An API is one of the four wire formats.
type API int

// The formats, each with its validator.
const (
	AnthropicMessages API = iota // [Anthropic]
	OpenAIChat                   // [Chat]
	OpenAIResponses              // [Responses]
	GeminiContents               // [Gemini]
)

// A shape is the layout of an API for [AppendOnly].
type shape struct {
	fixed    [][]string // must be equal as a whole, under each of its names
	messages string     // the list that only grows
	answer   string     // the role of an answer that is let continue
}

var (
	anthropicShape = shape{fixed: [][]string{{"system"}, {"tools"}}, messages: "messages", answer: "assistant"}
	shapes         = map[API]shape{
		AnthropicMessages: anthropicShape,
		OpenAIChat:        {fixed: [][]string{{"tools"}}, messages: "messages"},
		OpenAIResponses:   {fixed: [][]string{{"instructions"}, {"tools"}}, messages: "input"},
		GeminiContents:    {fixed: [][]string{{"systemInstruction", "system_instruction"}, {"tools"}}, messages: "contents"},
	}
)

// AppendOnly is V1: later, which holds the answer that earlier produced, has
// the same system, the same tools and, before that answer, the same messages.
// Values are compared in canonical JSON, without cache_control.
func AppendOnly(api API, earlier, later []byte) []Violation {
	s, known := shapes[api]
	a, err := parse(earlier)
	b, err2 := parse(later)
	if !known || err != nil || err2 != nil || a.kind != object || b.kind != object {
		return []Violation{{Rule: Format, Problem: "the API is unknown or a body is not a JSON object"}}
	}
	spell := func(n *node) string { return n.canonical() }
	if api == AnthropicMessages {
		spell = func(n *node) string { return n.canonical("cache_control") }
	}
	return prefix("V1", spell, s, a, b)
}

// Same is V2: the bodies are equal in every byte.
func Same(earlier, later []byte) []Violation {
	if bytes.Equal(earlier, later) {
		return nil
	}
	at := 0
	for at < min(len(earlier), len(later)) && earlier[at] == later[at] {
		at++
	}
	k := checker{}
	k.add("V2", &node{}, "the bodies differ from byte %d on", at)
	return k.found
}

// prefix reports, under a rule, if earlier is not the beginning of later.
func prefix(rule string, spell func(*node) string, s shape, earlier, later *node) []Violation {
	k := checker{}
	for _, names := range s.fixed {
		if spell(earlier.get(names...)) != spell(later.get(names...)) {
			k.add(rule, later.get(names...), "has changed")
		}
	}
	before, now := messageItems(earlier.get(s.messages)), messageItems(later.get(s.messages))
	for i, m := range before {
		last := i == len(before)-1
		switch {
		case i >= len(now):
			k.add(rule, m, "is gone")
		case spell(m) == spell(now[i]):
		case last && s.answer != "" && m.str("role") == s.answer && continues(spell, m, now[i]):
		default:
			k.add(rule, now[i], "has changed")
		}
	}
	grown := len(now) > len(before) || (len(now) > 0 && spell(before[len(now)-1]) != spell(now[len(now)-1]))
	if len(k.found) == 0 && !grown {
		k.add(rule, later.get(s.messages), "does not hold the answer")
	}
	return k.found
}

// messageItems are the entries of a list of messages; an input that is only a
// text counts as one.
func messageItems(n *node) []*node {
	if n.kind == text {
		return []*node{n}
	}
	return n.items
}

// continues reports whether a message begins with the content of another.
func continues(spell func(*node) string, begun, now *node) bool {
	a, b := begun.get("content").items, now.get("content").items
	if now.str("role") != begun.str("role") || len(a) == 0 || len(a) > len(b) {
		return false
	}
	for i := range a {
		if spell(a[i]) != spell(b[i]) {
			return false
		}
	}
	return true
}
