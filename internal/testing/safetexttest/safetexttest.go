// Package safetexttest makes dangerous text for tests, and finds characters that must never reach a terminal.
package safetexttest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Dangerous is made of the parts of control sequences.
var Dangerous = rapid.Custom(func(t *rapid.T) string {
	pieces := []string{
		"\x1b", "[", "]", "P", "\\", "m", "31;", "\x07", "\x9b", "\u009b", "\u009d", "\u009c", "\n", "\t", "\r", "\x18", "a", "é", "漢",
		"\u202e", "\u2066", "\U000e0041", "\ufeff", "\xff", "\xe2\x80", "\x00", "\x7f", "&#27;", "&amp;#x1b;",
	}
	var b strings.Builder
	for range rapid.IntRange(0, 20).Draw(t, "pieces") {
		if rapid.IntRange(0, 5).Draw(t, "any") == 0 {
			b.Write(rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "bytes"))
			continue
		}
		b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
	}
	return b.String()
})

// Unsafe finds characters that must never reach a terminal.
func Unsafe(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("not UTF-8: %q", text)
	}
	for _, r := range text {
		if r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
			r >= 0xe0000 && r <= 0xe007f || r == 0x200e || r == 0x200f || r == 0x061c {
			return fmt.Errorf("%U in %q", r, text)
		}
	}
	return nil
}

// ErrBroken is the error of a [BrokenWriter].
var ErrBroken = errors.New("broken")

// A BrokenWriter fails at every write.
type BrokenWriter struct{}

// Write implements io.Writer.
func (BrokenWriter) Write([]byte) (int, error) { return 0, ErrBroken }
