package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is a definition's parameters, ready to check arguments with.
type schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// prepare lets the first check of arguments resolve the parameters: most turns call few of their tools.
func (d *Definition) prepare() {
	if d.schema == nil {
		text := d.Parameters
		d.schema = sync.OnceValues(func() (*schema, error) { return newSchema(text) })
	}
}

// CheckSchema reports an error in the parameters as [ErrInvalidSchema].
func (d *Definition) CheckSchema() error {
	if _, err := newSchema(d.Parameters); err != nil {
		return fmt.Errorf("register tool %s: %w", d.Name, err)
	}
	return nil
}

// newSchema reads a JSON schema of an object. An empty one allows no argument.
func newSchema(text json.RawMessage) (*schema, error) {
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(text, root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSchema, err)
	}
	if root.Type != "object" {
		return nil, fmt.Errorf("%w: its type is %q", ErrInvalidSchema, root.Type)
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSchema, err)
	}
	return &schema{root: root, resolved: resolved}, nil
}

// follow replaces a reference into the schema's own definitions by its target. The validator handles other
// references.
func (s *schema) follow(node *jsonschema.Schema) *jsonschema.Schema {
	for range 32 { // a chain of references may be a circle
		if node == nil || node.Ref == "" {
			return node
		}
		if name, ok := strings.CutPrefix(node.Ref, "#/$defs/"); ok {
			node = s.root.Defs[name]
		} else if name, ok := strings.CutPrefix(node.Ref, "#/definitions/"); ok {
			node = s.root.Definitions[name]
		} else {
			return node
		}
	}
	return nil
}

// typesOf returns the types that a node allows, empty for any.
func typesOf(node *jsonschema.Schema) []string {
	if node.Type != "" {
		return []string{node.Type}
	}
	return node.Types
}

func allows(node *jsonschema.Schema, kind string) bool {
	types := typesOf(node)
	return len(types) == 0 || slices.Contains(types, kind) ||
		kind == "integer" && slices.Contains(types, "number")
}

// closed reports whether an object takes only its declared properties. The arguments themselves are closed
// unless the schema says otherwise, since jp would else ignore a misspelt name silently.
func (s *schema) closed(node *jsonschema.Schema) bool {
	if node.AdditionalProperties != nil {
		return isFalse(node.AdditionalProperties)
	}
	combined := len(node.AllOf)+len(node.AnyOf)+len(node.OneOf)+len(node.PatternProperties) > 0 ||
		node.If != nil || node.Ref != "" || len(node.DependentSchemas) > 0
	return node == s.root && !combined
}

// isFalse recognizes {"not": {}}, as which the package reads false.
func isFalse(node *jsonschema.Schema) bool {
	return node.Not != nil && len(typesOf(node.Not)) == 0 && node.Not.Not == nil && len(node.Not.Properties) == 0
}

// listed reports whether a value is one of the node's enumeration, if it has one.
func listed(node *jsonschema.Schema, value any) bool {
	return len(node.Enum) == 0 ||
		slices.ContainsFunc(node.Enum, func(v any) bool { return jsonschema.Equal(v, value) })
}
