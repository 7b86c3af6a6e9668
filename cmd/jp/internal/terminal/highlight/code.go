package highlight

import (
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// A Code finds the parts of code that comes line by line. A lexer starts at the beginning of a text
// only, so that a Code keeps the last lines as a context. It drops the first ones of them if the
// others have the same parts without them.
type Code struct {
	language *Language
	context  string // whole lines
	count    int    // of the lines of the context
	tried    int    // how long the context was when it was last to be shortened
	open     Kind   // of the comment or string in which the context ends, else Plain
	off      bool   // the rest of the code is plain
	time     *Time
}

// Limits in bytes, so that the time for a line does not grow with the code before it.
const (
	longestLine    = 2 << 10 // longer lines are data, or minified
	longestStep    = 8 << 10 // lines are looked at in steps
	enoughContext  = 1536    // a longer context is shortened, if it can be
	wantedContext  = 1 << 10 // to this, or to less
	longestContext = 8 << 10 // if it stays longer, the rest is plain
)

// A Time limits how long all highlighting of a screen takes: it may take a second, and a quarter
// of the time from the beginning. Patterns of lexers backtrack, and anyone's text comes here.
type Time struct {
	began time.Time
	spent time.Duration
}

const (
	firstTime = time.Second
	leastTime = 200 * time.Millisecond // with less left, code is plain from its beginning
)

// NewTime begins a Time.
func NewTime() *Time { return &Time{began: time.Now()} }

func (t *Time) left() time.Duration { return firstTime + time.Since(t.began)/4 - t.spent }

// New returns a Code of a language. Of no language, or without time, all of it is plain.
func New(l *Language, t *Time) *Code {
	return &Code{language: l, time: t, off: l == nil || t.left() < leastTime}
}

// Known reports whether the Code still tells parts apart.
func (c *Code) Known() bool { return !c.off }

// Next takes whole lines without their newlines, and returns the parts of each.
func (c *Code) Next(lines []string) (parts [][]Part) {
	for len(lines) > 0 {
		n, size := 0, 0
		for n < len(lines) && (n == 0 || size+len(lines[n]) < longestStep) {
			size += len(lines[n]) + 1
			n++
		}
		parts, lines = append(parts, c.step(lines[:n])...), lines[n:]
	}
	return parts
}

// Peek returns the parts of a line that is not whole yet. It looks at that line only, because
// it is asked again for each word.
func (c *Code) Peek(line string) []Part {
	switch {
	case line == "":
		return nil
	case c.off || len(line) > longestLine:
	case c.open != Plain:
		return []Part{{line, c.open}}
	default:
		if parts, _, ok := c.parts(line + "\n"); ok && len(parts) == 1 {
			return parts[0]
		}
	}
	return plain(line)
}

func (c *Code) step(lines []string) [][]Part {
	parts, open, ok := c.behind(lines)
	if !ok {
		c.off, c.context = true, ""
		for _, line := range lines {
			parts = append(parts, plain(line))
		}
		return parts
	}
	c.context += strings.Join(lines, "\n") + "\n"
	c.count += len(lines)
	c.open = open
	c.shorten()
	return parts
}

// behind returns the parts of lines that follow the context, and the kind of the comment or
// string in which they end.
func (c *Code) behind(lines []string) (parts [][]Part, open Kind, ok bool) {
	if c.off || slices.ContainsFunc(lines, func(line string) bool { return len(line) > longestLine }) {
		return nil, Plain, false
	}
	all, open, ok := c.parts(c.context + strings.Join(lines, "\n") + "\n")
	if !ok || len(all) != c.count+len(lines) {
		return nil, Plain, false
	}
	return all[c.count:], open, true
}

// shorten drops the first lines of a long context, if the others have the same parts without
// them. A context that stays too long ends the highlighting.
func (c *Code) shorten() {
	if len(c.context) < enoughContext || len(c.context) < c.tried+wantedContext {
		return
	}
	c.tried = len(c.context)
	all, _, ok := c.parts(c.context)
	for want := wantedContext; ok && want > wantedContext/4; want -= wantedContext / 4 {
		from := len(c.context) - want
		from += strings.IndexByte(c.context[from:], '\n') + 1
		rest := c.context[from:]
		count := strings.Count(rest, "\n")
		if count == 0 {
			continue
		}
		if parts, _, ok := c.parts(rest); ok && same(parts, all[len(all)-count:]) {
			c.context, c.count, c.tried = rest, count, 0
			return
		}
	}
	if !ok || len(c.context) > longestContext {
		c.off, c.context = true, ""
	}
}

func same(a, b [][]Part) bool {
	return slices.EqualFunc(a, b, func(a, b []Part) bool { return slices.Equal(a, b) })
}

func plain(line string) []Part {
	if line == "" {
		return nil
	}
	return []Part{{Text: line}}
}

// parts returns the parts of each line of a text that ends with a newline, and the kind of the comment
// or string that has the last newline in it. The parts of a line are that line. ok is false if the
// lexer fails, or time is up.
func (c *Code) parts(text string) (lines [][]Part, open Kind, ok bool) {
	left := c.time.left()
	if left <= 0 {
		return nil, Plain, false
	}
	began := time.Now()
	defer func() {
		c.time.spent += time.Since(began)
		if recover() != nil { // chroma panics if the rules of a lexer are wrong
			lines, ok = nil, false
		}
	}()
	tokens, err := c.language.lexer.Tokenise(nil, text)
	if err != nil {
		return nil, Plain, false
	}
	rest := text
	var line []Part
	for token := tokens(); token != chroma.EOF; token = tokens() {
		if rest, ok = strings.CutPrefix(rest, token.Value); !ok || time.Since(began) > left {
			return nil, Plain, false
		}
		kind := kindOf(token.Type)
		for value := token.Value; ; {
			part, after, newline := strings.Cut(value, "\n")
			if n := len(line) - 1; part != "" && n >= 0 && line[n].Kind == kind {
				line[n].Text += part
			} else if part != "" {
				line = append(line, Part{part, kind})
			}
			if !newline {
				break
			}
			lines, line, value, open = append(lines, line), nil, after, Plain
			if kind == Comment || kind == String {
				open = kind
			}
		}
	}
	return lines, open, rest == "" && len(line) == 0
}
