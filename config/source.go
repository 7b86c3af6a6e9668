package config

import (
	"sort"
	"strings"
)

// setting is one value as a layer gives it, already of its key's type.
type setting struct {
	path   []string
	node   *node
	value  any
	origin Origin
}

func (s setting) key() string { return joinKey(s.path) }

// fileSettings reads a file's bytes, and notes the mistakes in its entries.
func (l *loader) fileSettings(o Origin, data []byte) ([]setting, *Error) {
	doc, err := parseDocument(o, data)
	if err != nil {
		return nil, err
	}
	var settings []setting
	var done []string // the free value that contains keys other than ours
	for _, e := range doc.entries {
		if e.inline && done != nil && under(e.path, done) {
			continue
		}
		o.Line, done = doc.line(e.from), nil
		s, err := entrySetting(o, doc, e)
		if !l.goOn(err) {
			return nil, nil
		}
		if s != nil {
			settings, done = append(settings, *s), s.path
		}
	}
	return settings, nil
}

// entrySetting gives the setting that e writes, nil for tables.
func entrySetting(o Origin, doc *document, e entry) (*setting, *Error) {
	n, err := lookup(o, e.path)
	if err != nil {
		return nil, err
	}
	key := joinKey(e.path)
	switch {
	case e.array && e.header:
		return nil, valueError(o, key, "must be %s, not an array of tables", n.wants())
	case e.header && n.leaf():
		return nil, valueError(o, key, "must be %s, not a table of its own", n.wants())
	case e.header || e.table && !n.leaf():
		return nil, nil
	}
	var v any = doc.values
	for _, name := range e.path {
		table, _ := v.(map[string]any)
		v = table[name]
	}
	value, err := n.convert(o, key, v)
	if err != nil {
		return nil, err
	}
	return &setting{path: e.path, node: n, value: value, origin: o}, nil
}

// flatten gives the settings in v, which stands at path: a value, or a table of them.
func flatten(o Origin, path []string, v any) ([]setting, *Error) {
	n, err := lookup(o, path)
	if err != nil {
		return nil, err
	}
	table, isTable := v.(map[string]any)
	if n.leaf() || !isTable {
		value, err := n.convert(o, joinKey(path), v)
		if err != nil {
			return nil, err
		}
		return []setting{{path: path, node: n, value: value, origin: o}}, nil
	}
	var settings []setting
	for _, name := range sortedKeys(table) {
		below, err := flatten(o, append(path[:len(path):len(path)], name), table[name])
		if err != nil {
			return nil, err
		}
		settings = append(settings, below...)
	}
	return settings, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

const environmentPrefix = "JP_CFG_"

func textSettings(o Origin, path []string, text string) ([]setting, *Error) {
	n, err := lookup(o, path)
	if err != nil {
		return nil, err
	}
	return flatten(o, path, n.parseText(text))
}

// overrideSettings reads key=value as --cfg takes it.
func overrideSettings(overrides []string) ([]setting, *Error) {
	var settings []setting
	for _, text := range overrides {
		s, err := overrideSetting(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s...)
	}
	return settings, nil
}

func overrideSetting(text string) ([]setting, *Error) {
	o := Origin{Layer: LayerOverride}
	path, value, ok := cutKey(text)
	if !ok {
		return nil, &Error{Origin: o, Text: quote(text) + " must be key=value", kind: ErrValue}
	}
	s, err := textSettings(o, path, value)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// cutKey splits at the first = that ends a well-formed key.
func cutKey(text string) (path []string, value string, ok bool) {
	for i := range text {
		if text[i] != '=' {
			continue
		}
		if path, ok := parseKey(text[:i]); ok {
			return path, text[i+1:], true
		}
	}
	return nil, "", false
}

// parseKey reads a dotted key.
func parseKey(key string) ([]string, bool) {
	if strings.ContainsAny(key, "\n\r=#") && !strings.ContainsAny(key, `"'`) {
		return nil, false
	}
	doc, err := parseDocument(Origin{}, []byte(key+" = 0"))
	if err != nil || len(doc.entries) != 1 || doc.entries[0].header {
		return nil, false
	}
	return doc.entries[0].path, true
}
