package redact

import (
	"sort"
	"strings"
)

// bare is a text without the escape sequences of terminals, which can stand in the middle of
// a secret, with the places of its pieces. cut is nil if there are none.
type bare struct {
	text string
	cut  []cut
}

// A cut is a sequence that was left out.
type cut struct {
	at     int // in the text without sequences
	before int // bytes left out before and with this one
}

// withoutEscapes takes the sequences out of a text.
func withoutEscapes(text string) bare {
	if strings.IndexByte(text, 0x1b) < 0 {
		return bare{text: text}
	}
	var b bare
	var out strings.Builder
	left := 0
	for i := 0; i < len(text); {
		next := strings.IndexByte(text[i:], 0x1b)
		if next < 0 {
			out.WriteString(text[i:])
			break
		}
		out.WriteString(text[i : i+next])
		i += next
		n := escapeSequence(text[i:])
		i, left = i+n, left+n
		b.cut = append(b.cut, cut{out.Len(), left})
	}
	b.text = out.String()
	return b
}

// escapeSequence is how long the sequence is that a text begins with.
func escapeSequence(text string) int {
	if len(text) < 2 {
		return 1
	}
	i := 2
	switch text[1] {
	case '[':
		for i < len(text) && text[i] >= 0x20 && text[i] < 0x40 {
			i++
		}
		if i < len(text) && text[i] >= 0x40 && text[i] < 0x7f {
			i++
		}
	case ']', 'P', '^', '_', 'X':
		for i < len(text) && i < 4<<10 && text[i] != '\a' && text[i] != 0x1b && text[i] != '\n' {
			i++
		}
		if i < len(text) && text[i] == '\a' {
			return i + 1
		}
		if strings.HasPrefix(text[i:], "\x1b\\") {
			return i + 2
		}
	case '(', ')', '#', '%':
		i = min(3, len(text))
	default:
		if text[1] < 0x20 || text[1] >= 0x7f {
			return 1
		}
	}
	return i
}

// origin is the place of a piece in the text with sequences, without those at its ends.
func (b bare) origin(start, end int) (int, int) {
	from := sort.Search(len(b.cut), func(i int) bool { return b.cut[i].at > start })
	to := sort.Search(len(b.cut), func(i int) bool { return b.cut[i].at >= end })
	if from > 0 {
		start += b.cut[from-1].before
	}
	if to > 0 {
		end += b.cut[to-1].before
	}
	return start, end
}

// withoutNewlines writes blanks in place of the escapes for white space that JSON and
// programs have: a word begins behind them. The text keeps its length.
func withoutNewlines(text string) string {
	i := strings.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	out := []byte(text)
	for ; i+1 < len(out); i++ {
		if out[i] == '\\' && (out[i+1] == 'n' || out[i+1] == 'r' || out[i+1] == 't') {
			out[i], out[i+1] = ' ', ' '
		}
	}
	return string(out)
}
