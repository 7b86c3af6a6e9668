package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Check returns the arguments for the tool, or an error whose text tells the model the wrong argument and the
// expected value.
//
// Defaults are filled in at every depth. If the schema wants an object, an array, a number or a boolean and a
// string is exactly the JSON of one, Check takes the decoded value. An optional argument that is null counts
// as omitted unless its type allows null. Numbers keep their digits.
func Check(def *Definition, arguments json.RawMessage) (json.RawMessage, error) {
	resolved := def.schema
	if resolved == nil {
		resolved = func() (*schema, error) { return newSchema(def.Parameters) }
	}
	s, err := resolved()
	if err != nil {
		return nil, fmt.Errorf("check the arguments of %s: %w", def.Name, err)
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	value, err := decode(arguments)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if value, err = s.coerceAndCheck(s.root, "", value); err != nil {
		return nil, err
	}
	checked, err := encode(value)
	if err != nil {
		return nil, err
	}
	if err := s.validate(checked); err != nil {
		return nil, fmt.Errorf("the arguments do not fit the schema: %w", err)
	}
	return checked, nil
}

// validate checks the arguments against the whole schema. The validator needs plain numbers, which may lose
// digits, so it gets a copy.
func (s *schema) validate(checked json.RawMessage) error {
	var plain any
	if err := json.Unmarshal(checked, &plain); err != nil {
		return err
	}
	return s.resolved.Validate(plain)
}

// coerceAndCheck coerces, fills in and checks one value. at is its place, such as
// "edits[0].count"; "" is the arguments as a whole.
func (s *schema) coerceAndCheck(node *jsonschema.Schema, at string, value any) (any, error) {
	node = s.follow(node)
	if node == nil {
		return value, nil
	}
	value = coerce(node, value)
	if !allows(node, kindOf(value)) || !listed(node, value) {
		return nil, mismatch(node, at, value)
	}
	if err := within(node, at, value); err != nil {
		return nil, err
	}
	switch v := value.(type) {
	case map[string]any:
		return v, s.settleObject(node, at, v)
	case []any:
		return v, s.settleArray(node, at, v)
	}
	return value, nil
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// within refuses a value that is too small, too large, too short or too long, in
// words.
func within(node *jsonschema.Schema, at string, value any) error {
	switch v := value.(type) {
	case []any:
		switch {
		case node.MinItems != nil && len(v) < *node.MinItems:
			return fmt.Errorf("argument %q: expected at least %s, got %d", at, items(*node.MinItems), len(v))
		case node.MaxItems != nil && len(v) > *node.MaxItems:
			return fmt.Errorf("argument %q: expected at most %s, got %d", at, items(*node.MaxItems), len(v))
		}
	case string:
		if node.MinLength != nil && v == "" && *node.MinLength > 0 {
			return fmt.Errorf("argument %q: expected a text, got an empty one", at)
		}
		if n := utf8.RuneCountInString(v); node.MaxLength != nil && n > *node.MaxLength {
			return fmt.Errorf("argument %q: expected at most %d characters, got %d", at, *node.MaxLength, n)
		}
	case json.Number:
		n, err := v.Float64()
		switch {
		case err != nil || kindOf(v) == "integer" && math.Abs(n) > math.MaxInt64:
			return fmt.Errorf("argument %q: %s is too large a number", at, v)
		case node.Minimum != nil && n < *node.Minimum:
			return fmt.Errorf("argument %q: expected at least %v, got %s", at, *node.Minimum, v)
		case node.Maximum != nil && n > *node.Maximum:
			return fmt.Errorf("argument %q: expected at most %v, got %s", at, *node.Maximum, v)
		}
	}
	return nil
}

func (s *schema) settleObject(node *jsonschema.Schema, at string, object map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		place := join(at, name)
		property, known := node.Properties[name]
		if !known {
			if s.closed(node) {
				return fmt.Errorf("unknown argument %q; expected %s", place, listNames(node))
			}
			continue
		}
		if object[name] == nil && !slices.Contains(node.Required, name) && !allows(s.follow(property), "null") {
			delete(object, name)
			continue
		}
		checked, err := s.coerceAndCheck(property, place, object[name])
		if err != nil {
			return err
		}
		object[name] = checked
	}
	return s.complete(node, at, object)
}

// complete reports missing properties and fills in the defaults of the rest.
func (s *schema) complete(node *jsonschema.Schema, at string, object map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		if _, given := object[name]; given {
			continue
		}
		property := s.follow(node.Properties[name])
		if slices.Contains(node.Required, name) {
			return fmt.Errorf("missing argument %q; expected %s", join(at, name), wanted(property))
		}
		if property == nil || len(property.Default) == 0 {
			continue
		}
		value, err := decode(property.Default)
		if err != nil {
			return fmt.Errorf("read the default of %q: %w", join(at, name), err)
		}
		if object[name], err = s.coerceAndCheck(property, join(at, name), value); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) settleArray(node *jsonschema.Schema, at string, array []any) error {
	if node.Items == nil {
		return nil
	}
	for i, item := range array {
		checked, err := s.coerceAndCheck(node.Items, fmt.Sprintf("%s[%d]", at, i), item)
		if err != nil {
			return err
		}
		array[i] = checked
	}
	return nil
}

// coerce decodes a string that holds JSON if the schema excludes strings, and writes a whole number such as
// 5.0 as an integer if the schema wants one.
func coerce(node *jsonschema.Schema, value any) any {
	if text, ok := value.(string); ok && !allows(node, "string") {
		if inner, err := decode([]byte(text)); err == nil && inner != nil &&
			text == strings.TrimSpace(text) && allows(node, kindOf(inner)) {
			value = inner
		}
	}
	number, ok := value.(json.Number)
	if !ok || kindOf(value) != "integer" || len(number) > 40 {
		return value
	}
	if whole, ok := new(big.Rat).SetString(string(number)); ok && strings.ContainsAny(string(number), ".eE") &&
		slices.Contains(typesOf(node), "integer") {
		return json.Number(whole.Num().String())
	}
	return value
}

// kindOf names a value's JSON type; a number without a fraction is an integer.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if isWhole(string(v)) {
			return "integer"
		}
	}
	return "number"
}

// isWhole looks at the digits first, since writing out a number such as 1e999999999 would take too much
// memory.
func isWhole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	if _, exponent, _ := strings.Cut(strings.ToLower(number), "e"); len(exponent) > 3 {
		return false
	}
	value, ok := new(big.Rat).SetString(number)
	return ok && value.IsInt()
}

// decode reads exactly one JSON value.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return value, nil
}

func encode(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
