package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"jp/internal/safetext"
)

// clean is text as a model may have it, without space around it.
func clean(text string) string { return strings.TrimSpace(safetext.ForModel(text)) }

// errHidden is a schema whose invisible characters have a meaning, so that cleaning would change it.
var errHidden = errors.New("its schema has characters that cannot be seen")

// cleanSchema is a schema in its canonical form, its words for the model cleaned.
func cleanSchema(schema any) (json.RawMessage, error) {
	cleaned, err := cleanValue(schema)
	if err != nil {
		return nil, err
	}
	return canonical(cleaned)
}

func cleanValue(value any) (any, error) {
	switch v := value.(type) {
	case string:
		if strings.ContainsFunc(v, safetext.Hidden) {
			return nil, errHidden
		}
	case []any:
		for i, item := range v {
			cleaned, err := cleanValue(item)
			if err != nil {
				return nil, err
			}
			v[i] = cleaned
		}
	case map[string]any:
		return v, cleanObject(v)
	}
	return value, nil
}

func cleanObject(object map[string]any) error {
	for name, value := range object {
		if strings.ContainsFunc(name, safetext.Hidden) {
			return errHidden
		}
		if words, ok := value.(string); ok && slices.Contains([]string{"description", "title", "$comment"}, name) {
			object[name] = clean(words)
			continue
		}
		cleaned, err := cleanValue(value)
		if err != nil {
			return err
		}
		object[name] = cleaned
	}
	return nil
}

// canonical is JSON with sorted names: equal values have equal bytes.
func canonical(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
