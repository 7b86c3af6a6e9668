package blame

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
)

// small are lines of one word that many files have.
var small = map[string]bool{
	"else": true, "end": true, "return": true, "break": true, "continue": true, "begin": true, "try": true, "then": true,
	"done": true, "esac": true, "default": true, "finally": true, "endif": true, "pass": true, "null": true, "nil": true,
	"true": true, "false": true, "func": true, "import": true, "const": true, "var": true, "type": true, "returnnil": true,
}

// keyOf is a line without its white space as a number, and how many letters and digits it has. A line too
// common to be recognised has the weight 0.
func keyOf(line string) (key uint64, weight int) {
	key = 14695981039346656037 // FNV-1a
	var word [10]byte
	for i := range len(line) {
		b := line[i]
		switch {
		case b == ' ' || b == '\t' || b == '\r' || b == '\n' || b == '\f' || b == '\v':
			continue
		case b >= 0x80 || b == '_' || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)):
			if weight < len(word) {
				word[weight] = b
			}
			weight++
		}
		key = (key ^ uint64(b)) * 1099511628211
	}
	if weight < 3 || weight <= len(word) && small[string(word[:weight])] {
		return key, 0
	}
	return key, weight
}

// splitLines are the lines of a text, without an empty one behind the last.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// unixEnds makes content comparable that git may have converted.
func unixEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// sameLines gives for each line of now the equal line of then, from 1, or 0.
func sameLines(then, now string) []int {
	var from []int
	at, line := 0, 1 // the byte and the line of then that come next
	keep := func(until int) {
		for at < until {
			end := strings.IndexByte(then[at:], '\n') + 1
			if end == 0 {
				end = len(then) - at
			}
			from, at, line = append(from, line), at+end, line+1
		}
	}
	for _, edit := range udiff.Lines(then, now) {
		keep(edit.Start)
		for range lineTotal(edit.New) {
			from = append(from, 0)
		}
		line += lineTotal(then[edit.Start:edit.End])
		at = edit.End
	}
	keep(len(then))
	return from
}

func lineTotal(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// A line is a line of a file without its white space.
type line struct {
	key    uint64
	weight int32 // see keyOf
	kind   lineKind
}

func lineOf(text string) line {
	key, weight := keyOf(text)
	l := line{key: key, weight: int32(weight)}
	if weight == 0 {
		switch text = strings.TrimSpace(text); {
		case text == "":
			l.kind = blank
		case strings.Trim(text, "})]; \t") == "":
			l.kind = closing
		}
	}
	return l
}

type lineKind uint8

const (
	wordy   lineKind = iota
	blank            // it is empty
	closing          // it ends a block
)

type content struct {
	text  string
	lines []line
}

// contentOf finds the lines of a text. It takes those that another one has at its beginning and end.
func contentOf(text string, like *content) *content {
	if like == nil {
		like = &content{}
	}
	head := sharedPrefix(text, like.text)
	head = strings.LastIndexByte(text[:head], '\n') + 1
	tail := sharedSuffix(text[head:], like.text[head:])
	if begins := func(s string) bool { return len(s) == tail || s[len(s)-tail-1] == '\n' }; !begins(text[head:]) || !begins(like.text[head:]) {
		_, rest, _ := strings.Cut(text[len(text)-tail:], "\n")
		tail = len(rest)
	}
	c := &content{text: text, lines: slices.Clone(like.lines[:strings.Count(text[:head], "\n")])}
	for text := range strings.Lines(text[head : len(text)-tail]) {
		c.lines = append(c.lines, lineOf(text))
	}
	c.lines = append(c.lines, like.lines[len(like.lines)-lineTotal(text[len(text)-tail:]):]...)
	return c
}

// sharedPrefix is how many bytes two texts have in common at their beginning.
func sharedPrefix(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for n+256 <= most && a[n:n+256] == b[n:n+256] {
		n += 256
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// sharedSuffix is how many bytes two texts have in common at their end.
func sharedSuffix(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for n+256 <= most && a[len(a)-n-256:len(a)-n] == b[len(b)-n-256:len(b)-n] {
		n += 256
	}
	for n < most && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// alignLines gives for each line of now the equal line of then, from 1, or 0. It ignores white space, and an
// ambiguous insertion or removal begins as a person would see it.
func alignLines(then, now string) []int {
	return align(contentOf(then, nil).lines, contentOf(now, nil).lines)
}

func align(then, now []line) []int {
	from := make([]int, len(now))
	head, most := 0, min(len(then), len(now))
	for head < most && then[head].key == now[head].key {
		head++
		from[head-1] = head
	}
	tail := 0
	for tail < most-head && then[len(then)-tail-1].key == now[len(now)-tail-1].key {
		tail++
		from[len(now)-tail] = len(then) - tail + 1
	}
	if was, is := then[head:len(then)-tail], now[head:len(now)-tail]; len(was) > 0 && len(is) > 0 {
		for i, n := range sameLines(keyText(was), keyText(is)) {
			if n > 0 {
				from[head+i] = head + n
			}
		}
	}
	to := make([]int, len(then))
	for i, n := range from {
		if n > 0 {
			to[n-1] = i + 1
		}
	}
	slide(then, to)
	clear(from)
	for i, n := range to {
		if n > 0 {
			from[n-1] = i + 1
		}
	}
	slide(now, from)
	return from
}

// keyText is a text that has the key of each line as a line.
func keyText(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%x\n", l.key)
	}
	return b.String()
}

// slide moves each group of lines without an equal one up or down, between lines that are equal to those at
// its other end, to a place behind an empty line, or behind the end of a block.
func slide(lines []line, same []int) {
	for b := 0; b < len(lines); b++ {
		if same[b] > 0 {
			continue
		}
		e := b
		for e < len(lines) && same[e] == 0 {
			e++
		}
		if b > 0 && e < len(lines) && same[b-1]+1 != same[e] || b == 0 && e < len(lines) && same[e] != 1 {
			b = e
			continue // lines were replaced
		}
		up, down := 0, 0
		for b-up > 0 && same[b-up-1] > 0 && lines[b-up-1].key == lines[e-up-1].key {
			up++
		}
		for e+down < len(lines) && same[e+down] > 0 && lines[b+down].key == lines[e+down].key {
			down++
		}
		best, by := -1, 0
		for shift := down; shift >= -up; shift-- {
			if s := opens(lines, b+shift); s > best {
				best, by = s, shift
			}
		}
		for ; by < 0; by++ {
			b, e = b-1, e-1
			same[e], same[b] = same[b], 0
		}
		for ; by > 0; by-- {
			same[b], same[e] = same[e], 0
			b, e = b+1, e+1
		}
		b = e
	}
}

// opens is how much a line looks like the first of a block.
func opens(lines []line, at int) int {
	after := at > 0 && lines[at-1].kind == closing
	switch {
	case at == len(lines) || lines[at].kind == closing:
		return 0
	case lines[at].kind == blank:
		return 2 * bit(after)
	case at == 0 || lines[at-1].kind == blank:
		return 4
	case after:
		return 3
	}
	return 1
}
