package safetext

import (
	"strings"
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":                 {"a\tb\nc é 漢 👩‍💻", "a\tb\nc é 漢 👩‍💻"},
		"colour":                {"\x1b[1;31mred\x1b[0m", "red"},
		"cursor":                {"a\x1b[2J\x1b[10;10Hb", "ab"},
		"title":                 {"a\x1b]0;evil\x07b", "ab"},
		"clipboard":             {"a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		"link":                  {"\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		"device control":        {"a\x1bPq#0\x1b\\b", "ab"},
		"application":           {"a\x1b_payload\x1b\\b", "ab"},
		"string left open":      {"a\x1b]0;hidden\nshown", "a\nshown"},
		"string broken off":     {"a\x1b]0;x\x18b", "ab"},
		"escape in string":      {"a\x1b]0;x\x1b[31mb", "ab"},
		"charset":               {"a\x1b(0b", "ab"},
		"reset":                 {"a\x1bcb", "ab"},
		"control, eight bits":   {"a\u009b31mb", "ab"},
		"string, eight bits":    {"a\u009d0;x\u009cb", "ab"},
		"next line, eight bits": {"a\u0085b", "ab"},
		"sequence, then text":   {"a\x1b[31\nb", "a\nb"},
		"sequence, then letter": {"a\x1b[31éb", "aéb"},
		"two escapes":           {"a\x1b\x1b[31mb", "ab"},
		"carriage return":       {"good\rbad\r\n", "goodbad\n"},
		"backspace, bell":       {"a\b\ab\x7fc\x00", "abc"},
		"override":              {"a\u202eb\u202c", "a<U+202E>b<U+202C>"},
		"isolate":               {"\u2066a\u2069", "<U+2066>a<U+2069>"},
		"marks":                 {"\u200ea\u200f\u061c", "<U+200E>a<U+200F><U+061C>"},
		"tags":                  {"a\U000e0041\U000e007f", "a<U+E0041><U+E007F>"},
		"zero width":            {"a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"},
		"not UTF-8":             {"a\xff\xc3(\xe2\x82", "a��(�"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Clean(test.in))
			require.Equal(t, test.want, byteByByte(test.in), "split")
		})
	}
}

func TestLines(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"lines":                {"a\nb\n", "a|b"},
		"nothing":              {"", ""},
		"blank":                {" \n\n", ""},
		"blank lines within":   {"a\n\nb\n\n\n", "a||b"},
		"carriage returns":     {"a\r\nb\r\n", "a|b"},
		"colours":              {"\x1b[31ma\x1b[0m\n", "a"},
		"a cursor that moves":  {"a\x1b[2A\x1b[Jb\n", "ab"},
		"text in another way":  {"a\u202eb\n", "a<U+202E>b"},
		"bytes that are wrong": {"a\xffb\n", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, strings.Join(Lines(tt.content), "|")) })
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{" a \n\tb ": "a b", "a\x1b[2J\u202e": "a<U+202E>", "\x1b[m \n": "", "": ""} {
		require.Equal(t, want, OneLine(text), "%q", text)
	}
}

func byteByByte(text string) string {
	var b strings.Builder
	c := NewCleaner(&b)
	for i := range len(text) {
		_, _ = c.Write([]byte{text[i]})
	}
	_ = c.Close()
	return b.String()
}

func TestCleanOutputIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := safetexttest.Dangerous.Draw(t, "text")
		cleaned := Clean(text)
		if err := safetexttest.Unsafe(cleaned); err != nil {
			t.Fatal(err)
		}
		require.Equal(t, cleaned, Clean(cleaned), "clean text stays as it is")
		at := rapid.IntRange(0, len(text)).Draw(t, "split")
		var b strings.Builder
		c := NewCleaner(&b)
		_, _ = c.Write([]byte(text[:at]))
		_, _ = c.Write([]byte(text[at:]))
		require.NoError(t, c.Close())
		require.Equal(t, cleaned, b.String(), "split at %d", at)
	})
}

func TestCleanKeepsPrintableText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9 \t\näöü漢字.,;:<>\[\]]*`).Draw(t, "text")
		require.Equal(t, text, Clean(text))
	})
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"\x1b]8;;x\x07", "\u009b0m", "\xe2\x80\xae", "\x1bP\x1b\\", "\x1b[8m"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, safetexttest.Unsafe(Clean(string(text))))
		require.NoError(t, safetexttest.Unsafe(byteByByte(string(text))))
	})
}

func TestCleanerReportsTheWritersError(t *testing.T) {
	c := NewCleaner(safetexttest.BrokenWriter{})
	_, err := c.Write([]byte("text"))
	require.ErrorIs(t, err, safetexttest.ErrBroken)
}
