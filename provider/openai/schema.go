package openai

import (
	"encoding/json"
	"slices"
)

// schemaName is the name of an answer's schema on the wire.
const schemaName = "answer"

// strictWords are the keywords that a strict schema may use.
func strictWords() []string {
	return []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const", "description", "title", "anyOf"}
}

// strictly reports whether the schema is of the kind that models are made to follow to the letter: known
// keywords only, and objects that require all of their properties and forbid others. The server follows any
// other schema loosely.
func strictly(schema json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" {
		return false
	}
	return strictValue(root)
}

func strictValue(schema map[string]any) bool {
	words := strictWords()
	for word := range schema {
		if !slices.Contains(words, word) {
			return false
		}
	}
	if items, there := schema["items"]; there && !strictAny(items) {
		return false
	}
	if choices, there := schema["anyOf"].([]any); there && slices.ContainsFunc(choices, notStrict) {
		return false
	}
	properties, there := schema["properties"].(map[string]any)
	if !there {
		return schema["type"] != "object"
	}
	return closed(schema, properties)
}

// closed reports whether an object has just the properties that it requires.
func closed(schema, properties map[string]any) bool {
	required, _ := schema["required"].([]any)
	if schema["additionalProperties"] != false || len(required) != len(properties) {
		return false
	}
	for name, value := range properties {
		if !slices.Contains(required, any(name)) || !strictAny(value) {
			return false
		}
	}
	return true
}

func strictAny(value any) bool {
	schema, ok := value.(map[string]any)
	return ok && strictValue(schema)
}

func notStrict(value any) bool { return !strictAny(value) }
