package sqlite

import (
	"errors"
	"slices"
	"strings"
)

// columnsOf reads the names of columns from the statement that made a table.
func columnsOf(statement string) (names []string, err error) {
	depth, begins := 0, false
	for w := (words{statement}); ; {
		word, quoted := w.next()
		switch {
		case word == "" && !quoted:
			return nil, errors.New("the statement of a table has no end")
		case quoted:
		case word == "(":
			if depth++; depth == 1 {
				begins = true
				continue
			}
		case word == ")":
			if depth--; depth == 0 {
				return names, nil
			}
		case word == "," && depth == 1:
			begins = true
			continue
		case strings.EqualFold(word, "as") && depth == 1: // a computed column, whose values are outside of the rows
			return nil, errors.New("a table has computed columns")
		}
		if begins && (quoted || !slices.Contains(constraints, strings.ToLower(word))) {
			if names = append(names, word); len(names) > maxColumns {
				return nil, errors.New("a table has too many columns")
			}
		}
		begins = false
	}
}

// constraints begin the parts of a definition other than columns.
var constraints = []string{"constraint", "primary", "unique", "check", "foreign"}

type words struct{ text string }

// next is the next word without its quotation marks, "" at the end.
func (w *words) next() (word string, quoted bool) {
	for {
		w.text = strings.TrimLeft(w.text, " \t\r\n\f")
		end := ""
		switch {
		case strings.HasPrefix(w.text, "--"):
			end = "\n"
		case strings.HasPrefix(w.text, "/*"):
			end = "*/"
		}
		if end == "" {
			break
		}
		_, w.text, _ = strings.Cut(w.text[2:], end)
	}
	if w.text == "" {
		return "", false
	}
	if mark := strings.IndexByte("\"`'[", w.text[0]); mark >= 0 {
		return w.quoted("\"`']"[mark])
	}
	n := strings.IndexAny(w.text, " \t\r\n\f(),\"`'[")
	switch n {
	case -1:
		n = len(w.text)
	case 0:
		n = 1
	}
	word, w.text = w.text[:n], w.text[n:]
	return word, false
}

// quoted is a word up to its last mark. A doubled mark counts as one.
func (w *words) quoted(mark byte) (word string, quoted bool) {
	rest := w.text[1:]
	for {
		n := strings.IndexByte(rest, mark)
		if n < 0 {
			w.text = ""
			return "", false
		}
		word += rest[:n]
		rest = rest[n+1:]
		if rest == "" || rest[0] != mark || mark == ']' {
			w.text = rest
			return word, true
		}
		word += string(mark)
		rest = rest[1:]
	}
}
