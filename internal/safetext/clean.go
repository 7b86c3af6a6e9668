package safetext

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Clean makes text safe to print: without control sequences and control characters other than tab and
// newline, with visible codes such as <U+202E> in place of characters that reorder or hide text, and with
// U+FFFD in place of invalid bytes.
func Clean(text string) string {
	if harmless(text) {
		return text
	}
	var b strings.Builder
	c := NewCleaner(&b)
	_, _ = io.WriteString(c, text)
	_ = c.Close()
	return b.String()
}

// Lines are the lines of a text, clean, without blanks at its end.
func Lines(text string) []string {
	text = strings.TrimRight(Clean(text), " \t\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// OneLine is a text on one line, clean.
func OneLine(text string) string {
	return strings.TrimSpace(Clean(strings.Join(strings.Fields(text), " ")))
}

// harmless reports whether text is ASCII to be seen, tabs and newlines.
func harmless(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\t' && c != '\n') || c > '~' {
			return false
		}
	}
	return true
}

// A Cleaner writes text to another writer as [Clean] has it. Sequences and
// characters may be split over any number of writes.
type Cleaner struct {
	w       io.Writer
	strips  bool   // characters that reorder or hide text pass
	partial []byte // the beginning of a character
	mode    sequence
}

// A sequence is the kind of control sequence that the next character is in.
type sequence int

const (
	ground       sequence = iota
	escape                // after ESC
	intermediate          // ESC and a byte that announces a final one
	control               // CSI
	payload               // OSC, DCS, SOS, PM, APC: a string that must be ended
	payloadEnd            // ESC within such a string
)

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// NewStripper returns a Cleaner that removes control sequences and control characters,
// and leaves characters that reorder or hide text as they are.
func NewStripper(w io.Writer) *Cleaner { return &Cleaner{w: w, strips: true} }

// Write implements [io.Writer].
func (c *Cleaner) Write(p []byte) (int, error) {
	text := append(c.partial, p...)
	var out bytes.Buffer
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		c.take(&out, r)
	}
	c.partial = bytes.Clone(text)
	if _, err := c.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the replacement of an incomplete character. It leaves the writer below open.
func (c *Cleaner) Close() error {
	incomplete := len(c.partial) > 0
	c.partial = nil
	if !incomplete {
		return nil
	}
	var out bytes.Buffer
	c.take(&out, utf8.RuneError)
	_, err := c.w.Write(out.Bytes())
	return err
}

// take handles a character. One that breaks off a sequence counts as text.
func (c *Cleaner) take(out *bytes.Buffer, r rune) {
	if c.mode != ground && c.within(r) {
		return
	}
	c.mode = ground
	switch {
	case r == 0x1b:
		c.mode = escape
	case r == 0x9b:
		c.mode = control
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		c.mode = payload
	case r == '\t' || r == '\n':
		out.WriteRune(r)
	case r < 0x20 || r >= 0x7f && r < 0xa0:
	case !c.strips && hides(r):
		fmt.Fprintf(out, "<U+%04X>", r)
	default:
		out.WriteRune(r)
	}
}

// within handles a character of a sequence, and is false for one outside of it.
func (c *Cleaner) within(r rune) bool {
	switch c.mode {
	case escape:
		return c.escaped(r)
	case intermediate:
		if r >= 0x30 && r < 0x7f {
			c.mode = ground
		}
		return r >= 0x20 && r < 0x7f
	case control:
		if r >= 0x40 && r < 0x7f {
			c.mode = ground
		}
		return r >= 0x20 && r < 0x7f
	case payloadEnd:
		c.mode = escape
		if r == '\\' {
			c.mode = ground
			return true
		}
		return c.escaped(r)
	}
	return c.swallow(r)
}

func (c *Cleaner) escaped(r rune) bool {
	switch {
	case r == '[':
		c.mode = control
	case strings.ContainsRune("]PX^_", r):
		c.mode = payload
	case r >= 0x20 && r < 0x30:
		c.mode = intermediate
	case r >= 0x30 && r < 0x7f:
		c.mode = ground
	default:
		return false
	}
	return true
}

// swallow drops the string of an OSC or a DCS. A newline ends it too: a string without an end hides just the
// rest of its line.
func (c *Cleaner) swallow(r rune) bool {
	switch r {
	case 0x1b:
		c.mode = payloadEnd
	case 0x07, 0x18, 0x1a, 0x9c:
		c.mode = ground
	case '\n':
		return false
	}
	return true
}

// hides reports whether a character is invisible but changes the visible text: direction marks and overrides,
// tags, invisible separators and operators, the selectors that can carry a hidden text. Joiners are left
// alone; emoji and many scripts need them.
func hides(r rune) bool {
	switch {
	case r == 0x061c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
