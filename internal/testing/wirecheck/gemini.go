package wirecheck

import "slices"

// Gemini judges a body of generateContent, in camelCase or snake_case, by G1 to
// G9, P4, P6 to P8 and P11. P5 is G1 here, P3 is G2.
func Gemini(body []byte, c Capability) []Violation {
	return check(body, c, (*checker).gemini)
}

// A content is one entry of contents.
type content struct {
	*node
	role      string
	parts     []*node
	calls     []*node // the functionCall parts
	responses []*node // the functionResponse parts
}

// partKinds are the keys of which a part has exactly one.
var partKinds = []string{"text", "inlineData", "inline_data", "fileData", "file_data", "functionCall", "function_call",
	"functionResponse", "function_response", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result"}

func (k *checker) gemini() {
	declared := k.geminiHead()
	contents := k.body.get("contents")
	if !k.want(contents, list) {
		return
	}
	var all []content
	var texts []string
	for _, n := range k.objects(contents) {
		c := k.geminiContent(n)
		all = append(all, c)
		for _, p := range c.parts {
			if c.role == "model" {
				texts = append(texts, p.str("text"))
			}
		}
	}
	all = slices.DeleteFunc(all, func(c content) bool { return c.role == "system" })
	k.contentOrder(all)
	k.functionGroups(all)
	k.functionNames(declared, all)
	k.signatures(all)
	k.nothingRefused("P1")
	k.data(texts)
}

// geminiHead checks the fields beside the contents and returns the names of the
// declared functions.
func (k *checker) geminiHead() []*node {
	system := k.body.get("systemInstruction", "system_instruction")
	if k.optional(system, object) && system.kind == object {
		for _, p := range k.geminiParts(system) {
			if p.get("text").kind != text {
				k.add(Format, p, "a system instruction holds only text")
			}
			k.geminiText(p)
		}
	}
	var declared, schemas []*node
	for _, tool := range k.toolList() {
		for _, f := range k.objects(tool.get("functionDeclarations", "function_declarations")) {
			declared = append(declared, f.get("name"))
			schemas = append(schemas, f.get("parametersJsonSchema", "parameters_json_schema"))
			if f.has("parameters") {
				k.add(Format, f, "parameters are given in the form of OpenAPI, not as JSON schema")
			}
		}
	}
	k.toolSchemas(geminiTools, schemas)
	config := k.body.get("generationConfig", "generation_config")
	k.optional(config, object)
	schema := config.get("responseSchema", "response_schema", "responseJsonSchema", "response_json_schema")
	if schema.is(absent, null) {
		return declared
	}
	if config.str("responseMimeType", "response_mime_type") != "application/json" {
		k.add("G9", schema, "the response type is not application/json")
	}
	if len(declared) > 0 && !k.Gemini.SchemaWithTools {
		k.add("G9", schema, "the model takes no schema beside functions")
	}
	return declared
}

// geminiParts are the parts of a content; there is at least one (G7).
func (k *checker) geminiParts(n *node) []*node {
	parts := n.get("parts")
	if k.optional(parts, list) && len(parts.items) == 0 {
		k.add("G7", parts, "there are no parts")
	}
	return k.objects(parts)
}

func (k *checker) geminiContent(n *node) content {
	c := content{node: n, role: n.str("role"), parts: k.geminiParts(n)}
	switch c.role {
	case "user", "model":
	case "system":
		k.add("G8", n, "a content has the role system")
	default:
		k.add(Format, n, "role %q is unknown", c.role)
	}
	for _, p := range c.parts {
		call, response := p.get("functionCall", "function_call"), p.get("functionResponse", "function_response")
		k.onePart(p)
		switch {
		case call.kind != absent && c.role == "model":
			c.calls = append(c.calls, call)
			k.functionCall(call)
		case response.kind != absent && c.role == "user":
			c.responses = append(c.responses, response)
			k.functionResponse(response)
		case call.kind != absent || response.kind != absent:
			k.add(Format, p, "a %s content cannot hold this part", c.role)
		}
	}
	return c
}

// onePart checks that a part is one thing, and its text and signature.
func (k *checker) onePart(p *node) {
	count := 0
	for _, key := range partKinds {
		if p.has(key) {
			count++
		}
	}
	if count != 1 {
		k.add(Format, p, "has %d of the things that a part can be", count)
	}
	s := signature(p)
	k.optional(s, text)
	if p.get("thought").text == "true" && p.has("text") {
		k.add("G8", p, "a thought is sent as text")
	} else if p.has("text") && s.text == "" {
		k.geminiText(p)
	}
	blob := p.get("inlineData", "inline_data")
	if k.optional(blob, object) && blob.kind == object {
		k.want(blob.get("mimeType", "mime_type"), text)
		k.want(blob.get("data"), text)
	}
}

// geminiText checks a text without a signature: it must not be empty (G7) or only white space (P6).
func (k *checker) geminiText(p *node) {
	t := p.get("text")
	switch {
	case t.kind == absent || !k.want(t, text):
	case t.text == "":
		k.add("G7", t, "text is empty")
	default:
		k.notBlank("P6", t)
	}
}

// signature is the value that makes a part's thought readable again.
func signature(p *node) *node { return p.get("thoughtSignature", "thought_signature") }

// contentOrder checks who speaks first and last and that the roles take turns
// (G1). The text that follows results may be a content of its own; a call that
// follows another model content is G3.
func (k *checker) contentOrder(all []content) {
	if len(all) == 0 {
		k.add("G1", k.body.get("contents"), "there is no content")
		return
	}
	for i, c := range all {
		afterUser := i > 0 && all[i-1].role == "user"
		behindResults := afterUser && len(all[i-1].responses) > 0 && len(c.responses) == 0
		switch {
		case c.role == "model" && !afterUser && len(c.calls) > 0:
			k.add("G3", c.node, "the call does not come directly after a user content")
		case c.role == "model" && !afterUser:
			k.add("G1", c.node, "the answer does not come directly after a user content")
		case c.role == "user" && afterUser && !behindResults:
			k.add("G1", c.node, "two user contents follow each other")
		}
	}
	if last := all[len(all)-1]; last.role == "model" {
		k.add("G1", last.node, "the last content is the model's")
	}
}
