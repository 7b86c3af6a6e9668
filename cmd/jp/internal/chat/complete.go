package chat

import (
	"strconv"
	"strings"
	"sync"

	"jp/cmd/jp/internal/console"
	"jp/internal/safetext"
)

const mostCandidates = 8

// keysMark is the line below which the keys are shown.
const keysMark = "?"

// A completion shows below the line the possible completions of its last word.
type completion struct {
	offers *offers
	line   line
	dim    func(string) string

	mu  sync.Mutex
	now candidates
}

// candidates are the words for a line.
type candidates struct {
	text   string // the line
	from   int    // the place of the word that is completed
	words  []string
	chosen int // the place of the word that the person moved to; -1: they did not
}

// candidates are those on the screen.
func (l *completion) candidates() candidates {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// chosen is the line with the word that the person moved to, if they did.
func (l *completion) chosen(text string) (string, bool) {
	c := l.candidates()
	if c.text != text || len(c.words) == 0 || c.chosen < 0 {
		return "", false
	}
	return c.text[:c.from] + c.words[c.chosen], true
}

// complete is the word that Tab puts in the place of the text between from and the cursor. Of names that are only like the word,
// the best one is taken.
func (l *completion) complete(e console.Entry, at int) (from int, word string, ok bool) {
	if text, moved := l.chosen(e.Text); moved && at == len(e.Text) {
		from = l.candidates().from
		return from, closed(text[from:]), true
	}
	from, all, alike := l.offers.candidates(e, at, true)
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
	if alike || len(all) == 1 {
		word = closed(word)
	}
	return from, word, word != e.Text[from:at]
}

// closed is a whole word with a blank behind it. A folder goes on.
func closed(word string) string {
	if strings.HasSuffix(word, "/") {
		return word
	}
	return word + " "
}

// suggest shows the candidates for a line, and below a lone ? the keys.
func (l *completion) suggest(text string) {
	c := candidates{text: text, chosen: -1}
	if text == keysMark {
		lines := keyRows(l.line.Width() - 1)
		for i, line := range lines {
			lines[i] = l.dim(line)
		}
		l.show(c, lines)
		return
	}
	c.from, c.words, _ = l.offers.candidates(console.Entry{Text: text, Pasted: func(int) bool { return false }}, len(text), false)
	l.show(c, l.rows(c))
}

// move goes to the next candidate, or the one before, and reports whether there are any.
func (l *completion) move(back bool, text string) bool {
	c := l.candidates()
	if len(c.words) == 0 || c.text != text {
		return false
	}
	switch n := len(c.words); {
	case back && c.chosen <= 0:
		c.chosen = n - 1
	case back:
		c.chosen--
	default:
		c.chosen = (c.chosen + 1) % n
	}
	l.show(c, l.rows(c))
	return true
}

// hide takes the candidates or the keys away until the line changes, and reports whether there were any.
func (l *completion) hide() bool {
	if c := l.candidates(); c.text != l.line.Text() || len(c.words) == 0 && c.text != keysMark {
		return false
	}
	l.show(candidates{}, nil)
	return true
}

func (l *completion) show(c candidates, rows []string) {
	l.mu.Lock()
	l.now = c
	l.mu.Unlock()
	l.line.Below(rows...)
}

// rows are the candidates around the one that the person moved to.
func (l *completion) rows(c candidates) (rows []string) {
	about := map[string]string{}
	if strings.HasPrefix(c.text, "/") {
		for _, o := range l.offers.all() {
			about["/"+o.name] = o.help
		}
	}
	first := max(0, min(c.chosen-mostCandidates/2, len(c.words)-mostCandidates))
	for i, word := range c.words[first:min(first+mostCandidates, len(c.words))] {
		row := "  " + safetext.Clean(word)
		if help := about[word]; help != "" {
			row += strings.Repeat(" ", max(1, 12-len(word))) + help
		}
		if first+i == c.chosen {
			rows = append(rows, "❯"+row[1:])
		} else {
			rows = append(rows, l.dim(row))
		}
	}
	if more := len(c.words) - mostCandidates; more > 0 {
		rows = append(rows, l.dim("  "+strconv.Itoa(more)+" more: Down"))
	}
	return rows
}
