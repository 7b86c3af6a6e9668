package wirecheck

import (
	"slices"
	"unicode/utf8"
)

// Responses judges a body of the Responses API by R1 to R9, P3 to P8 and P11.
func Responses(body []byte, c Capability) []Violation {
	return check(body, c, (*checker).responses)
}

// hosted are items of tools that the server runs itself.
var hosted = []string{"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
	"mcp_call", "mcp_list_tools", "compaction"}

// An item is one entry of input.
type item struct {
	*node
	kind string // type, or message if the type is left out
	role string // of a message
}

func (i item) isModel() bool {
	return i.role == "assistant" || i.kind == "reasoning" || i.kind == "function_call" || slices.Contains(hosted, i.kind)
}

func (k *checker) responses() {
	k.responsesHead()
	input := k.body.get("input")
	if !k.want(input, text, list) {
		return
	}
	if input.kind == text {
		k.notBlank("P6", input)
		return
	}
	items := k.inputItems(input)
	k.inputOrder(items)
	k.functionCalls(items)
	k.reasoningItems(items)
	k.nothingRefused("P1")
	var texts []string
	for _, i := range items {
		if i.role == "assistant" {
			texts = append(texts, outputText(i.get("content")))
		}
	}
	k.data(texts)
}

// responsesHead checks the fields beside the input: the server keeps nothing, reasoning comes back encrypted
// (R3), instructions stay the same within a turn (R9).
func (k *checker) responsesHead() {
	b := k.body
	k.want(b.get("model"), text)
	k.optional(b.get("stream"), boolean)
	if i := b.get("instructions"); k.optional(i, text) {
		k.notBlank("P6", i)
	}
	if b.get("store").text != "false" || b.get("store").kind != boolean {
		k.add("R3", b.get("store"), "is not false")
	}
	encrypted := func(n *node) bool { return n.kind == text && n.text == "reasoning.encrypted_content" }
	if !k.Responses.NoReasoning && !slices.ContainsFunc(b.get("include").items, encrypted) {
		k.add("R3", b.get("include"), "does not ask for encrypted reasoning")
	}
	for _, name := range []string{"previous_response_id", "conversation"} {
		if !b.get(name).is(absent, null) {
			k.add("R3", b.get(name), "refers to what the server keeps")
		}
	}
	start := k.turnStart()
	if start != nil && start.get("instructions").canonical() != b.get("instructions").canonical() {
		k.add("R9", b.get("instructions"), "are not those that the turn began with")
	}
	format := b.get("text").get("format")
	if k.optional(format, object) && format.kind == object && format.str("type") == "json_schema" {
		k.want(format.get("name"), text)
		k.want(format.get("schema"), object)
	}
}

func (k *checker) inputItems(input *node) []item {
	var items []item
	for n, value := range input.items {
		if !k.want(value, object) {
			continue
		}
		i := item{node: value, kind: value.str("type")}
		if i.kind == "" && value.has("role") {
			i.kind = "message"
		}
		if i.kind == "message" {
			i.role = value.str("role")
		}
		k.inputItem(n, i)
		items = append(items, i)
	}
	return items
}

func (k *checker) inputItem(n int, i item) {
	if id := i.get("id"); k.optional(id, text) && utf8.RuneCountInString(id.text) > 64 {
		k.add("R5", id, "the id has more than 64 characters")
	}
	if i.has("status") && !slices.Contains(hosted, i.kind) { // those go back as they came
		k.add("R5", i.get("status"), "status is sent")
	}
	switch {
	case i.kind == "message":
		k.inputMessage(n, i)
	case i.kind == "function_call":
		k.id(idRules{max: 64, long: "R5"}, i.get("call_id"))
		k.arguments("R5", i.str("call_id"), i.get("arguments"), k.inner(i.get("arguments")))
		if slices.Contains(k.Responses.CutOff, i.str("call_id")) {
			k.add("R8", i.node, "the call was cut off")
		}
	case i.kind == "function_call_output":
		k.want(i.get("call_id"), text)
		k.functionOutput(i.get("output"))
	case i.kind == "reasoning":
		k.reasoningItem(i)
	case i.kind == "item_reference":
		k.add("R3", i.node, "refers to what the server keeps")
	case !slices.Contains(hosted, i.kind):
		k.add(Format, i.node, "type %q is unknown", i.kind)
	}
}

