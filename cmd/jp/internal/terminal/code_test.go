package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal/highlight"
)

const (
	goCode   = "```go\nfunc main() {\n\treturn 7 // seven\n}\n```\n"
	diffCode = "```\ndiff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n same\n```\n"
)

// TestCodeIsHighlighted prints code in each possible place: as a block or in one, at once or while it
// is being written.
func TestCodeIsHighlighted(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a block":            {goCode, []string{"\x1b[35mfunc\x1b[39m \x1b[36mmain\x1b[39m() {", "\x1b[35mreturn\x1b[39m \x1b[33m7\x1b[39m \x1b[2m// seven\x1b[22m"}},
		"in a list":          {"- item\n\n  " + strings.ReplaceAll(goCode, "\n", "\n  ") + "\n", []string{"\x1b[35mfunc\x1b[39m"}},
		"in a quote":         {"> " + strings.ReplaceAll(strings.TrimSpace(goCode), "\n", "\n> ") + "\n", []string{"\x1b[35mfunc\x1b[39m"}},
		"in capitals":        {strings.Replace(goCode, "go", "Go", 1), []string{"\x1b[35mfunc\x1b[39m"}},
		"with a file name":   {strings.Replace(goCode, "go", "go:main.go", 1), []string{"\x1b[35mfunc\x1b[39m"}},
		"no language":        {strings.Replace(goCode, "go", "", 1), []string{"\x1b[36mfunc main() {\x1b[39m"}},
		"unknown language":   {strings.Replace(goCode, "go", "gone", 1), []string{"\x1b[36mfunc main() {\x1b[39m"}},
		"a diff":             {strings.Replace(diffCode, "```", "```diff", 1), []string{"\x1b[1mdiff --git a/x b/x\x1b[22m", "\x1b[31m-old\x1b[39m", "\x1b[32m+new\x1b[39m", "\n   same\n"}},
		"a diff, not named":  {diffCode, []string{"\x1b[1mdiff --git a/x b/x\x1b[22m", "\x1b[31m-old\x1b[39m", "\x1b[32m+new\x1b[39m"}},
		"a comment of lines": {"```c\n/* a\nb */\n```\n", []string{"\x1b[2m/* a\x1b[22m", "\x1b[2mb */\x1b[22m"}},
		"never closed":       {strings.TrimSuffix(goCode, "```\n"), []string{"\x1b[35mfunc\x1b[39m"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := printed(t, 60, Coloured(), tt.text)
			for _, want := range tt.want {
				require.Contains(t, out, want)
			}
			require.Equal(t, printed(t, 60, Palette{}, tt.text), sgr.ReplaceAllString(out, ""), "colours change no text")
			require.NotContains(t, printed(t, 60, Palette{}, tt.text), "\x1b")

			var live strings.Builder
			m := NewMarkdown(&live, 60, Coloured())
			m.Live(20)
			for _, piece := range strings.SplitAfter(tt.text, " ") {
				_, err := m.Write([]byte(piece))
				require.NoError(t, err)
			}
			require.NoError(t, m.Close())
			for _, want := range tt.want {
				require.Contains(t, live.String(), want)
			}
			require.Equal(t, onScreen(60, out), onScreen(60, live.String()))
			requireOnlyStyles(t, out)
		})
	}
}

// TestCodeOfABlockIsLookedAtOnce lays out a block with code again for each of its words.
func TestCodeOfABlockIsLookedAtOnce(t *testing.T) {
	memo := codeMemo{time: highlight.NewTime()}
	text := []string{"/* a", "   b */", "func f() {}", "", "x := 7"}
	for end := 1; end <= len(text); end++ {
		memo.begin(false)
		shown := memo.lines("go", Coloured(), text[:end])
		require.Len(t, shown, end)
		require.Len(t, memo.codes[0].text, end-1)
		other := memo.lines("diff", Coloured(), []string{"+a", "+b"})
		require.Equal(t, []string{"\x1b[32m+a\x1b[39m", "\x1b[32m+b\x1b[39m"}, other)
	}
	memo.begin(true)
	want := []string{"\x1b[2m/* a\x1b[22m", "\x1b[2m   b */\x1b[22m", "\x1b[35mfunc\x1b[39m \x1b[36mf\x1b[39m() {}", "", "x := \x1b[33m7\x1b[39m"}
	require.Equal(t, want, memo.lines("go", Coloured(), text))
	memo.begin(true)
	require.Equal(t, []string{"\x1b[35mif\x1b[39m"}, memo.lines("go", Coloured(), []string{"if"}), "other text")
	memo.begin(true)
	require.Equal(t, []string{"\x1b[36mif\x1b[39m"}, memo.lines("", Coloured(), []string{"if"}), "another language")
}

// TestNoColourReadsNoLexer prints code without colours, and so without a search for its language.
func TestNoColourReadsNoLexer(t *testing.T) {
	require.False(t, newPainter("go", Palette{}, highlight.NewTime()).code.Known())
	require.False(t, newPainter("", Palette{}, highlight.NewTime()).guess)
}
