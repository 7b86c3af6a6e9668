package provider

import (
	"strings"
	"unicode"
)

// Masked is a server's text without the key, which it may repeat. It first removes invisible characters, and
// ignores white space within the key, so that a later display cannot put the key together again.
func Masked(text, key string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	if key == "" {
		return text
	}
	var out strings.Builder
	for text != "" {
		if n := startsWithKey(text, key); n > 0 {
			out.WriteString("[key]")
			text = text[n:]
			continue
		}
		out.WriteByte(text[0])
		text = text[1:]
	}
	return out.String()
}

// startsWithKey is the length of the key at the beginning of a text, 0 if the text begins with something
// else.
func startsWithKey(text, key string) int {
	at := 0
	for i := range len(key) {
		for i > 0 && at < len(text) && text[at] != key[i] && strings.IndexByte(" \t\r\n\v\f", text[at]) >= 0 {
			at++
		}
		if at == len(text) || text[at] != key[i] {
			return 0
		}
		at++
	}
	return at
}
