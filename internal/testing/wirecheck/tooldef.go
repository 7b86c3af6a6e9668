package wirecheck

import (
	"regexp"
	"slices"
	"strings"

	"jp/internal/lazy"
)

// toolRules are the rules of an API for the definitions of tools (P12). A server refuses the whole request if
// one tool breaks one of them.
type toolRules struct {
	max        int                   // tools of one request; 0: unlimited
	keys       func() *regexp.Regexp // of the properties at the top level
	properties bool                  // the top level has properties
	items      bool                  // an array describes its items
	branches   bool                  // a type stands in the branches of anyOf instead of beside it
	subset     bool                  // only the words and forms that Gemini reads
	typeList   bool                  // with subset: a type may be a list of one type and null
}

var (
	messageKeys  = lazy.Regexp(`^[a-zA-Z0-9_.-]{1,64}$`)
	functionKeys = lazy.Regexp(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

	anthropicTools = toolRules{keys: messageKeys}
	openaiTools    = toolRules{max: 128, properties: true, items: true}
	geminiTools    = toolRules{max: 512, keys: functionKeys, items: true, subset: true, typeList: true}
)

// toolRules are those of the endpoint.
func (d ChatDialect) toolRules() toolRules {
	rules := openaiTools
	if d.GeminiTools {
		rules = geminiTools
		rules.max, rules.typeList = openaiTools.max, false
	}
	if d.ManyTools {
		rules.max = 0
	}
	rules.branches = d.TypeInBranches
	return rules
}

// maxSchemaDepth is how deep schemas may be nested in each other.
const maxSchemaDepth = 32

// toolSchemas checks the schemas of tools' parameters. A tool without one takes no parameters.
func (k *checker) toolSchemas(r toolRules, schemas []*node) {
	if r.max > 0 && len(schemas) > r.max {
		k.add("P12", k.body.get("tools"), "there are %d tools, more than %d", len(schemas), r.max)
	}
	for _, s := range schemas {
		if s.is(absent, null) {
			continue
		}
		if s.kind != object || s.str("type") != "object" {
			k.add("P12", s, "the parameters are not of type object")
			continue
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "enum", "not", "const"} {
			if s.has(word) {
				k.add("P12", s.get(word), "%s stands at the top level", word)
			}
		}
		if r.properties && s.get("properties").kind != object {
			k.add("P12", s, "the parameters have no properties")
		}
		for i, key := range s.get("properties").keys {
			if r.keys != nil && !r.keys().MatchString(key) {
				k.add("P12", s.get("properties").items[i], "the property %q does not match %s", key, r.keys())
			}
		}
		(&schemaCheck{checker: k, rules: r, root: s}).schema(s, 1)
	}
}

// A schemaCheck goes through the schemas of one tool.
type schemaCheck struct {
	*checker
	rules toolRules
	root  *node
}

var (
	schemaTypes = []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	// Kinds of value of the keywords of draft 2020-12.
	schemaKinds = map[string][]kind{
		"description": {text}, "title": {text}, "format": {text}, "pattern": {text}, "$ref": {text},
		"minimum": {number}, "maximum": {number}, "exclusiveMinimum": {number}, "exclusiveMaximum": {number}, "multipleOf": {number},
		"minLength": {number}, "maxLength": {number}, "minItems": {number}, "maxItems": {number}, "minProperties": {number}, "maxProperties": {number},
		"uniqueItems": {boolean}, "deprecated": {boolean}, "readOnly": {boolean}, "writeOnly": {boolean},
		"required": {list}, "enum": {list}, "examples": {list}, "anyOf": {list}, "oneOf": {list}, "allOf": {list}, "prefixItems": {list},
		"properties": {object}, "patternProperties": {object}, "$defs": {object}, "definitions": {object}, "dependentSchemas": {object},
		"items": {object, boolean}, "additionalProperties": {object, boolean}, "not": {object, boolean},
		"if": {object, boolean}, "then": {object, boolean}, "else": {object, boolean}, "contains": {object, boolean},
		"propertyNames": {object, boolean}, "unevaluatedProperties": {object, boolean},
	}
	// The words that Gemini reads.
	geminiWords = []string{"type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
		"minimum", "maximum", "anyOf", "properties", "additionalProperties", "required", "propertyOrdering"}
	geminiFormats = []string{"enum", "date-time", "date", "time", "float", "double", "int32", "int64"}
)

// schema checks one schema and those in it.
func (c *schemaCheck) schema(s *node, depth int) {
	switch {
	case s.kind == boolean && !c.rules.subset:
		return
	case s.kind != object:
		c.add("P12", s, "is %v, not a schema", s.kind)
		return
	case depth > maxSchemaDepth:
		c.add("P12", s, "schemas are nested more than %d deep", maxSchemaDepth)
		return
	}
	for i, word := range s.keys {
		if kinds, known := schemaKinds[word]; known && !s.items[i].is(kinds...) {
			c.add("P12", s.items[i], "%s is %v, not %v", word, s.items[i].kind, kinds)
		}
	}
	c.types(s)
	c.lists(s)
	c.reference(s)
	if c.rules.subset {
		c.subset(s)
	}
	for i, word := range s.keys {
		value := s.items[i]
		switch word {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			for _, inner := range value.items {
				c.schema(inner, depth+1)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for _, inner := range value.items {
				c.schema(inner, depth+1)
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties":
			if value.kind == object {
				c.schema(value, depth+1)
			}
		}
	}
}

// typesOf are the types that a schema names.
func typesOf(s *node) (types []string) {
	t := s.get("type")
	if t.kind == text {
		return []string{t.text}
	}
	for _, item := range t.items {
		types = append(types, item.text)
	}
	return types
}

func (c *schemaCheck) types(s *node) {
	t, types := s.get("type"), typesOf(s)
	if !t.is(absent, text, list) || t.kind == list && len(types) == 0 {
		c.add("P12", t, "is no type")
	}
	for i, name := range types {
		if !slices.Contains(schemaTypes, name) || slices.Contains(types[:i], name) {
			c.add("P12", t, "the type %q is unknown, or there twice", name)
		}
	}
	if c.rules.items && slices.Contains(types, "array") && s.get("items").kind != object {
		c.add("P12", s, "an array without items")
	}
	choices := slices.Concat(s.get("anyOf").items, s.get("oneOf").items)
	if c.rules.branches && len(choices) > 0 {
		if s.has("type") {
			c.add("P12", t, "a type stands beside anyOf")
		}
		for _, choice := range choices {
			if !choice.has("type") && !choice.has("$ref") && !choice.has("anyOf") && !choice.has("oneOf") {
				c.add("P12", choice, "a branch has no type")
			}
		}
	}
}

// lists checks the items of lists.
func (c *schemaCheck) lists(s *node) {
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems", "enum"} {
		if l := s.get(word); l.kind == list && len(l.items) == 0 {
			c.add("P12", l, "%s is empty", word)
		}
	}
	required := s.get("required")
	for i, item := range required.items {
		twice := slices.ContainsFunc(required.items[:i], func(before *node) bool { return before.text == item.text })
		if item.kind != text || twice {
			c.add("P12", item, "is no name, or there twice")
		}
	}
}

// reference checks that the target of a reference exists.
func (c *schemaCheck) reference(s *node) {
	ref := s.get("$ref")
	if ref.kind != text {
		return
	}
	at, inside := c.root, strings.HasPrefix(ref.text, "#")
	for _, step := range strings.Split(strings.TrimPrefix(strings.TrimPrefix(ref.text, "#"), "/"), "/") {
		if step != "" && inside {
			at = at.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	if !inside || !at.is(object, boolean) {
		c.add("P12", ref, "%q leads nowhere", ref.text)
	}
}

// subset checks the part of a schema that Gemini reads.
func (c *schemaCheck) subset(s *node) {
	for i, word := range s.keys {
		if !slices.Contains(geminiWords, word) {
			c.add("P12", s.items[i], "the word %s is unknown here", word)
		}
	}
	types := slices.DeleteFunc(typesOf(s), func(name string) bool { return name == "null" && s.get("type").kind == list })
	if s.get("type").kind == list && (!c.rules.typeList || len(types) != 1) {
		c.add("P12", s.get("type"), "the type is a list")
	}
	is := func(name string) bool { return len(types) == 1 && types[0] == name }
	if len(types) == 0 && !s.has("anyOf") {
		c.add("P12", s, "there is no type")
	}
	for _, only := range []struct{ word, of string }{
		{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"items", "array"}, {"prefixItems", "array"}, {"enum", "string"},
	} {
		if s.has(only.word) && !is(only.of) {
			c.add("P12", s.get(only.word), "%s is only for the type %s", only.word, only.of)
		}
	}
	for _, value := range s.get("enum").items {
		if value.kind != text || value.text == "" {
			c.add("P12", value, "is not a string with something in it")
		}
	}
	for _, name := range s.get("required").items {
		if !s.get("properties").has(name.text) {
			c.add("P12", name, "the property %q is not defined", name.text)
		}
	}
	if f := s.get("format"); f.kind == text && !slices.Contains(geminiFormats, f.text) {
		c.add("P12", f, "the format %q is unknown here", f.text)
	}
}
