package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"jp/conversation"
)

// quoted is how much of a wrong value a message shows, in columns.
const quoted = 60

// mismatch is the error for a value of the wrong type.
func mismatch(node *jsonschema.Schema, at string, value any) error {
	got, err := encode(value)
	if err != nil {
		return err
	}
	name := "the arguments"
	if at != "" {
		name = fmt.Sprintf("argument %q", at)
	}
	return fmt.Errorf("%s: expected %s, got %s %s",
		name, wanted(node), article(kindOf(value)), conversation.Shorten(string(got), quoted))
}

// wanted describes the value that a schema asks for: "an integer", "one of \"a\", \"b\"".
func wanted(node *jsonschema.Schema) string {
	if node == nil {
		return "a value"
	}
	if len(node.Enum) > 0 {
		return "one of " + listValues(node.Enum)
	}
	types := typesOf(node)
	if len(types) == 0 {
		return "a value"
	}
	words := make([]string, len(types))
	for i, kind := range types {
		words[i] = article(kind)
	}
	return strings.Join(words, " or ")
}

func article(kind string) string {
	switch kind {
	case "null":
		return "null"
	case "array", "integer", "object":
		return "an " + kind
	}
	return "a " + kind
}

func listValues(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		text, _ := json.Marshal(v) // an enum was read from JSON
		words[i] = string(text)
	}
	return strings.Join(words, ", ")
}

func listNames(node *jsonschema.Schema) string {
	if len(node.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(node.Properties)), ", ")
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
