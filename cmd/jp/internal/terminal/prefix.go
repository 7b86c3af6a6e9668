package terminal

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// A Prefix is the beginning of a block that has left the screen: it can be changed no more. Its
// letters and digits find the place in a layout for another width.
type Prefix struct {
	sums    []uint64 // of the letters and digits up to the end of each line
	text    string
	without int // lines behind the text that have no letters and digits
}

// Add makes the prefix longer by lines.
func (p *Prefix) Add(lines []string) {
	for _, line := range lines {
		text := words(line)
		if text == "" {
			p.without++
			continue
		}
		p.text, p.without = p.text+text, 0
		p.sums = append(p.sums, p.sum()+letters(text))
	}
}

func (p *Prefix) sum() uint64 {
	if n := len(p.sums); n > 0 {
		return p.sums[n-1]
	}
	return 0
}

// letters is a sum over the letters and digits of a text. It is the same in any order.
func letters(text string) (sum uint64) {
	for _, r := range text {
		x := (uint64(r) + 1) * 0x9e3779b97f4a7c15
		x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
		sum += x ^ x>>27
	}
	return sum
}

// Rest is the part of the block behind the prefix. A block that begins with other words
// is whole. In a table of another width the words of a row have another order: there the prefix becomes the rows that
// have left the screen as a whole.
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
			return p.unordered(lines)
		}
	}
	return nil
}

// unordered is [Prefix.Rest] by the letters and digits up to the end of a line, in any order.
func (p *Prefix) unordered(lines []string) []string {
	left, sum := 0, uint64(0)
	for i, line := range lines {
		text := words(line)
		if sum += letters(text); text != "" && slices.Contains(p.sums, sum) {
			left = i + 1
		}
	}
	*p = Prefix{}
	p.Add(lines[:left])
	return lines[left:]
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

// behind is the rest of a line behind a number of bytes of its letters and digits, and behind the
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
