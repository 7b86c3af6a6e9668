package terminal

import (
	"regexp"
	"strings"
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
)

// sample has each kind of block, next to each other in the ways that models
// write them.
const sample = "# Title\nA *short* paragraph with `code`\nand a second line.\n## Next\n\n- one\n- two\n\n- three\n\n" +
	"  ```sh\n  ls\n\n  pwd\n  ```\n- four\n\nAfter the list.\n\n```go\nfunc main() {\n\n\treturn\n}\n```\nRight after it.\n\n" +
	"| a | b |\n|---|---|\n| 1 | 2 |\n\n1. first\n2. second\n\n> quoted\n> text\n\n~~~~\n```\n~~~~\n\nA setext title\n---\n\n    indented\n\n```\nnever closed\n\n# no title\n"

func TestBlocks(t *testing.T) {
	var b blocks
	_, _ = b.Write([]byte(sample))
	b.end()
	require.Equal(t, []string{
		"# Title\n",
		"A *short* paragraph with `code`\nand a second line.\n",
		"## Next\n",
		"- one\n- two\n\n- three\n\n  ```sh\n  ls\n\n  pwd\n  ```\n- four\n",
		"After the list.\n",
		"```go\nfunc main() {\n\n\treturn\n}\n```\n",
		"Right after it.\n",
		"| a | b |\n|---|---|\n| 1 | 2 |\n",
		"1. first\n2. second\n",
		"> quoted\n> text\n",
		"~~~~\n```\n~~~~\n",
		"A setext title\n---\n",
		"    indented\n",
		"```\nnever closed\n\n# no title\n",
	}, texts(b.take()))
	require.Empty(t, b.take(), "each block once")
}

// texts are those of pieces.
func texts(pieces []finishedBlock) (all []string) {
	for _, p := range pieces {
		all = append(all, p.text)
	}
	return all
}

// printed is the output of Markdown for the parts of a text.
func printed(t require.TestingT, width int, palette Palette, parts ...string) string {
	var b strings.Builder
	m := NewMarkdown(&b, width, palette)
	for _, part := range parts {
		_, err := m.Write([]byte(part))
		require.NoError(t, err)
	}
	require.NoError(t, m.Close())
	return b.String()
}

func TestMarkdown(t *testing.T) {
	require.Equal(t, ""+
		"# Title\n\nSome text that is\nlonger than the width.\n\n• one\n• two\n\n  code\n\n  more\n",
		printed(t, 23, Palette{}, "# Title\n\nSome text that is longer than the width.\n\n- one\n- two\n", "\n```\ncode\n\nmore\n"))
	require.Equal(t, "Either:\n\n• one\n\n  more of it\n\n    ls\n\n  and then\n\n• two\n  • three\n",
		printed(t, 40, Palette{}, "Either:\n- one\n\n  more of it\n\n  ```\n  ls\n  ```\n\n  and then\n- two\n  - three\n"))
	require.Equal(t, "2. second\n", printed(t, 40, Palette{}, "2. second\n"))
	require.Empty(t, printed(t, 80, Palette{}))
	require.Equal(t, "no end of line\n", printed(t, 80, Palette{}, "no end of ", "line"))
	coloured := printed(t, 80, Coloured(), "**bold** and `code`\n")
	require.Contains(t, coloured, "\x1b[1mbold\x1b")
	require.NotContains(t, coloured, "**")
}

func TestMarkdownPrintsABlockAsSoonAsItIsFinished(t *testing.T) {
	var b strings.Builder
	m := NewMarkdown(&b, 80, Palette{})
	for _, step := range []struct{ text, want string }{
		{"First\nparagraph", ""},
		{".\n\n", "First paragraph.\n"},
		{"```\ncode\n", "First paragraph.\n"},
		{"```\n", "First paragraph.\n\n  code\n"},
		{"- item\n\n", "First paragraph.\n\n  code\n"},
		{"End", "First paragraph.\n\n  code\n"},
		{"\n", "First paragraph.\n\n  code\n\n• item\n"},
	} {
		_, err := m.Write([]byte(step.text))
		require.NoError(t, err)
		require.Equal(t, step.want, b.String(), "after %q", step.text)
	}
	require.NoError(t, m.Close())
	require.Equal(t, "First paragraph.\n\n  code\n\n• item\n\nEnd\n", b.String())
}

func TestMarkdownPrintsTheSameHoweverItArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			text.WriteString(rapid.OneOf(
				safetexttest.Dangerous, rapid.SampledFrom(strings.SplitAfter(sample, "\n")), rapid.Just("漢字 é\n\n"),
			).Draw(t, "piece"))
		}
		palette := rapid.SampledFrom([]Palette{{}, Coloured()}).Draw(t, "palette")
		whole := text.String()
		at := rapid.IntRange(0, len(whole)).Draw(t, "first")
		to := rapid.IntRange(at, len(whole)).Draw(t, "second")
		want := printed(t, 40, palette, whole)
		require.Equal(t, want, printed(t, 40, palette, whole[:at], whole[at:to], whole[to:]))
		requireOnlyStyles(t, want)
	})
}

