package shell

import (
	"encoding/json"
	"strings"
	"unicode"

	"jp/conversation"
)

// subjectLength is how many characters of a command a subject keeps.
const subjectLength = 200

// subject is the command on one line, quoted as a shell would want it.
func subject(raw json.RawMessage) string {
	var args arguments
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	words := make([]string, len(args.Argv))
	for i, word := range args.Argv {
		words[i] = quote(word)
	}
	line := strings.Join(words, " ")
	if args.Cwd != "" && args.Cwd != "." {
		line += " (in " + quote(args.Cwd) + ")"
	}
	return conversation.Shorten(line, subjectLength)
}

// quote writes a word so that a shell reads it as one. Invisible characters become escapes.
func quote(word string) string {
	switch {
	case word == "":
		return "''"
	case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "$" + escaped(word)
	case strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// plain reports whether a character is literal in a shell.
func plain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:,=+@%^", r)
}
