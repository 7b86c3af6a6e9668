package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A Parameter is one argument of a tool.
type Parameter struct {
	Type        string // a JSON type; "": any
	Description string // for the model
	Required    bool
	Items       string // JSON type of an array's elements; "": any
	Enum        []any  // the only values; nil: any
	Default     any    // if the model omits the argument; nil: none
}

// property is a parameter as JSON schema has it.
type property struct {
	Type        string    `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Items       *property `json:"items,omitempty"`
	Enum        []any     `json:"enum,omitempty"`
	Default     any       `json:"default,omitempty"`
}

// schema is the JSON schema of a call's arguments. Equal parameters give equal
// bytes.
func schema(parameters map[string]Parameter) (json.RawMessage, error) {
	properties, required := map[string]property{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		p := parameters[name]
		described := property{Type: p.Type, Description: p.Description, Enum: p.Enum, Default: p.Default}
		if p.Items != "" {
			described.Items = &property{Type: p.Items}
		}
		properties[name] = described
		if p.Required {
			required = append(required, name)
		}
	}
	text, err := encode(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return nil, fmt.Errorf("write the schema of its parameters: %w", err)
	}
	return text, nil
}