func TestMarkdownPrintsTheSampleTheSameByteByByte(t *testing.T) {
	require.Equal(t, printed(t, 60, Coloured(), sample), printed(t, 60, Coloured(), strings.Split(sample, "")...))
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// requireOnlyStyles finds sequences that change more than the looks.
func requireOnlyStyles(t require.TestingT, text string) {
	require.NoError(t, safetexttest.Unsafe(sgr.ReplaceAllString(text, "")))
}

func TestMarkdownLetsNoControlSequenceThrough(t *testing.T) {
	for _, text := range []string{
		"\x1b]0;title\x07text", "&#27;[2Jtext", "&#x1b;]52;c;ZQ==&#7;", "&amp;#27;[2J", "&amp;amp;#27;[2J", "&#38;#27;[31m", "&#x26;#27;[31m",
		"`&#27;[31m`", "```\n&#27;[31m\n```", "[a](http://x/&#27;]8;;)", "![a&#27;](b)", "<b>\x1b[31m</b>", "&rlm;&#x202e;abc", "| &#27;[31m |\n|---|\n| &#155; |",
		"&#27[31m", "<http://x.y/\u009b>", "[link](http://example.com)",
	} {
		for _, palette := range []Palette{{}, Coloured()} {
			out := printed(t, 80, palette, text)
			requireOnlyStyles(t, out)
			require.NotContains(t, out, "\x1b[31m", "a style of the text's own, from %q", text)
		}
		require.NoError(t, safetexttest.Unsafe(printed(t, 80, Palette{}, text)))
	}
}

// The parser takes seconds for a few ten kilobytes of quotes in quotes.
func TestMarkdownIsNotSlowedDownByNesting(t *testing.T) {
	deep := map[string]string{
		"quotes": strings.Repeat("> ", 2000) + "x", "tight": strings.Repeat(">", 2000) + "x", "lists": strings.Repeat("- ", 2000) + "x",
		"numbers": strings.Repeat("1. ", 2000) + "x", "indented": strings.Repeat(" ", 2000) + "- x",
		"tabs": strings.Repeat("\t", 60) + "- x", "in a quote": "> " + strings.Repeat("  ", 2000) + "- x",
	}
	for name, line := range deep {
		require.Equal(t, line+"\n", printed(t, 40, Coloured(), line), name)
	}
	for _, flat := range []string{strings.Repeat("-", 99), strings.Repeat("    ", 20) + "code", "> - 1. x"} {
		require.Less(t, nesting(flat), 6, flat)
	}
}

func TestMarkdownReportsTheWritersError(t *testing.T) {
	_, err := NewMarkdown(safetexttest.BrokenWriter{}, 80, Palette{}).Write([]byte("text\n\n"))
	require.ErrorIs(t, err, safetexttest.ErrBroken)
}

// pieces are parts of Markdown, to be put together in any way.
var pieces = []string{
	"word", " ", "  ", "\n", "\n\n", "\n  ", "\n   ", "\n\n    ", "\t", "\\", "\\\n", "- ", "1. ", "27) ", "> ", "# ", "---\n", "***", "*", "**", "_", "~~", "`", "```\n",
	"|", "\n|-|-:|\n", "[", "](", ")", "![", "[x] ", "<b>", "<div>\n", "-->", "<!--", "http://a.bc/d", "<a@b.c>", "[a]: b\n", "&#27;", "&amp;", "&#xfe0f;", "&#x301;", "&nbsp;",
	"漢字。", "👩‍👩‍👧", "☁\ufe0f", "\ufe0f", "\u0301", "\u200d", "averyveryverylongwordindeed",
}

func TestMarkdownFitsTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 40).Draw(t, "text"), "")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		out := printed(t, width, Palette{colour: rapid.Bool().Draw(t, "colour")}, text)
		requireOnlyStyles(t, out)
		requireWidth(t, out, width, text)
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte(sample), 40, true)
	f.Add([]byte("&#27;[31m\n"), 1, false)
	f.Add([]byte("| a | 漢 |\n|:-:|--:|\n| **1** | `x` https://a.b |\n\n[a]: b\n"), 9, true)
	f.Add([]byte("> 1. - [x] ![☁\ufe0f](b)\\\n> <i>&amp;#27;</i>\n"), 12, true)
	f.Fuzz(func(t *testing.T, text []byte, width int, colour bool) {
		width = 1 + abs(width)%200
		out := printed(t, width, Palette{colour: colour}, string(text))
		requireOnlyStyles(t, out)
		requireWidth(t, out, width, string(text))
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// requireWidth finds lines that are wider than the terminal, and are neither code nor printed
// verbatim.
func requireWidth(t require.TestingT, out string, width int, text string) {
	verbatim := map[string]bool{}
	var b blocks
	_, _ = b.Write([]byte(safetext.Clean(text)))
	b.end()
	for _, block := range texts(b.take()) {
		if unwieldy(block) {
			return
		}
		codeLines(block, verbatim)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if _, code, _ := strings.Cut(sgr.ReplaceAllString(line, ""), "  "); !verbatim[strings.TrimLeft(code, " │")] {
			require.LessOrEqual(t, safetext.Columns(line), max(width, 2), "%q", line)
		}
		if styles := sgr.FindAllString(line, -1); len(styles) > 0 {
			require.Regexp(t, `^\x1b\[(0|22|39)m$`, styles[len(styles)-1], "open at the end of %q", line)
		}
	}
}
