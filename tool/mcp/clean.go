package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"jp/internal/lazy"
)

// sequences are what a terminal would obey.
var sequences = lazy.Regexp("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|\x1b.?")

// clean is text without what people do not see and models read: control
// sequences, control characters, marks that reorder or hide, tags, selectors.
func clean(text string) string {
	text = sequences().ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case hidden(r):
			return -1
		}
		return r
	}, text))
}

// fillers count as printable, and have no look.
var fillers = []rune{0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		slices.Contains(fillers, r)
}

// errHidden is text that cannot be cleaned, since it means something as it is.
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
		if strings.ContainsFunc(v, hidden) {
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
		if strings.ContainsFunc(name, hidden) {
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
