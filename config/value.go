package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// convert gives v as the node's Go type: string, bool, int64, time.Duration,
// []string, [][]string, []any or a plain value. v comes from TOML or JSON.
func (n *node) convert(o Origin, key string, v any) (any, *Error) {
	value, ok := n.shape(v)
	if !ok {
		return nil, valueError(o, key, "must be %s, not %s", n.wants(), describe(v))
	}
	if enum := n.enum(); enum != nil && !slices.Contains(enum, value.(string)) {
		return nil, valueError(o, key, "must be %s, not %s", n.wants(), describe(v))
	}
	if text := n.check(value); text != "" {
		return nil, valueError(o, key, "%s", text)
	}
	return value, nil
}

func (n *node) enum() []string {
	if enum := n.tag.Get("enum"); enum != "" {
		return strings.Split(enum, "|")
	}
	return nil
}

func (n *node) shape(v any) (any, bool) {
	switch {
	case !n.leaf():
		return nil, false
	case n.typ == durationType:
		text, _ := v.(string)
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= 0
	case n.typ.Kind() == reflect.String:
		return cleanText(v)
	case n.typ.Kind() == reflect.Bool:
		b, ok := v.(bool)
		return b, ok
	case n.typ.Kind() == reflect.Int64:
		return integer(v)
	case n.typ.Kind() == reflect.Float64:
		switch v := v.(type) {
		case float64:
			return v, !math.IsInf(v, 0) && !math.IsNaN(v)
		case json.Number:
			f, err := v.Float64()
			return f, err == nil
		}
		i, ok := integer(v)
		return float64(i), ok
	case n.free():
		return plain(v)
	}
	return n.list(v)
}

func (n *node) list(v any) (any, bool) {
	switch n.typ.Elem().Kind() {
	case reflect.String:
		return listOf(v, cleanText)
	case reflect.Slice:
		inner := &node{typ: n.typ.Elem()}
		return listOf(v, func(e any) ([]string, bool) {
			list, ok := inner.list(e)
			if !ok {
				return nil, false
			}
			return list.([]string), true
		})
	}
	return listOf(v, plain)
}

func listOf[T any](v any, element func(any) (T, bool)) ([]T, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]T, 0, len(list))
	for _, e := range list {
		t, ok := element(e)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

// cleanText accepts text that can be an argument of a program and be written as TOML.
func cleanText(v any) (string, bool) {
	text, ok := v.(string)
	return text, ok && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		const exact = 1 << 53
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= exact
	case json.Number:
		i, err := v.Int64()
		return i, err == nil
	}
	return 0, false
}

// plain accepts values that TOML and JSON share: no dates, no infinities, no null.
func plain(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, utf8.ValidString(v)
	case bool, int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, true
		}
		f, err := v.Float64()
		return f, err == nil
	case []any:
		return listOf(v, plain)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			p, ok := plain(e)
			if !ok {
				return nil, false
			}
			out[k] = p
		}
		return out, true
	}
	return nil, false
}

// check describes the mistake in a value of the right shape, or is "".
func (n *node) check(value any) string {
	switch v := value.(type) {
	case int64:
		least, _ := strconv.ParseInt(n.tag.Get("min"), 10, 64)
		if n.typ.Kind() == reflect.Int64 && v < least {
			return fmt.Sprintf("must be at least %d, not %d", least, v)
		}
		if most, err := strconv.ParseInt(n.tag.Get("max"), 10, 64); err == nil && v > most {
			return fmt.Sprintf("must be at most %d, not %d", most, v)
		}
	case float64:
		if least, err := strconv.ParseFloat(n.tag.Get("min"), 64); err == nil && v < least {
			return fmt.Sprintf("must be at least %g, not %g", least, v)
		}
		if most, err := strconv.ParseFloat(n.tag.Get("max"), 64); err == nil && v > most {
			return fmt.Sprintf("must be at most %g, not %g", most, v)
		}
	case []string:
		if n.tag.Get("check") == "argv" && len(v) > 0 && v[0] == "" {
			return "must name a program"
		}
		if n.tag.Get("check") == "hosts" && slices.ContainsFunc(v, func(host string) bool { return host == "" || strings.ContainsAny(host, "/*@? \t") }) {
			return "must be names of hosts, such as docs.example.com"
		}
		if n.tag.Get("check") == "names" && slices.ContainsFunc(v, func(name string) bool {
			return name == "" || strings.ContainsAny(name, "/\\") || strings.Trim(name, ".") == ""
		}) {
			return "must be names of files, without a folder"
		}
		if n.tag.Get("check") == "folders" && slices.ContainsFunc(v, func(folder string) bool { return !filepath.IsLocal(folder) || path.Clean(folder) != folder }) {
			return "must be folders of the working tree, such as src/parser"
		}
		if n.tag.Get("check") == "tools" && slices.ContainsFunc(v, func(tool string) bool {
			name, code, _ := strings.Cut(tool, " ")
			sum, err := hex.DecodeString(code)
			return tool != "delegate" && !(strings.HasPrefix(name, "mcp__") && err == nil && len(sum) == sha256.Size)
		}) {
			return "must be delegate, or tools of MCP servers with their codes"
		}
	case [][]string:
		if n.tag.Get("check") == "argv" && slices.ContainsFunc(v, func(rule []string) bool { return len(rule) == 0 || rule[0] == "" }) {
			return "must name a program in each rule"
		}
	case string:
		if u, err := url.Parse(v); n.tag.Get("check") == "url" && err == nil && u.Fragment != "" {
			return "must have no # in it, not " + quote(v)
		}
		if n.tag.Get("check") == "url" && !endpoint(v) {
			return fmt.Sprintf("must be an http or https address, not %s", quote(v))
		}
	}
	return ""
}

func endpoint(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// wants describes the values that the node takes.
func (n *node) wants() string {
	switch {
	case !n.leaf():
		return "a table"
	case n.enum() != nil:
		quoted := n.enum()
		for i := range quoted {
			quoted[i] = quote(quoted[i])
		}
		return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
	case n.free():
		return "a string, number, true, false, array or table"
	}
	return map[string]string{
		"string": "a string", "bool": "true or false", "int64": "a whole number", "float64": "a number",
		"time.Duration": `a duration like "90s" or "10m"`, "[]string": "an array of strings",
		"[][]string": "an array of arrays of strings", "[]interface {}": "an array",
	}[n.typ.String()]
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "a table"
	case []any:
		return "an array"
	case string:
		if !utf8.ValidString(v) {
			return "invalid UTF-8"
		}
		return quote(v)
	}
	return fmt.Sprint(v)
}

// parseText reads a value given as text: TOML, else the text itself.
func (n *node) parseText(text string) any {
	var parsed map[string]any
	err := toml.Unmarshal([]byte("v = "+text), &parsed)
	v, ok := parsed["v"]
	if err != nil || !ok || len(parsed) != 1 {
		return text
	}
	if _, isString := v.(string); !isString && n.leaf() && (n.typ.Kind() == reflect.String || n.typ == durationType) {
		return text
	}
	return v
}
