package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped writes a word in the form $'…' without its dollar sign.
func escaped(word string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(word) > 0 {
		r, size := utf8.DecodeRuneInString(word)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, word[0])
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		word = word[size:]
	}
	b.WriteByte('\'')
	return b.String()
}
