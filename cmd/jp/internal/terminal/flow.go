package terminal

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"jp/internal/safetext"
)

// A look is how text looks, as a set.
type look uint8

const (
	bold look = 1 << iota
	italic
	code
	address
	verbatim // spaces stand for themselves
)

func (l look) sequence() string {
	var codes []string
	for _, c := range []struct {
		look look
		code string
	}{{bold, "1"}, {italic, "3"}, {code, "36"}, {address, "34;4"}} {
		if l&c.look != 0 {
			codes = append(codes, c.code)
		}
	}
	if codes == nil {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// A span is clean text in one look. A newline in it ends the line.
type span struct {
	text string
	look look
}

var lineBreak = span{text: "\n"}

// wrap is the lines of spans in a number of columns, broken between words, and
// within one only if it is longer than a line.
func (d *document) wrap(spans []span, width int) []string {
	f := &flow{width: width, colour: d.palette.On()}
	f.read(spans)
	f.endWord()
	if len(f.line) > 0 {
		f.endLine()
	}
	return f.lines
}

// A cluster is the text that a reader sees as one character.
type cluster struct {
	text  string
	width int
	look  look
}

// A flow fills lines with words. A mark that combines with the character before it is dropped at the
// beginning of a line, since there it would change its neighbours.
type flow struct {
	width  int
	colour bool
	lines  []string
	line   []cluster
	column int // of the line's end
	gap    []cluster
	word   []cluster
}

// read takes the text of all spans as one, since a visible character may extend over two of them. It
// has the look of its beginning.
func (f *flow) read(spans []span) {
	text := strings.ReplaceAll(shown(spans), "\t", " ")
	at, end := 0, 0 // the next character, and the end of the span before it
	var on look
	for at < len(text) {
		for ; end <= at; spans = spans[1:] {
			end, on = end+len(spans[0].text), spans[0].look
		}
		next, width := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		f.add(cluster{next, width, on})
		at += len(next)
	}
}

func (f *flow) add(c cluster) {
	switch {
	case c.text == "\n":
		f.endWord()
		f.endLine()
	case c.text == " ":
		f.endWord()
		if c.look&verbatim != 0 || len(f.gap) == 0 && f.column > 0 {
			f.gap = append(f.gap, c)
		}
	case len(f.word)+len(f.line) == 0 && strings.IndexFunc(c.text, combines) == 0:
		if text := strings.TrimLeftFunc(c.text, combines); text != "" {
			f.add(cluster{text, safetext.Columns(text), c.look})
		}
	default:
		if last := len(f.word) - 1; last >= 0 && breaks(f.word[last], c) {
			f.endWord()
		}
		f.word = append(f.word, c)
	}
}

// endWord puts the word that was read on the line, or on the next one.
func (f *flow) endWord() {
	if len(f.word) == 0 {
		return
	}
	room := f.width - columns(f.word)
	if f.column+len(f.gap) > room && f.column > 0 {
		f.endLine()
	}
	if len(f.gap) > room {
		f.gap = f.gap[:max(room, 0)]
	}
	f.put(f.gap)
	for _, c := range f.word {
		if f.column+c.width > f.width && f.column > 0 {
			f.endLine()
		}
		f.put([]cluster{c})
	}
	f.gap, f.word = f.gap[:0], f.word[:0]
}

func (f *flow) put(clusters []cluster) {
	f.line = append(f.line, clusters...)
	f.column += columns(clusters)
}

func (f *flow) endLine() {
	f.lines = append(f.lines, drawn(f.line, f.colour))
	f.line, f.column, f.gap = f.line[:0], 0, f.gap[:0]
}

func columns(clusters []cluster) int {
	width := 0
	for _, c := range clusters {
		width += c.width
	}
	return width
}

// Signs that stay with the text after them, and with the text before them.
const (
	opening = "（［｛〈《「『【〔“‘([{\"'*`~"
	closing = "）］｝〉》」』】〕”’)]}\"'*`~、。，．・：；？！…ーっゃゅょッャュョ々,.:;?!"
)

// breaks reports whether a line may end between two characters without a space:
// beside wide ones, as in Chinese and Japanese.
func breaks(before, after cluster) bool {
	return (before.width > 1 || after.width > 1) &&
		!strings.Contains(opening, before.text) && !strings.Contains(closing, after.text)
}

// combines reports whether a character has no place of its own.
func combines(r rune) bool { return unicode.IsMark(r) || r == 0x200c || r == 0x200d }

// drawn is a line with its looks, which end with it.
func drawn(clusters []cluster, colour bool) string {
	var b strings.Builder
	var on look
	for _, c := range clusters {
		if look := c.look &^ verbatim; colour && look != on {
			if on != 0 {
				b.WriteString("\x1b[0m")
			}
			b.WriteString(look.sequence())
			on = look
		}
		b.WriteString(c.text)
	}
	if on != 0 {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
