package wirecheck

import (
	"slices"
	"strconv"
)

// Values of thinking in a Messages body.
const (
	thinkingOff      = "disabled"
	thinkingManual   = "enabled"
	thinkingAdaptive = "adaptive"
)

// thinkingModes are the types of the thinking parameter that models take.
var thinkingModes = map[Thinking][]string{
	ThinkingAny:      {thinkingOff, thinkingManual, thinkingAdaptive},
	ThinkingNone:     {},
	ThinkingManual:   {thinkingOff, thinkingManual},
	ThinkingAdaptive: {thinkingOff, thinkingAdaptive},
	ThinkingAlways:   {thinkingAdaptive},
}

// thinkingRules checks the parameter (A10) and the blocks (A8, A9, A11, A15).
func (k *checker) thinkingRules(turns []message) {
	mode := k.thinkingMode()
	k.thinkingParameter(mode)
	k.freeChoice(mode)
	var sent []*node
	for i, m := range turns {
		if m.role != "assistant" {
			continue
		}
		for _, b := range m.blocks {
			if isThinking(b) {
				k.thinkingBlock(b)
				k.boundTo(m, b)
				sent = append(sent, b)
			}
		}
		if paused := i == len(turns)-1 && k.Anthropic.Paused != nil; !paused {
			k.thinkingEnd(m)
		}
	}
	k.thinkingPlace(mode, turns)
	k.thinkingReceived(sent)
}

func isThinking(b *node) bool {
	return b.str("type") == "thinking" || b.str("type") == "redacted_thinking"
}

// thinkingMode is the mode in force: the body's, or else the model's own.
func (k *checker) thinkingMode() string {
	switch {
	case k.body.get("thinking").kind == object:
		return k.body.get("thinking").str("type")
	case k.Anthropic.Thinking == ThinkingAlways:
		return thinkingAdaptive
	}
	return thinkingOff
}

func (k *checker) thinkingParameter(mode string) {
	p := k.body.get("thinking")
	if start := k.turnStart(); start != nil && start.get("thinking").canonical() != p.canonical() {
		k.add("A10", p, "is not the thinking that the turn began with")
	}
	if p.kind == absent || !k.want(p, object) {
		return
	}
	if !slices.Contains(thinkingModes[k.Anthropic.Thinking], mode) {
		k.add("A10", p, "the model does not take type %q", mode)
		return
	}
	if mode == thinkingManual {
		budget, err := strconv.Atoi(p.get("budget_tokens").text)
		if err != nil || budget < 1024 {
			k.add("A10", p, "the budget is not a number of at least 1024")
		}
	} else if p.has("budget_tokens") {
		k.add("A10", p, "%s thinking has no budget", mode)
	}
}

// freeChoice checks that a request with thinking neither forces a tool nor sets sampling (A10).
func (k *checker) freeChoice(mode string) {
	thinks := mode != thinkingOff
	choice := k.body.get("tool_choice")
	if k.optional(choice, object) && choice.kind == object {
		t := choice.str("type")
		if !slices.Contains([]string{"auto", "none", "any", "tool"}, t) {
			k.add(Format, choice, "type %q is unknown", t)
		} else if forced := t == "any" || t == "tool"; forced && (thinks || k.Anthropic.Thinking == ThinkingAlways) {
			k.add("A10", choice, "type %q forces a tool", t)
		}
	}
	if !thinks && !k.Anthropic.FixedSampling {
		return
	}
	if t := k.body.get("temperature"); !t.is(absent, null) && t.text != "1" && t.text != "1.0" {
		k.add("A10", t, "is not the default")
	}
	for _, name := range []string{"top_p", "top_k"} {
		if p := k.body.get(name); !p.is(absent, null) {
			k.add("A10", p, "is not the default")
		}
	}
}

// thinkingBlock checks the fields of one block (A8).
func (k *checker) thinkingBlock(b *node) {
	if b.str("type") == "redacted_thinking" {
		if b.str("data") == "" {
			k.add("A8", b, "has no data")
		}
		return
	}
	if b.get("thinking").kind != text {
		k.add("A8", b, "has no thinking")
	}
	if b.str("signature") == "" {
		k.add("A8", b, "has no signature")
	}
}

// thinkingEnd checks that a message does not stop at its thinking: alone that is A15, behind something else
// A8.
func (k *checker) thinkingEnd(m message) {
	if len(m.blocks) == 0 || !isThinking(m.blocks[len(m.blocks)-1]) {
		return
	}
	rule, problem := "A15", "the message is only thinking"
	if slices.ContainsFunc(m.blocks, func(b *node) bool { return !isThinking(b) }) {
		rule, problem = "A8", "the last block is thinking"
	}
	k.add(rule, m.node, "%s", problem)
}

// thinkingPlace checks that the last answer fits the mode (A9).
func (k *checker) thinkingPlace(mode string, turns []message) {
	last := len(turns) - 1
	for last >= 0 && turns[last].role != "assistant" {
		last--
	}
	if last < 0 || len(turns[last].blocks) == 0 {
		return
	}
	m := turns[last]
	switch mode {
	case thinkingOff:
		if slices.ContainsFunc(m.blocks, isThinking) {
			k.add("A9", m.node, "holds thinking although it is off")
		}
	case thinkingManual:
		calls := slices.ContainsFunc(m.blocks, func(b *node) bool { return b.str("type") == "tool_use" })
		if calls && !isThinking(m.blocks[0]) {
			k.add("A9", m.node, "does not start with thinking although it is manual")
		}
	}
}

// thinkingReceived checks the blocks against those received: unchanged and in
// order (A8), and without a gap behind the first one that is sent (A11).
func (k *checker) thinkingReceived(sent []*node) {
	if k.Received == nil {
		return
	}
	received := spellings(k.Received, isThinking)
	places := k.asReceived("A8", sent, received)
	if slices.Contains(places, -1) || k.Anthropic.Drop {
		return
	}
	for i, place := range places {
		next := len(received)
		if i+1 < len(places) {
			next = places[i+1]
		}
		if next != place+1 {
			k.add("A11", sent[i], "a thinking block received after this one is left out")
		}
	}
}

// boundTo checks that the text before a thinking block is the same as when the block was made (A11).
func (k *checker) boundTo(m message, b *node) {
	producer, known := k.Anthropic.Producers[b.str("signature")+b.str("data")]
	if !known || k.Anthropic.Drop {
		return
	}
	earlier, err := parse(producer)
	if err != nil {
		k.add("A11", b, "capability: the producing request is no JSON")
		return
	}
	if count := len(earlier.get("messages").items); count != m.index && count != m.index+1 {
		k.add("A11", b, "the block was made behind %d messages", count)
	}
	for _, v := range prefix("A11", withoutThinking, anthropicShape, earlier, k.body) {
		k.found = append(k.found, Violation{Rule: v.Rule, Where: b.path, Problem: v.Where + " " + v.Problem})
	}
}

// withoutThinking spells a message without its thinking blocks: a leading run
// of them may be gone without harm to later ones.
func withoutThinking(n *node) string {
	bare := *n
	for i, key := range n.keys {
		if key != "content" || n.items[i].kind != list {
			continue
		}
		content := *n.items[i]
		content.items = slices.DeleteFunc(slices.Clone(content.items), isThinking)
		bare.items = slices.Clone(n.items)
		bare.items[i] = &content
	}
	return bare.canonical("cache_control")
}
