package safetext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Words are the arguments of a command line as [EscapeAll] writes it, with the quotes of a shell. Blanks and
// line breaks separate them. It never expands anything: other syntax of a shell is an error.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		rest := line[size:]
		switch {
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun, line = false, rest
			continue
		case r == '\'':
			text, after, closed := strings.Cut(rest, "'")
			if !closed {
				return nil, errors.New("a ' has no end")
			}
			word.WriteString(text)
			rest = after
		case r == '"':
			text, after, err := doubleQuoted(rest)
			if err != nil {
				return nil, err
			}
			word.WriteString(text)
			rest = after
		case strings.HasPrefix(line, "$'"):
			text, after, err := codes(line[2:])
			if err != nil {
				return nil, err
			}
			word.WriteString(text)
			rest = after
		case r == '\\':
			if rest == "" {
				return nil, errors.New("a \\ has no character behind it")
			}
			_, size = utf8.DecodeRuneInString(rest)
			word.WriteString(rest[:size])
			rest = rest[size:]
		case strings.ContainsRune("|&;<>()$`*?[]{}~!#", r):
			return nil, fmt.Errorf("%q needs quotes: jp starts the program without a shell", r)
		default:
			word.WriteString(line[:size])
		}
		begun, line = true, rest
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// doubleQuoted reads up to the closing quote.
func doubleQuoted(text string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '$', '`':
			return "", "", fmt.Errorf("%q needs single quotes: jp starts the program without a shell", text[i])
		case '\\':
			if i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", errors.New(`a " has no end`)
}

// codes reads a text with codes for characters up to the closing quote.
func codes(text string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				continue
			}
			if at := strings.IndexByte("nrt'\\\"", text[i]); at >= 0 {
				b.WriteByte("\n\r\t'\\\""[at])
				continue
			}
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[i]]
			if digits == 0 || i+digits >= len(text) {
				return "", "", fmt.Errorf("invalid code \\%c", text[i])
			}
			code, err := strconv.ParseUint(text[i+1:i+1+digits], 16, 32)
			if err != nil {
				return "", "", fmt.Errorf("invalid code \\%s", text[i:i+1+digits])
			}
			if digits == 2 {
				b.WriteByte(byte(code))
			} else {
				b.WriteRune(rune(code))
			}
			i += digits
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", errors.New("a $' has no end")
}
