package safetext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape shows one argument of a command exactly, in the words of a shell: bare if that is unmistakable, in
// quotes if it has spaces or signs, and as $'…' with codes if it has invisible characters.
func Escape(arg string) string {
	switch {
	case arg != "" && strings.IndexFunc(arg, special) < 0:
		return arg
	case visible(arg):
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for len(arg) > 0 {
		r, size := utf8.DecodeRuneInString(arg)
		writeCode(&b, r, arg[:size])
		arg = arg[size:]
	}
	b.WriteByte('\'')
	return b.String()
}

// EscapeAll shows a command.
func EscapeAll(argv []string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		shown[i] = Escape(arg)
	}
	return strings.Join(shown, " ")
}

// Show shows a name or a subject on one line: as it is if all of it can be
// seen, and as [Escape] has it otherwise.
func Show(text string) string {
	if text != "" && visible(text) && strings.TrimSpace(text) == text {
		return text
	}
	return Escape(text)
}

// special reports whether a shell interprets the character.
func special(r rune) bool {
	if r < utf8.RuneSelf {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./:=@%+,-", r)
	}
	return !seen(r) || r == utf8.RuneError
}

// visible reports whether all of the text can be seen, spaces included.
func visible(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !seen(r) }) < 0
}

// seen reports whether a character is visible and distinct. Fillers and variation selectors count as
// printable in Unicode, but are invisible.
func seen(r rune) bool {
	return unicode.IsPrint(r) && !slices.Contains(fillers, r) && !hides(r) && !unicode.Is(unicode.Variation_Selector, r)
}

func writeCode(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1, r < 0x20, r == 0x7f:
		if short := strings.IndexByte("\n\t\r", raw[0]); short >= 0 {
			b.WriteString([]string{`\n`, `\t`, `\r`}[short])
			return
		}
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case r == '\'' || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case seen(r):
		b.WriteRune(r)
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}
