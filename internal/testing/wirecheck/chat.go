package wirecheck

import "slices"

// Chat judges a body of Chat Completions, in the dialect that the capability
// names, by C1 to C8, P2 to P8 and P11.
func Chat(body []byte, c Capability) []Violation {
	return check(body, c, (*checker).chat)
}

// chatIDs and chatNames are the API's own limits.
var (
	chatIDs   = idRules{max: 40, long: "C4", unique: "C4"}
	chatNames = nameRules{long: "C4"}
)

func (k *checker) chat() {
	k.chatHead()
	messages := k.body.get("messages")
	if !k.want(messages, list) {
		return
	}
	turns := k.objects(messages)
	for i, m := range turns {
		k.chatMessage(i, m)
	}
	k.chatOrder(turns)
	k.chatTools(turns)
	k.dialect(turns)
	k.nothingRefused("P1")
	var texts []string
	for _, m := range turns {
		if m.str("role") == "assistant" {
			texts = append(texts, m.str("content"))
		}
	}
	k.data(texts)
}

// chatHead checks the fields beside the messages; structured output comes from
// response_format and never from a forced tool (C8).
func (k *checker) chatHead() {
	k.want(k.body.get("model"), text)
	k.optional(k.body.get("stream"), boolean)
	var schemas []*node
	for _, tool := range k.toolList() {
		if tool.str("type") != "function" {
			k.add(Format, tool, "is not of type function")
		}
		k.want(tool.get("function"), object)
		schemas = append(schemas, tool.get("function").get("parameters"))
	}
	k.toolSchemas(k.Chat.toolRules(), schemas)
	choice := k.body.get("tool_choice")
	if k.optional(choice, text, object) && !choice.is(absent, null) && choice.text != "auto" && choice.text != "none" {
		k.add("C8", choice, "forces a tool")
	}
	format := k.body.get("response_format")
	if !k.optional(format, object) || format.kind != object {
		return
	}
	switch format.str("type") {
	case "text", "json_object":
	case "json_schema":
		schema := format.get("json_schema")
		if schema.str("name") == "" || schema.get("schema").kind != object {
			k.add("C8", format, "json_schema has no name or no schema")
		}
	default:
		k.add("C8", format, "type %q is unknown", format.str("type"))
	}
}

func (k *checker) chatMessage(i int, m *node) {
	content := m.get("content")
	switch m.str("role") {
	case "system", "developer":
		if i > 0 {
			k.add("C5", m, "a %s message stands behind others", m.str("role"))
		}
		k.chatParts(Format, content, "text")
	case "user":
		k.chatParts(Format, content, "text", "image_url", "input_audio", "file")
	case "tool":
		kinds := []string{"text"}
		if k.Chat.ImagesInTool {
			kinds = append(kinds, "image_url")
		}
		k.chatParts("C3", content, kinds...)
	case "assistant":
		k.chatAnswer(m, content)
	default:
		k.add(Format, m, "role %q is unknown", m.str("role"))
	}
}

// chatParts checks a content of text or parts; the rule names the kinds of part.
func (k *checker) chatParts(rule string, content *node, kinds ...string) {
	if !k.somethingIn(content) {
		return
	}
	for _, part := range k.objects(content) {
		t := part.str("type")
		switch {
		case !slices.Contains(kinds, t):
			k.add(rule, part, "a part of type %q cannot stand here", t)
		case t == "text" && k.want(part.get("text"), text):
			k.notBlank("P6", part.get("text"))
		case t == "image_url":
			k.want(part.get("image_url").get("url"), text)
		}
	}
}

// chatAnswer checks the content and the calls of an assistant message (C2).
func (k *checker) chatAnswer(m, content *node) {
	calls := m.get("tool_calls")
	if k.optional(calls, list) && calls.kind == list && len(calls.items) == 0 {
		k.add("P6", calls, "the list of calls is empty")
	}
	hasCalls, emptyText := len(calls.items) > 0, k.Chat.EmptyContent || k.Chat.ToolNames
	switch {
	case content.kind == null && hasCalls && !emptyText:
	case content.kind == absent && k.Chat.ToolNames && hasCalls: // Ollama's own API takes both
	case content.kind != text:
		k.add("C2", content, "is %v, not a string", content.kind)
	case content.text == "":
		if !hasCalls || !emptyText {
			k.add("C2", content, "is empty")
		}
	default:
		k.notBlank("P6", content)
	}
	for _, c := range k.objects(calls) {
		f := c.get("function")
		value := f.get("arguments")
		if !k.Chat.ToolNames {
			if c.str("type") != "function" {
				k.add(Format, c, "is not of type function")
			}
			value = k.inner(value)
		}
		k.arguments("C2", c.str("id"), f.get("arguments"), value)
	}
}

// chatOrder checks who speaks first and last, and that neighbours of one role
// are one message (P2, P5, C6).
func (k *checker) chatOrder(turns []*node) {
	talk := slices.DeleteFunc(slices.Clone(turns), func(m *node) bool {
		return m.str("role") == "system" || m.str("role") == "developer"
	})
	if len(talk) == 0 {
		k.add("P5", k.body.get("messages"), "there is no message of the user")
		return
	}
	if talk[0].str("role") == "assistant" {
		k.add("P5", talk[0], "the first message is not the user's")
	}
	if last := talk[len(talk)-1]; last.str("role") == "assistant" {
		k.add("C6", last, "the last message is the assistant's")
	}
	for i := 1; i < len(talk); i++ {
		role := talk[i].str("role")
		switch {
		case role != talk[i-1].str("role"):
		case role == "user":
			k.add("P5", talk[i], "two user messages follow each other")
		case role == "assistant":
			k.add("P2", talk[i], "two assistant messages follow each other")
		}
	}
}

// chatTools checks that calls and results belong together (C1), ids and names
// (C4).
func (k *checker) chatTools(turns []*node) {
	var calls []call
	var results []result
	var declared, uses []*node
	for _, tool := range k.body.get("tools").items {
		declared = append(declared, tool.get("function").get("name"))
	}
	group := outside
	for i, m := range turns {
		switch m.str("role") {
		case "assistant":
			group = i
			for _, c := range m.get("tool_calls").items {
				calls = append(calls, call{id: c.str("id"), at: c, group: i})
				uses = append(uses, c.get("function").get("name"))
			}
		case "tool":
			results = append(results, result{id: m.str("tool_call_id"), at: m, group: group})
		default:
			group = outside
		}
	}
	k.names(chatNames, declared, uses)
	if k.Chat.ToolNames {
		k.namedPairs(calls, results)
		return
	}
	ids := chatIDs
	if k.Chat.NumberedIDs {
		ids.form = numberedID
	}
	for _, c := range calls {
		k.id(ids, c.at.get("id"))
	}
	for _, r := range results {
		k.want(r.at.get("tool_call_id"), text)
	}
	k.pairs(pairRules{call: "C1", result: "C1", unique: "C4"}, calls, results)
}
