// Package prose holds the documents and messages of jp to plain English: say what
// is, one idea a sentence.
//
// It measures Markdown pages ([Page]) and the messages in Go code ([Messages]);
// its tests read the whole repository.
package prose

import (
	"regexp"
	"strings"
)

// Negations are the words that a page may use at most [MaxNegations] times in 100
// words of prose. "Without", "un-" and "in-" are not among them.
var Negations = []string{"no", "not", "nobody", "nothing", "none", "nowhere", "neither", "nor", "never", "cannot"}

// MaxNegations is how many negations 100 words of prose may have.
const MaxNegations = 1.3

var (
	negation = regexp.MustCompile(`(?i)\b(` + strings.Join(Negations, "|") + `)\b|n['’]t\b`)
	clause   = regexp.MustCompile(`(?i)\b(what|where|whoever|whatever|wherever)\b`)
	fence    = regexp.MustCompile("^ *(```+)")
	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	code     = regexp.MustCompile("(?s)``.+?``|`[^`]+`")
	link     = regexp.MustCompile(`\]\([^)]*\)`)
	word     = regexp.MustCompile(`[\pL\pN]+(?:['’.,-][\pL\pN]+)*`)
)

// A Page is the prose of a Markdown document: its text without code, tables and
// headings.
type Page struct {
	Paragraphs []string
}

// Parse takes the prose out of a document. A code span counts as one word.
func Parse(markdown string) Page {
	var p Page
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			p.Paragraphs = append(p.Paragraphs, plain(strings.Join(paragraph, " ")))
		}
		paragraph = nil
	}
	closing := ""
	for line := range strings.Lines(comment.ReplaceAllString(markdown, "")) {
		line = strings.TrimSpace(line)
		open := fence.FindStringSubmatch(line)
		switch {
		case closing != "":
			if strings.HasPrefix(line, closing) && strings.Trim(line, "`") == "" {
				closing = ""
			}
		case open != nil:
			end()
			closing = open[1]
		case line == "", strings.HasPrefix(line, "|"), strings.HasPrefix(line, "#"):
			end()
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
			end()
			paragraph = append(paragraph, line)
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return p
}

func plain(text string) string {
	text = code.ReplaceAllString(text, "code")
	text = link.ReplaceAllString(text, "]")
	return strings.NewReplacer("*", "", "[", "", "]", "", "&lt", "", "&gt", "", "&nbsp", "").Replace(text)
}

// Words counts the words of the prose.
func (p Page) Words() (n int) {
	for _, paragraph := range p.Paragraphs {
		n += len(word.FindAllString(paragraph, -1))
	}
	return n
}

// Negations are the paragraphs with a negation, once for each.
func (p Page) Negations() (found []string) {
	for _, paragraph := range p.Paragraphs {
		for _, at := range negation.FindAllStringIndex(paragraph, -1) {
			found = append(found, around(paragraph, at))
		}
	}
	return found
}

// Clauses are the places of the prose that have a clause in place of a noun, such as "what is said".
func (p Page) Clauses() (found []string) {
	for _, paragraph := range p.Paragraphs {
		for _, at := range clause.FindAllStringIndex(paragraph, -1) {
			found = append(found, around(paragraph, at))
		}
	}
	return found
}

// Semicolons are the places of the prose that have one.
func (p Page) Semicolons() (found []string) {
	for _, paragraph := range p.Paragraphs {
		for at, c := range paragraph {
			if c == ';' {
				found = append(found, around(paragraph, []int{at, at + 1}))
			}
		}
	}
	return found
}

// around is a place of a text with some of what stands before and behind it.
func around(text string, at []int) string {
	from, to := max(at[0]-50, 0), min(at[1]+40, len(text))
	return strings.ToValidUTF8("…"+text[from:at[0]]+"["+text[at[0]:at[1]]+"]"+text[at[1]:to]+"…", "")
}

// Allowed is how many negations a page of so many words may have. A page may
// always have two: a rate says little about a few sentences.
func Allowed(words int) int { return max(2, int(MaxNegations*float64(words)/100)) }
