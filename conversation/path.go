package conversation

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuotePath makes a path, which is bytes to git, a text that can stand in JSON.
// A path that begins with a quote, or is not UTF-8, is written as a C string.
func QuotePath(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// UnquotePath is the inverse of [QuotePath].
func UnquotePath(text string) (string, error) {
	inner, quoted := strings.CutPrefix(text, `"`)
	if !quoted {
		return text, nil
	}
	inner, closed := strings.CutSuffix(inner, `"`)
	if !closed {
		return "", fmt.Errorf("%w: path %s has no closing quote", ErrDamaged, text)
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch {
		case inner[i] != '\\':
			b.WriteByte(inner[i])
		case i+1 < len(inner) && (inner[i+1] == '"' || inner[i+1] == '\\'):
			i++
			b.WriteByte(inner[i])
		case i+3 < len(inner):
			n, err := strconv.ParseUint(inner[i+1:i+4], 8, 8)
			if err != nil {
				return "", fmt.Errorf("%w: path %s: bad escape", ErrDamaged, text)
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			return "", fmt.Errorf("%w: path %s: bad escape", ErrDamaged, text)
		}
	}
	return b.String(), nil
}
