package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
	"jp/internal/testing/terminaltest"
)

func TestWrapBreaksBetweenWords(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		width int
		want  string
	}{
		"it fits":            {"one two", 7, "one two"},
		"no terminal":        {strings.Repeat("word ", 40), 0, strings.Repeat("word ", 40)},
		"prose":              {"one two three", 8, "one two\nthree"},
		"two lines":          {"one two\nthree four five\n", 10, "one two\nthree four\nfive\n"},
		"indented":           {"    one two three", 14, "    one two\n    three"},
		"behind a mark":      {"  ! not confined: all", 16, "  ! not\n    confined:\n    all"},
		"a word, not a mark": {"a file is there", 10, "a file is\nthere"},
		"second column":      {"  y   run it, this once, and no more than that", 40, "  y   run it, this once, and no more\n      than that"},
		"no room beside":     {"      --non-interactive   ask nobody", 30, "      --non-interactive\n          ask nobody"},
		"parts":              {"turn 1 · 3 s · 2 files +1 -1", 14, "turn 1 · 3 s\n2 files +1 -1"},
		"a part with words":  {"turn 1 · in no snapshot: a", 14, "turn 1\nin no\nsnapshot: a"},
		"a long word":        {"see /a/path/that/is/too/long here", 12, "see\n/a/path/that/is/too/long\nhere"},
		"the indent gives":   {"      jp continue 4400", 18, "  jp continue 4400"},
		"a command":          {"pid 7 · jp attach x6p7", 16, "pid 7\njp attach x6p7"},
		"a command in prose": {"take it back with jp undo @14 --dry-run first", 34, "take it back with\njp undo @14 --dry-run first"},
		"not all of it":      {"jp does what it can", 10, "jp does\nwhat it\ncan"},
		"wide characters":    {"你好世界", 5, "你好\n世界"},
		"a tab":              {"+\tone two three", 16, "+    one two\n     three"},
		"looks":              {"\x1b[2mone two\x1b[22m", 5, "\x1b[2mone\ntwo\x1b[22m"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, Wrap(test.text, test.width)) })
	}
}

// All text is kept, no line is too wide, and no word is broken that fits.
func TestWrapKeepsWords(t *testing.T) {
	word := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,30}`), rapid.SampledFrom([]string{"jp", "git", "continue", "--dry-run", "@14", "4400", "·", "!", "你好世界", "'a b'", "\x1b[1mbold\x1b[22m"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 1, 20).Draw(t, "words")
		text := strings.Repeat(" ", rapid.IntRange(0, 8).Draw(t, "indent")) + strings.Join(words, " ")
		width := rapid.IntRange(8, 60).Draw(t, "width")
		shown := Wrap(text, width)
		if !strings.Contains(text, "你") {
			terminaltest.RequireWrapped(t, text, shown, width)
		}
		for line := range strings.SplitSeq(shown, "\n") {
			trimmed := strings.TrimSpace(line)
			require.True(t, safetext.Columns(line) <= width || !strings.Contains(trimmed, " "), "%q", line)
		}
	})
}

func TestChoices(t *testing.T) {
	choices := []string{"a run it again", "w write the result by hand", "q quit"}
	require.Equal(t, "  a run it again   w write the result by hand   q quit", Choices(80, 2, "", choices...))
	require.Equal(t, "  a run it again   w write the result by hand\n  q quit", Choices(48, 2, "", choices...))
	require.Equal(t, "Go on?  a run it again\nw write the result by hand\nq quit", Choices(30, 0, "Go on?", choices...))
	require.Equal(t, "  a run it again\n  w write the result\n    by hand   q quit", Choices(22, 2, "", choices...))
}

func TestCommand(t *testing.T) {
	for name, test := range map[string]struct {
		command string
		width   int
		want    string
	}{
		"it fits":                {"jp continue 4400", 40, "    jp continue 4400"},
		"without its indent":     {"jp continue 4400 --anyway", 27, "  jp continue 4400 --anyway"},
		"broken between words":   {"jp query --continue-turn --anyway --id=jp-c17956013570-ml1d", 40, "  jp query --continue-turn --anyway \\\n    --id=jp-c17956013570-ml1d"},
		"not in quotation marks": {`jp query "one two three four" 'five six' $'sev\'en eight' nine\ ten`, 30, "  jp query \\\n    \"one two three four\" \\\n    'five six' \\\n    $'sev\\'en eight' nine\\ ten"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, WrapCommand(test.command, test.width, 4)) })
	}
}

func TestWrapperGoesOnWithALine(t *testing.T) {
	var out bytes.Buffer
	w := NewWrapper(&out, func() int { return 10 })
	for _, text := range []string{"one ", "two three", "\n", "four five six"} {
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.Equal(t, "one two\nthree\nfour five\nsix", out.String())
}
