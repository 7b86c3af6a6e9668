package provider

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

type schemaObject map[string]any

func (o schemaObject) object(key string) schemaObject { return asObject(o[key]) }

func (o schemaObject) list(key string) []any {
	l, _ := o[key].([]any)
	return l
}

// required are the names that an object requires, each once.
func (o schemaObject) required() (names []any) {
	for _, name := range o.list("required") {
		if _, isText := name.(string); isText && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func asObject(v any) schemaObject {
	switch v := v.(type) {
	case schemaObject:
		return v
	case map[string]any:
		return v
	}
	return nil
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func sortedKeys(o schemaObject) []string { return slices.Sorted(maps.Keys(o)) }

const (
	maxDepth  = 32   // of schemas in each other
	mostNodes = 4096 // schemas of one tool, with the targets of references
)

// An adapter rewrites the schema of one tool.
type adapter struct {
	rules   ToolRules
	root    any
	deepest int      // how deep schemas may be nested
	nodes   int      // schemas that may still be written
	choices []string // required properties, if there is a choice at the top level
}

// top is the schema of the parameters: one object with properties. A choice of schemas becomes one set of
// properties, and those are required that every choice requires.
func (a *adapter) top(schema any) (schemaObject, error) {
	if schema == nil || schema == true {
		schema = schemaObject{}
	}
	s := asObject(schema)
	if s == nil {
		return nil, errNoObject
	}
	flat, err := a.flat(s, 0)
	if err != nil {
		return nil, err
	}
	out, _ := a.schema(flat, 1, nil).(schemaObject)
	if out == nil {
		return nil, errNoObject
	}
	if out.object("properties") == nil {
		out["properties"] = schemaObject{}
	}
	return out, nil
}

// mostChoices is how many alternatives the description lists.
const mostChoices = 8

// flat is an object's schema without references and combinators at its top level.
func (a *adapter) flat(s schemaObject, depth int) (schemaObject, error) {
	if depth > maxDepth {
		return nil, errNoObject
	}
	if ref, there := s["$ref"]; there {
		target := asObject(a.lookup(textOf(ref)))
		if target == nil {
			return nil, errNoObject
		}
		merged := maps.Clone(target)
		for key, value := range s {
			if key != "$ref" {
				merged[key] = value
			}
		}
		return a.flat(merged, depth+1)
	}
	out := maps.Clone(s)
	for _, word := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref"} {
		delete(out, word)
	}
	if types := typesOf(s); s["type"] != nil && len(types) > 0 && !slices.Contains(types, "object") {
		return nil, errNoObject
	}
	out["type"] = "object"
	for _, branch := range s.list("allOf") {
		b, err := a.branch(branch, depth)
		if err != nil {
			return nil, err
		}
		out = join(out, b)
		out["required"] = union(out.required(), b.required())
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		var err error
		if out, err = a.chosen(out, s.list(word), depth); err != nil {
			return nil, err
		}
	}
	if len(out.list("required")) == 0 && s.list("required") == nil {
		delete(out, "required")
	}
	return out, nil
}

func (a *adapter) branch(v any, depth int) (schemaObject, error) {
	b := asObject(v)
	if b == nil {
		if v == true {
			return schemaObject{}, nil
		}
		return nil, errNoObject
	}
	return a.flat(b, depth+1)
}

// chosen joins the alternatives of a choice into an object.
func (a *adapter) chosen(out schemaObject, choices []any, depth int) (schemaObject, error) {
	if len(choices) == 0 {
		return out, nil
	}
	var common []any
	var told []string
	possible := 0
	for _, choice := range choices {
		b, err := a.branch(choice, depth)
		if err != nil {
			continue // arguments cannot have this type
		}
		required := b.required()
		if possible++; possible == 1 {
			common = required
		} else {
			common = slices.DeleteFunc(slices.Clone(common), func(name any) bool { return !slices.Contains(required, name) })
		}
		if words := nameList(union(out.required(), required)); !slices.Contains(told, words) {
			told = append(told, words)
		}
		out = join(out, b)
	}
	if possible == 0 {
		return nil, errNoObject
	}
	out["required"] = union(out.required(), common)
	if depth == 0 && len(told) <= mostChoices && !slices.Contains(told, "") {
		a.choices = told
	}
	return out, nil
}

// nameList are required parameters in words.
func nameList(required []any) string {
	var all []string
	for _, name := range required {
		all = append(all, textOf(name))
	}
	return strings.Join(all, " and ")
}

// join adds the properties of an alternative. A property that both have, with
// different schemas, may be either.
func join(out, branch schemaObject) schemaObject {
	properties := schemaObject{}
	maps.Copy(properties, out.object("properties"))
	for key, schema := range branch.object("properties") {
		before, there := properties[key]
		if there && string(encodeSchema(before)) != string(encodeSchema(schema)) {
			schema = either(before, schema)
		}
		properties[key] = schema
	}
	joined := maps.Clone(out)
	for key, value := range branch {
		if _, there := joined[key]; !there && key != "required" {
			joined[key] = value
		}
	}
	joined["properties"] = properties
	if string(encodeSchema(joined["additionalProperties"])) != string(encodeSchema(branch["additionalProperties"])) {
		delete(joined, "additionalProperties")
	}
	return joined
}

// either is a schema that allows the values of both schemas.
func either(a, b any) any {
	if s := asObject(a); len(s) == 1 && s["anyOf"] != nil {
		if slices.ContainsFunc(s.list("anyOf"), func(c any) bool { return string(encodeSchema(c)) == string(encodeSchema(b)) }) {
			return a
		}
		return schemaObject{"anyOf": append(slices.Clone(s.list("anyOf")), b)}
	}
	return schemaObject{"anyOf": []any{a, b}}
}

func union(a, b []any) []any {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// lookup is the target of a reference within the schema, nil if there is none.
func (a *adapter) lookup(ref string) any {
	path, inside := strings.CutPrefix(ref, "#")
	if !inside {
		return nil
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	at := a.root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step != "" {
			at = asObject(at)[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
	}
	if _, isBool := at.(bool); isBool || asObject(at) == nil {
		return nil
	}
	return at
}

// named reports whether a reference names a definition of the schema, which every
// server but Gemini follows.
func named(ref string) bool {
	for _, place := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, place); ok && name != "" && !strings.ContainsAny(name, "/%") {
			return true
		}
	}
	return false
}

var knownTypes = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// typesOf are the known types that a schema names, each once.
func typesOf(s schemaObject) (types []string) {
	named := s.list("type")
	if len(named) == 0 {
		named = []any{s["type"]}
	}
	for _, t := range named {
		if name := textOf(t); slices.Contains(knownTypes, name) && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return types
}

// schema is a schema as the server takes it. A reference to one of the schemas in seen would never end.
func (a *adapter) schema(v any, depth int, seen []string) any {
	s := asObject(v)
	if a.nodes--; s == nil || a.nodes < 0 {
		return a.anything(depth)
	}
	if ref, there := s["$ref"].(string); there {
		target := a.lookup(ref)
		switch {
		case target == nil || slices.Contains(seen, ref) && (a.rules.Subset || !named(ref)):
			s = maps.Clone(s)
			delete(s, "$ref")
		case a.rules.Subset || !named(ref):
			merged := maps.Clone(asObject(target))
			for key, value := range s {
				if key != "$ref" {
					merged[key] = value
				}
			}
			return a.schema(merged, depth, append(seen[:len(seen):len(seen)], ref))
		}
	} else if s["$ref"] != nil {
		s = maps.Clone(s)
		delete(s, "$ref")
	}
	if depth >= a.deepest && nests(s) {
		return a.anything(depth)
	}
	out := a.words(s, depth, seen)
	if a.rules.TypeInBranches {
		typeInBranches(out)
	}
	if a.rules.Subset {
		return a.subset(out, depth)
	}
	return out
}

// nests reports whether a schema has, or is to be given, others in it.
func nests(s schemaObject) bool {
	for key, value := range s {
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "anyOf", "oneOf", "allOf", "prefixItems",
			"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties":
			if asObject(value) != nil || len(s.list(key)) > 0 {
				return true
			}
		}
	}
	return slices.Contains(typesOf(s), "array")
}

// depthOf is how deep schemas are nested in a schema, itself counted.
func depthOf(v any) int {
	s := asObject(v)
	deepest := 0
	for key, value := range s {
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			for _, inner := range asObject(value) {
				deepest = max(deepest, depthOf(inner))
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for _, inner := range s.list(key) {
				deepest = max(deepest, depthOf(inner))
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties":
			deepest = max(deepest, depthOf(value))
		}
	}
	return deepest + 1
}

// anything is a schema that allows all, as far as the server knows one.
func (a *adapter) anything(depth int) any {
	switch {
	case !a.rules.Subset:
		return schemaObject{}
	case depth+2 > a.deepest:
		return schemaObject{"type": "string"}
	}
	return schemaObject{"anyOf": []any{
		schemaObject{"type": "string"}, schemaObject{"type": "number"}, schemaObject{"type": "boolean"}, schemaObject{"type": "object"},
		schemaObject{"type": "array", "items": schemaObject{"type": "string"}},
	}}
}

// words goes through the words of a schema, and makes draft 2020-12 of them.
func (a *adapter) words(s schemaObject, depth int, seen []string) schemaObject {
	out := schemaObject{}
	for _, key := range sortedKeys(s) { // sorted, so that the omitted keys of a large schema are always the same
		value := s[key]
		switch key {
		case "type", "required", "additionalItems", "items", "prefixItems", "exclusiveMinimum", "exclusiveMaximum":
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if all := asObject(value); all != nil {
				out[key] = a.each(key, all, depth, seen)
			}
		case "anyOf", "oneOf", "allOf":
			if all := s.list(key); len(all) > 0 {
				out[key] = a.all(all, depth, seen)
			}
		case "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "additionalProperties":
			if flag, isBool := value.(bool); isBool {
				out[key] = flag
			} else if asObject(value) != nil {
				out[key] = a.schema(value, depth+1, seen)
			}
		case "enum", "examples":
			if len(s.list(key)) > 0 {
				out[key] = value
			}
		default:
			if fits(key, value) {
				out[key] = value
			}
		}
	}
	switch types := typesOf(s); {
	case len(types) == 1:
		out["type"] = types[0]
	case len(types) > 1:
		list := make([]any, len(types))
		for i, t := range types {
			list[i] = t
		}
		out["type"] = list
	}
	a.items(out, s, depth, seen)
	required(out, s)
	bounds(out, s)
	return out
}

func (a *adapter) each(word string, all schemaObject, depth int, seen []string) schemaObject {
	out := schemaObject{}
	for _, key := range sortedKeys(all) {
		if word == "properties" && all[key] == false {
			continue // it has no valid form
		}
		out[key] = a.schema(all[key], depth+1, seen)
	}
	return out
}

func (a *adapter) all(all []any, depth int, seen []string) []any {
	out := make([]any, len(all))
	for i, value := range all {
		out[i] = a.schema(value, depth+1, seen)
	}
	return out
}

// fits reports whether a word has a value that it may have.
func fits(word string, value any) bool {
	ok := true
	switch word {
	case "description", "title", "format", "pattern", "$ref":
		_, ok = value.(string)
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		_, ok = value.(json.Number)
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		_, ok = value.(bool)
	}
	return ok
}

// items describes the elements of an array. Older drafts have a list of schemas in the place of prefixItems.
func (a *adapter) items(out, s schemaObject, depth int, seen []string) {
	items, prefix := s["items"], s.list("prefixItems")
	if list := s.list("items"); len(list) > 0 {
		items, prefix = s["additionalItems"], list
	}
	if len(prefix) > 0 {
		out["prefixItems"] = a.all(prefix, depth, seen)
	}
	isArray := slices.Contains(typesOf(s), "array")
	switch {
	case asObject(items) != nil:
		out["items"] = a.schema(items, depth+1, seen)
	case isArray || len(prefix) > 0:
		out["items"] = a.anything(depth + 1)
	}
}

// required keeps the existing names, each once. In draft 3, a property itself says that it is required.
func required(out, s schemaObject) {
	names := s.required()
	for _, key := range sortedKeys(s.object("properties")) {
		if s.object("properties").object(key)["required"] == true && !slices.Contains(names, any(key)) {
			names = append(names, key)
		}
	}
	if len(names) > 0 || s.list("required") != nil {
		out["required"] = names
	}
	if names == nil && out["required"] != nil {
		out["required"] = []any{}
	}
}

// bounds makes numbers of the flags of draft 4.
func bounds(out, s schemaObject) {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch value := s[exclusive].(type) {
		case json.Number:
			out[exclusive] = value
		case bool:
			if limit, ok := out[bound]; ok && value {
				out[exclusive] = limit
				delete(out, bound)
			}
		}
	}
}

// typeInBranches moves a type into the branches of a choice.
func typeInBranches(s schemaObject) {
	for _, word := range []string{"anyOf", "oneOf"} {
		branches := s.list(word)
		if len(branches) == 0 {
			continue
		}
		for i, b := range branches {
			branch := maps.Clone(asObject(b))
			if branch["type"] != nil || branch["$ref"] != nil || branch["anyOf"] != nil || branch["oneOf"] != nil {
				continue
			}
			if branch["type"] = guessed(branch); textOf(s["type"]) != "" {
				branch["type"] = s["type"]
			}
			if branch["type"] == "array" && branch["items"] == nil {
				branch["items"] = schemaObject{}
			}
			branches[i] = branch
		}
		delete(s, "type")
	}
}

// guessed is the type that the keywords of a schema without one imply.
func guessed(s schemaObject) string {
	switch {
	case s["properties"] != nil || s["required"] != nil || s["additionalProperties"] != nil:
		return "object"
	case s["items"] != nil || s["prefixItems"] != nil:
		return "array"
	case s["minimum"] != nil || s["maximum"] != nil:
		return "number"
	}
	return "string"
}
