package terminal

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// A Prefix is the beginning of a block that has left the screen: it can be changed no more. Its
// letters and digits find the place in a layout for another width.
type Prefix struct {
	text    string
	without int // lines behind the text that have no letters and digits
}

// Add makes the prefix longer by lines.
func (p *Prefix) Add(lines []string) {
	for _, line := range lines {
		if text := words(line); text == "" {
			p.without++
		} else {
			p.text, p.without = p.text+text, 0
		}
	}
}

// Rest is the part of the block behind the prefix. A block that begins with other words
// is whole.
func (p *Prefix) Rest(lines []string) []string {
	rest, without := p.text, p.without
	for i, line := range lines {
		text := words(line)
		switch {
		case rest == "" && (text != "" || without == 0):
			return lines[i:]
		case rest == "":
			without--
		case strings.HasPrefix(rest, text):
			rest = rest[len(text):]
		case strings.HasPrefix(text, rest):
			return append([]string{behind(line, len(rest))}, lines[i+1:]...)
		default:
			return lines
		}
	}
	return nil
}

// words is the letters and digits of a line.
func words(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, ansi.Strip(line))
}

// behind is what stands in a line behind a number of bytes of its letters and digits, and behind the
// punctuation there.
func behind(line string, size int) string {
	columns := 0
	for text := ansi.Strip(line); text != ""; {
		next, wide := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if size <= 0 && (next == " " || words(next) != "") {
			break
		}
		text, columns, size = text[len(next):], columns+wide, size-len(words(next))
	}
	return strings.TrimLeft(ansi.TruncateLeft(line, columns, ""), " ")
}
