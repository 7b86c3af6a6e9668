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

func printable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// tomlText writes a converted value as TOML on one line.
func tomlText(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case time.Duration:
		return quote(durationText(v))
	case float64:
		return floatText(v)
	case []string:
		return arrayText(v)
	case [][]string:
		return arrayText(v)
	case []any:
		return arrayText(v)
	case map[string]any:
		return tableText(v)
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

func tableText(table map[string]any) string {
	parts := make([]string, 0, len(table))
	for k, v := range table {
		parts = append(parts, joinKey([]string{k})+" = "+tomlText(v))
	}
	sort.Strings(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// floatText keeps a float a float: TOML tells 2.0 from 2.
func floatText(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") && !math.IsInf(f, 0) && !math.IsNaN(f) {
		text += ".0"
	}
	return strings.TrimPrefix(text, "+")
}

// durationText writes "10m" for the standard library's "10m0s".
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
