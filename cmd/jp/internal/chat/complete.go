package chat

import (
	"strings"

	"jp/cmd/jp/internal/console"
	"jp/internal/safetext"
)

// mostCandidates is how many candidates are shown.
const mostCandidates = 6

// Complete implements [console.Handler]. Of names that are only like the word, the best one is taken.
func (c *chat) Complete(e console.Entry, at int) (from int, word string, ok bool) {
	from, all, alike := c.offers.candidates(e, at, true)
	if len(all) == 0 {
		return 0, "", false
	}
	word = all[0]
	if !alike {
		for _, other := range all[1:] {
			for !strings.HasPrefix(other, word) {
				word = word[:len(word)-1]
			}
		}
	}
	if (alike || len(all) == 1) && !strings.HasSuffix(word, "/") {
		word += " "
	}
	return from, word, word != e.Text[from:at]
}

// suggest shows what Tab would complete, and below a lone ? the keys.
func (c *chat) suggest(text string) {
	if text == "?" {
		lines := strings.Split(strings.Trim(keyHelp, "\n"), "\n")
		for i, line := range lines {
			lines[i] = c.dim(line)
		}
		c.console.Below(lines...)
		return
	}
	_, all, _ := c.offers.candidates(console.Entry{Text: text, Pasted: func(int) bool { return false }}, len(text), false)
	lines := make([]string, 0, mostCandidates)
	for _, word := range all {
		if len(lines) == mostCandidates {
			lines[mostCandidates-1] = "  …"
			break
		}
		line := "  " + safetext.Clean(word)
		if strings.HasPrefix(word, "/") {
			for _, o := range c.offers.all() {
				if word == "/"+o.name {
					line += strings.Repeat(" ", max(1, 12-len(word))) + o.help
				}
			}
		}
		lines = append(lines, c.dim(line))
	}
	c.console.Below(lines...)
}
