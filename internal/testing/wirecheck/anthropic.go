package wirecheck

import (
	"slices"
	"strings"
)

// Anthropic judges a body of the Messages API by A1 to A15, P3, P4, P6 to P8
// and P11. P5 is A1 here.
func Anthropic(body []byte, c Capability) []Violation {
	return check(body, c, (*checker).anthropic)
}

// A message is one entry of messages whose content is a list of blocks; a
// content that is a string counts as one block.
type message struct {
	*node
	role   string
	index  int // in messages
	blocks []*node
}

var (
	userBlocks      = []string{"text", "image", "document", "search_result", "container_upload", "tool_result"}
	assistantBlocks = []string{"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "container_upload"}
)

func (k *checker) anthropic() {
	k.anthropicHead()
	all := k.anthropicMessages()
	k.midSystem(all)
	turns := slices.DeleteFunc(slices.Clone(all), func(m message) bool { return m.role == "system" })
	k.alternation(turns)
	k.paused(turns)
	k.cacheMarks(all)
	k.toolUse(turns)
	k.thinkingRules(turns)
	k.nothingRefused("A13")
	k.data(assistantTexts(turns))
}

func (k *checker) anthropicHead() {
	b := k.body
	if !b.has("anthropic_version") { // the clouds name the model in the address
		k.want(b.get("model"), text)
	}
	k.want(b.get("max_tokens"), number)
	k.optional(b.get("stream"), boolean)
	if system := b.get("system"); !system.is(absent, null) && k.somethingIn(system) {
		for _, block := range k.objects(system) {
			k.textBlock("A6", block)
		}
	}
	var schemas []*node
	for _, tool := range k.toolList() {
		if t := tool.str("type"); t == "" || t == "custom" {
			k.want(tool.get("input_schema"), object)
			schemas = append(schemas, tool.get("input_schema"))
		}
	}
	k.toolSchemas(anthropicTools, schemas)
	k.outputFormat(b.get("output_config").get("format"))
	k.outputFormat(b.get("output_format"))
}

// outputFormat checks the shape of structured output.
func (k *checker) outputFormat(f *node) {
	if k.optional(f, object) && f.kind == object {
		if f.str("type") != "json_schema" {
			k.add(Format, f, "type is not json_schema")
		}
		k.want(f.get("schema"), object)
	}
}

func (k *checker) toolList() []*node {
	tools := k.body.get("tools")
	k.optional(tools, list)
	return k.objects(tools)
}

func (k *checker) anthropicMessages() []message {
	var all []message
	messages := k.body.get("messages")
	if !k.want(messages, list) {
		return nil
	}
	for i, n := range messages.items {
		if !k.want(n, object) {
			continue
		}
		m := message{node: n, role: n.str("role"), index: i}
		if !slices.Contains([]string{"user", "assistant", "system"}, m.role) {
			k.add(Format, n, "role %q is unknown", m.role)
		}
		content := n.get("content")
		if k.somethingIn(content) {
			m.blocks = k.objects(content)
		} else if content.kind == text {
			m.blocks = []*node{{path: content.path, kind: object, keys: []string{"type", "text"},
				items: []*node{{kind: text, text: "text"}, content}}}
		}
		k.anthropicBlocks(m)
		all = append(all, m)
	}
	return all
}

func (k *checker) anthropicBlocks(m message) {
	for _, b := range m.blocks {
		t := b.str("type")
		known := slices.Contains(userBlocks, t)
		if m.role == "assistant" {
			known = slices.Contains(assistantBlocks, t) || (t != "tool_result" && strings.HasSuffix(t, "_tool_result"))
		}
		switch {
		case !known:
			k.add(Format, b, "a %s message cannot hold a block of type %q", m.role, t)
		case t == "text" && m.get("content").kind == list:
			k.textBlock("A6", b)
		case t == "image":
			k.picture(b)
		case t == "document":
			k.want(b.get("source"), object)
		case t == "tool_result":
			k.toolResult(b)
		}
	}
}

func (k *checker) textBlock(rule string, b *node) {
	if b.str("type") != "text" {
		k.add(Format, b, "is of type %q, not text", b.str("type"))
		return
	}
	if t := b.get("text"); k.want(t, text) {
		k.notBlank(rule, t)
	}
}

// midSystem checks the place of a system message among the others (A12).
func (k *checker) midSystem(all []message) {
	for i, m := range all {
		if m.role != "system" {
			continue
		}
		placed := i > 0 && all[i-1].role == "user" && (i == len(all)-1 || all[i+1].role == "assistant")
		if !k.Anthropic.MidSystem || !placed {
			k.add("A12", m.node, "a system message may not stand here")
		}
	}
}

// alternation checks that user and assistant take turns and the user has both
// the first and the last word, unless an answer paused (A1).
func (k *checker) alternation(turns []message) {
	if len(turns) == 0 {
		k.add("A1", k.body.get("messages"), "there is no message")
		return
	}
	if turns[0].role != "user" {
		k.add("A1", turns[0].node, "the first message is not the user's")
	}
	for i := 1; i < len(turns); i++ {
		if turns[i].role == turns[i-1].role {
			k.add("A1", turns[i].node, "two %s messages follow each other", turns[i].role)
		}
	}
	if last := turns[len(turns)-1]; last.role == "assistant" && k.Anthropic.Paused == nil {
		k.add("A1", last.node, "the last message is the assistant's")
	}
}

// paused checks that a paused answer goes back as it came (A14).
func (k *checker) paused(turns []message) {
	if k.Anthropic.Paused == nil || len(turns) == 0 {
		return
	}
	last := turns[len(turns)-1]
	want, err := parse(k.Anthropic.Paused)
	if err != nil || last.role != "assistant" || last.get("content").canonical("cache_control") != want.canonical("cache_control") {
		k.add("A14", last.node, "is not the paused answer, unchanged")
	}
}

// cacheMarks checks the number and the places of cache_control (A6). Those on
// empty texts are broken already for the text.
func (k *checker) cacheMarks(all []message) {
	marked := []*node{k.body}
	marked = append(marked, k.body.get("tools").items...)
	marked = append(marked, k.body.get("system").items...)
	for _, m := range all {
		for _, b := range m.blocks {
			marked = append(marked, b)
			marked = append(marked, b.get("content").items...)
			if strings.HasSuffix(b.str("type"), "thinking") && b.has("cache_control") {
				k.add("A6", b, "a thinking block has cache_control")
			}
		}
	}
	count := 0
	for _, n := range marked {
		if n.get("cache_control").kind == object {
			count++
		}
	}
	if count > 4 {
		k.add("A6", k.body, "has %d cache_control, more than 4", count)
	}
}

func assistantTexts(turns []message) []string {
	var texts []string
	for _, m := range turns {
		for _, b := range m.blocks {
			if m.role == "assistant" && b.str("type") == "text" {
				texts = append(texts, b.str("text"))
			}
		}
	}
	return texts
}
