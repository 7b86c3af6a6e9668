package redact

import (
	"slices"
	"strings"
)

// Restore puts values in the place of placeholders, once: it leaves the content of a value alone. unknown are
// the placeholders that value does not know. They stay.
func Restore(text string, value func(placeholder string) (string, bool)) (restored string, unknown []string) {
	held := placeholders(text)
	if len(held) == 0 {
		return text, nil
	}
	var out strings.Builder
	from := 0
	for _, p := range held {
		name := text[p.from:p.to]
		out.WriteString(text[from:p.from])
		from = p.to
		secret, ok := value(name)
		if !ok {
			secret = name
			if !slices.Contains(unknown, name) {
				unknown = append(unknown, name)
			}
		}
		out.WriteString(secret)
	}
	out.WriteString(text[from:])
	return out.String(), unknown
}

// Usable reports whether a value can be given to a tool: all of it is plain data to a shell. The author of a
// text decides which parts of it look like a secret, and a person who allows a command sees the placeholder
// only.
func Usable(s Secret) bool {
	if RuleOf(s.Placeholder) == keyRule {
		return usableKey(s.Value)
	}
	for i, c := range []byte(s.Value) {
		switch {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("`;|&<>'\"\\(){}*?#", c) >= 0:
			return false
		case c == '$' && i+1 < len(s.Value) && (wordByte(s.Value[i+1])):
			return false
		}
	}
	return !strings.HasPrefix(s.Value, "-")
}

// usableKey reports whether each line of a key is one: long, and no word.
func usableKey(value string) bool {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(value, `\r`, ""), `\n`, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		switch {
		case line == "", i == 0 && armour(line), i == len(lines)-1 && armour(line):
		case line == "Proc-Type: 4,ENCRYPTED", strings.HasPrefix(line, "DEK-Info: ") && !strings.ContainsAny(line, "`$;|&<>(){}'\"\\"):
		case strings.Trim(line, "abcdefghijklmnopqrstuvwxyz") == "":
			return false
		case strings.ContainsFunc(line, func(r rune) bool { return r > '~' || !keyByte(byte(r)) }):
			return false
		}
	}
	return true
}

func armour(line string) bool {
	inner, begins := strings.CutPrefix(line, "-----")
	inner, ends := strings.CutSuffix(inner, "-----")
	return begins && ends && !strings.ContainsFunc(inner, func(r rune) bool { return r > '~' || !wordByte(byte(r)) && r != ' ' })
}
