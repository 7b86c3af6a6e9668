package wirecheck

import "jp/internal/lazy"

var (
	alnum9     = lazy.Regexp(`^[a-zA-Z0-9]{9}$`)
	numberedID = lazy.Regexp(`^functions\.[A-Za-z_][A-Za-z0-9_-]*:[0-9]+$`)
)

// dialect checks the differences between endpoints (C7).
func (k *checker) dialect(turns []*node) {
	d := k.Chat
	var details []*node
	for i, m := range turns {
		role := m.str("role")
		if role == "user" && i > 0 && turns[i-1].str("role") == "tool" && d.UserAfterTool != UserAllowed {
			k.add("C7", m, "a user message may not follow a tool message")
		}
		if role != "assistant" {
			continue
		}
		k.reasoningBack(m)
		if r := m.get("reasoning_details"); !r.is(absent, null) {
			if !d.ReasoningDetails || r.kind != list || len(r.items) == 0 {
				k.add("C7", r, "reasoning_details cannot stand here")
			}
			details = append(details, r)
		}
		k.dialectCalls(m)
	}
	if d.ReasoningDetails && k.Received != nil {
		k.asReceived("C7", details, spellings(k.Received, every))
	}
	k.dialectHead()
}

// dialectCalls checks the ids of calls and the other fields of calls and messages.
func (k *checker) dialectCalls(m *node) {
	holders := append([]*node{m}, m.get("tool_calls").items...)
	for _, h := range holders {
		if h.has("extra_content") && !k.Chat.ExtraContent {
			k.add("C7", h.get("extra_content"), "the endpoint does not know extra_content")
		}
	}
	for _, c := range holders[1:] {
		if id := c.get("id"); k.Chat.AlnumIDs && !alnum9().MatchString(id.text) && !k.given(id.text) {
			k.add("C7", id, "%q is not nine letters or digits", id.text)
		}
		if id := c.get("id"); k.Chat.NumberedIDs && !numberedID().MatchString(id.text) && !k.given(id.text) {
			k.add("C7", id, "%q is not functions.NAME:NUMBER", id.text)
		}
	}
}

// reasoningBack checks the field that carries reasoning in plain text.
func (k *checker) reasoningBack(m *node) {
	r := m.get("reasoning_content")
	if k.Chat.ToolNames {
		r = m.get("thinking")
	}
	there := !r.is(absent, null)
	off := k.body.get("thinking").str("type") == "disabled" || k.body.get("think").text == "false"
	needed := k.Chat.ReasoningBack == ReasoningAll ||
		(k.Chat.ReasoningBack == ReasoningToolTurns && len(m.get("tool_calls").items) > 0)
	switch {
	case there && k.Chat.ReasoningBack == ReasoningNever:
		k.add("C7", r, "reasoning is not sent back to this endpoint")
	case there && (r.kind != text || r.text == ""):
		k.add("C7", r, "reasoning is not a string with something in it")
	case !there && needed && !off:
		k.add("C7", r, "the message has no reasoning")
	}
}

// dialectHead checks parameters whose names or presence differ.
func (k *checker) dialectHead() {
	b := k.body
	names := []string{"max_tokens", "max_completion_tokens"}
	for _, name := range names {
		if want := k.Chat.MaxTokens; want != "" && want != name && b.has(name) {
			k.add("C7", b.get(name), "the output limit is called %s here", want)
		}
	}
	if k.Chat.MaxTokens == "" && b.has(names[0]) && b.has(names[1]) {
		k.add("C7", b.get(names[0]), "two output limits are set")
	}
	parallel := b.get("parallel_tool_calls")
	if parallel.kind != absent && (!k.Chat.ParallelToolCalls || len(b.get("tools").items) == 0) {
		k.add("C7", parallel, "parallel_tool_calls cannot be set here")
	}
}

// namedPairs checks results without ids: as many as calls and directly behind
// them (C1), each with the name of the call at its place (C7).
func (k *checker) namedPairs(calls []call, results []result) {
	asked, got := map[int][]call{}, map[int][]result{}
	for _, c := range calls {
		asked[c.group] = append(asked[c.group], c)
	}
	for _, r := range results {
		got[r.group] = append(got[r.group], r)
	}
	for _, c := range calls {
		if want := asked[c.group]; want[0] == c && len(got[c.group]) != len(want) {
			k.add("C1", c.at, "%d calls have %d results", len(want), len(got[c.group]))
		}
	}
	for _, r := range results {
		if len(asked[r.group]) == 0 {
			k.add("P4", r.at, "no call stands before the result")
		}
	}
	for group, want := range asked {
		for i, r := range got[group] {
			name := r.at.str("tool_name")
			if len(got[group]) == len(want) && name != want[i].at.get("function").str("name") {
				k.add("C7", r.at, "%q is not the tool of the call at this place", name)
			}
		}
	}
}
