package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var (
	subsetWords = []string{
		"type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
		"minimum", "maximum", "anyOf", "properties", "additionalProperties", "required", "propertyOrdering",
	}
	subsetFormats = []string{"enum", "date-time", "date", "time", "float", "double", "int32", "int64"}
)

// subset is a schema with the words that Gemini reads. Dropping words only allows more arguments, and jp
// checks them against the tool's own schema. Each schema has one type, or a choice of schemas.
func (a *adapter) subset(s schemaObject, depth int) any {
	s = maps.Clone(s)
	for _, part := range s.list("allOf") {
		p := asObject(part)
		required := union(s.required(), p.required())
		s = join(s, p)
		if len(s.object("properties")) == 0 {
			delete(s, "properties")
		}
		if len(required) > 0 {
			s["required"] = required
		}
	}
	if s["anyOf"] == nil && s["oneOf"] != nil {
		s["anyOf"] = s["oneOf"]
	}
	if value, ok := s["const"].(string); ok && s["enum"] == nil {
		s["enum"] = []any{value}
	}
	choices := s.list("anyOf")
	types := typesOf(s)
	switch {
	case len(choices) > 0:
		delete(s, "type")
	case len(types) == 0 && !describes(s):
		return withTold(a.anything(depth), s)
	case len(types) == 0:
		types = []string{guessed(s)}
	}
	if len(choices) == 0 && len(types) > 1 {
		if depth+2 > a.deepest {
			types = types[:1]
		} else {
			return a.choice(s, types)
		}
	}
	if len(choices) == 0 {
		s["type"] = types[0]
	}
	return narrowed(s)
}

// describes reports whether the keywords of a schema without a type imply one.
func describes(s schemaObject) bool {
	for _, word := range []string{"properties", "required", "items", "prefixItems", "minimum", "maximum", "pattern", "minLength", "maxLength"} {
		if s[word] != nil {
			return true
		}
	}
	return slices.ContainsFunc(s.list("enum"), func(v any) bool { return textOf(v) != "" })
}

// withTold is a schema that keeps the title and the description of another one.
func withTold(schema any, told schemaObject) any {
	s := asObject(schema)
	for _, word := range []string{"title", "description"} {
		if told[word] != nil {
			s[word] = told[word]
		}
	}
	return narrowed(s)
}

// choice is a choice of schemas, one for each type.
func (a *adapter) choice(s schemaObject, types []string) any {
	out := schemaObject{}
	for _, word := range []string{"title", "description"} {
		if s[word] != nil {
			out[word] = s[word]
		}
	}
	var branches []any
	for _, t := range types {
		branch := maps.Clone(s)
		delete(branch, "title")
		delete(branch, "description")
		branch["type"] = t
		branches = append(branches, narrowed(branch))
	}
	out["anyOf"] = branches
	return out
}

// narrowed drops the words that are unknown or invalid for the schema's type.
func narrowed(s schemaObject) schemaObject {
	t, isOne := s["type"].(string)
	only := map[string]string{
		"properties": "object", "required": "object", "additionalProperties": "object", "items": "array", "prefixItems": "array",
	}
	out := schemaObject{}
	for word, value := range s {
		wanted, limited := only[word]
		if slices.Contains(subsetWords, word) && !(limited && wanted != t) {
			out[word] = value
		}
	}
	if !slices.Contains(subsetFormats, textOf(s["format"])) {
		delete(out, "format")
	}
	if values := s.list("enum"); len(values) > 0 && !(isOne && t == "string" && !slices.ContainsFunc(values, func(v any) bool { return textOf(v) == "" })) {
		delete(out, "enum")
		if len(values) <= mostChoices*2 {
			var words []string
			for _, v := range values {
				words = append(words, string(encodeSchema(v)))
			}
			out["description"] = strings.TrimSpace(fmt.Sprintf("%s One of %s.", textOf(s["description"]), strings.Join(words, ", ")))
		}
	}
	if names := s.list("required"); out["required"] != nil {
		kept := slices.DeleteFunc(slices.Clone(names), func(name any) bool { return asObject(out["properties"])[textOf(name)] == nil })
		if out["required"] = kept; len(kept) == 0 {
			delete(out, "required")
		}
	}
	return out
}
