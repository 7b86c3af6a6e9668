package config

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// quote writes s as a TOML basic string on one line.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlText writes a converted value as TOML on one line.
func tomlText(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case time.Duration:
		// "10m" for the standard library's "10m0s"
		text := v.String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return quote(text)
	case float64:
		// TOML tells 2.0 from 2.
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") && !math.IsInf(v, 0) && !math.IsNaN(v) {
			text += ".0"
		}
		return strings.TrimPrefix(text, "+")
	case []string:
		return arrayText(v)
	case [][]string:
		return arrayText(v)
	case []any:
		return arrayText(v)
	case map[string]any:
		parts := make([]string, 0, len(v))
		for k, set := range v {
			parts = append(parts, joinKey([]string{k})+" = "+tomlText(set))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func arrayText[T any](list []T) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = tomlText(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