// inputMessage checks a message by its role; steering messages stand only at the beginning (R9).
func (k *checker) inputMessage(n int, i item) {
	kinds := []string{"input_text", "input_image", "input_file"}
	switch i.role {
	case "user":
	case "assistant":
		kinds = []string{"output_text", "refusal"}
		k.phase(i)
	case "system", "developer":
		if n > 0 {
			k.add("R9", i.node, "a %s message stands behind others", i.role)
		}
	default:
		k.add(Format, i.node, "role %q is unknown", i.role)
		return
	}
	k.inputParts(Format, i.get("content"), kinds...)
}

func (k *checker) inputParts(rule string, content *node, kinds ...string) {
	if !k.somethingIn(content) {
		return
	}
	for _, part := range k.objects(content) {
		t := part.str("type")
		if !slices.Contains(kinds, t) {
			k.add(rule, part, "a part of type %q cannot stand here", t)
			continue
		}
		if t == "input_text" || t == "output_text" {
			if s := part.get("text"); k.want(s, text) {
				k.notBlank("P6", s)
			}
		}
	}
}

// functionOutput checks the content of a result (R7).
func (k *checker) functionOutput(output *node) {
	if !output.is(text, list) {
		k.add("R7", output, "is %v, not a string or a list", output.kind)
		return
	}
	k.inputParts("R7", output, "input_text", "input_image", "input_file")
}

// phase checks that an assistant message names its phase in the answer, on models that tell it (R6).
func (k *checker) phase(i item) {
	p := i.get("phase")
	known := p.text == "commentary" || p.text == "final_answer"
	if (p.is(absent, null) && k.Responses.Phase) || (!p.is(absent, null) && !known) {
		k.add("R6", p, "must be commentary or final_answer")
	}
}

// inputOrder checks who speaks first and last, and that neighbouring user
// messages are one (P5).
func (k *checker) inputOrder(items []item) {
	talk := slices.DeleteFunc(slices.Clone(items), func(i item) bool {
		return i.role == "system" || i.role == "developer"
	})
	if len(talk) == 0 {
		k.add("P5", k.body.get("input"), "there is no message of the user")
		return
	}
	if talk[0].isModel() {
		k.add("P5", talk[0].node, "the first item is not the user's")
	}
	if last := talk[len(talk)-1]; last.isModel() && last.kind != "reasoning" { // reasoning at the end is R2
		k.add("P5", last.node, "the last item is the model's")
	}
	for n := 1; n < len(talk); n++ {
		if talk[n].role == "user" && talk[n-1].role == "user" {
			k.add("P5", talk[n].node, "two user messages follow each other")
		}
	}
}

// functionCalls checks that calls and outputs belong together (R1). An answer is
// a run of items that the model made.
func (k *checker) functionCalls(items []item) {
	var calls []call
	var results []result
	var declared, uses []*node
	var schemas []*node
	for _, tool := range k.toolList() {
		if tool.str("type") == "function" {
			declared, schemas = append(declared, tool.get("name")), append(schemas, tool.get("parameters"))
		}
	}
	k.toolSchemas(openaiTools, schemas)
	group, behind := outside, outside
	for n, i := range items {
		switch {
		case i.isModel():
			if n == 0 || !items[n-1].isModel() {
				group++
			}
			behind = group
			if i.kind == "function_call" {
				calls = append(calls, call{id: i.str("call_id"), at: i.node, group: group})
				uses = append(uses, i.get("name"))
			}
		case i.kind == "function_call_output":
			results = append(results, result{id: i.str("call_id"), at: i.node, group: behind})
		default:
			behind = outside
		}
	}
	k.pairs(pairRules{call: "R1", result: "R1", unique: "P4"}, calls, results)
	k.names(nameRules{}, declared, uses)
}

// outputText is the text of an assistant message.
func outputText(content *node) string {
	if content.kind == text {
		return content.text
	}
	all := ""
	for _, part := range content.items {
		all += part.str("text")
	}
	return all
}
