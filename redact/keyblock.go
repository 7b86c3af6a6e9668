package redact

import "strings"

// How a private key in PEM or OpenPGP armour begins and ends. In JSON its ends of
// line are escaped.
const keyBegin, keyName, keyEnd = "-----BEGIN ", "PRIVATE KEY", "-----END "

// keyRule is the rule for private keys, under gitleaks' name.
const keyRule = "private-key"

// keyBlocks finds private keys, each with its first and last line; of one that is cut off, the part that is
// left.
func keyBlocks(text string) []Finding {
	var found []Finding
	close := -1 // the next last line behind at
	for at := 0; ; {
		i := strings.Index(text[at:], keyBegin)
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(keyBegin)
		head, _, ok := strings.Cut(text[at:min(len(text), at+100)], "-----")
		if !ok || !strings.Contains(head, keyName) {
			continue
		}
		at += len(head) + len("-----")
		if close < at {
			close = nextOr(text, keyEnd, at)
		}
		next := nextOr(text[:close], keyBegin, at)
		end := keyLines(text, at, next)
		if end == at {
			continue // the line itself, quoted
		}
		if next == close && close < len(text) {
			tail := text[close+len(keyEnd) : min(len(text), close+len(keyEnd)+100)]
			end = close + len(keyEnd)
			if n := strings.Index(tail, "-----"); n >= 0 {
				end += n + len("-----")
			}
		}
		found = append(found, Finding{keyRule, start, end})
		at = end
	}
}

func nextOr(text, word string, from int) int {
	if i := strings.Index(text[from:], word); i >= 0 {
		return from + i
	}
	return len(text)
}

// leastKeyLine is the least length of a line of a key, except for the last one. mostBetweenLines bounds the
// other words between two lines, such as those of a diff, a numbering or the armour's own headers.
const leastKeyLine, betweenLines = 30, 12

// keyLines is the end of the last long line of a key that begins at from, or from if there is none.
func keyLines(text string, from, to int) int {
	end, between := from, 0
	for i := from; i < to && between <= betweenLines; {
		begin := i
		for i < to && keyByte(text[i]) {
			i++
		}
		switch {
		case i-begin >= leastKeyLine, end > from && i > begin && text[i-1] == '=':
			end, between = i, 0
		case i > begin:
			between++
		}
		i += escapeLength(text[i:to])
	}
	return end
}

// escapeLength is how long the byte or the escape is that ends a word.
func escapeLength(text string) int {
	if len(text) > 1 && text[0] == '\\' {
		return 2
	}
	return 1
}

func keyByte(c byte) bool { return wordByte(c) && c != '_' || c == '+' || c == '/' || c == '=' }
