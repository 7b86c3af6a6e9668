package terminaltest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
)

// changes are the sequences that change how a terminal shows text, or how it reports pastes.
var changes = regexp.MustCompile("\x1b\\[[0-9;?]*[mhl]|\r")

// RequireWrapped requires that a text, laid out for a number of columns, has the same characters as
// with room for all of it, that its lines fit, and that no word is broken that fits a line. A line
// that is too wide is one word, or one quoted argument of a command.
func RequireWrapped(t require.TestingT, roomy, narrow string, columns int) {
	roomy, narrow = changes.ReplaceAllString(roomy, ""), changes.ReplaceAllString(narrow, "")
	for line := range strings.SplitSeq(narrow, "\n") {
		if safetext.Columns(strings.TrimRight(line, " ")) <= columns {
			continue
		}
		text := strings.TrimSuffix(strings.TrimSpace(line), " \\")
		require.True(t, !strings.Contains(text, " ") || strings.ContainsAny(text[:1], `'"$`), "a line of more than %d columns: %q\n%s", columns, line, narrow)
	}
	words := strings.Fields(narrow)
	for _, word := range strings.Fields(roomy) {
		if word == "·" || safetext.Columns(word) > columns {
			continue
		}
		at := slices.Index(words, word)
		require.GreaterOrEqual(t, at, 0, "the word %q is broken or gone at %d columns:\n%s", word, columns, narrow)
		words = slices.Delete(words, at, at+1)
	}
	require.Equal(t, letters(roomy), letters(narrow), "characters at %d columns:\n%s", columns, narrow)
}

// letters counts the visible characters of a text, except for separators and the backslashes at the
// ends of continued lines.
func letters(text string) map[rune]int {
	count := map[rune]int{}
	for _, r := range text {
		if !unicode.IsSpace(r) && r != '·' && r != '\\' {
			count[r]++
		}
	}
	return count
}
