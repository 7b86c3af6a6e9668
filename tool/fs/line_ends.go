package fs

import "strings"

func withLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// endedText is a text with LF, and which of its lines end with CRLF.
type endedText struct {
	text string
	crlf []bool // for each LF
}

func splitEnds(text string) endedText {
	var crlf []bool
	for i := range len(text) {
		if text[i] == '\n' {
			crlf = append(crlf, i > 0 && text[i-1] == '\r')
		}
	}
	return endedText{withLF(text), crlf}
}

// replace puts a passage in the place of another. Its lines take the ends of those that they replace,
// and further ones the last such end. Within a line that is the end of this line.
func (l endedText) replace(old, with string) endedText {
	replaced, added := strings.Count(old, "\n"), strings.Count(with, "\n")
	var b strings.Builder
	var crlf []bool
	rest, line := l.text, 0
	for {
		at := strings.Index(rest, old)
		if at < 0 {
			break
		}
		before := strings.Count(rest[:at], "\n")
		crlf = append(crlf, l.crlf[line:line+before]...)
		line += before
		for i := range added {
			crlf = append(crlf, l.end(line+max(min(i, replaced-1), 0)))
		}
		line += replaced
		b.WriteString(rest[:at] + with)
		rest = rest[at+len(old):]
	}
	b.WriteString(rest)
	return endedText{b.String(), append(crlf, l.crlf[line:]...)}
}

// end reports whether a line ends with CRLF. An unended last line counts as the one before.
func (l endedText) end(line int) bool {
	if len(l.crlf) == 0 {
		return false
	}
	return l.crlf[min(line, len(l.crlf)-1)]
}

// join is the text with its ends.
func (l endedText) join() string {
	var b strings.Builder
	i := 0
	for line := range strings.Lines(l.text) {
		if bare, ended := strings.CutSuffix(line, "\n"); ended {
			if l.crlf[i] {
				line = bare + "\r\n"
			}
			i++
		}
		b.WriteString(line)
	}
	return b.String()
}
