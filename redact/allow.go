package redact

import (
	"math"
	"regexp"
	"strings"
	"sync"
)

// A candidate is a match of a rule's expression.
type candidate struct {
	text       string // all of the text
	match      string
	secret     string
	start, end int // of the secret in the text
}

// line is the line of the secret's beginning, or the surroundings in a long one.
func (c candidate) line() string {
	const far = 500
	from, to := max(0, c.start-far), min(len(c.text), c.end+far)
	if i := strings.LastIndexByte(c.text[from:c.start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(c.text[c.start:to], '\n'); i >= 0 {
		to = c.start + i
	}
	return c.text[from:to]
}

// before is the rest of the line before the secret, or the end of a long one.
func (c candidate) before() string {
	line := c.text[max(0, c.start-80):c.start]
	return line[strings.LastIndexByte(line, '\n')+1:]
}

// An allowance is an allowlist that is made ready.
type allowance struct {
	target  string
	and     bool
	regexes []*regexp.Regexp
	words   *words
}

func newAllowance(a allowlist) allowance {
	ready := allowance{target: a.target, and: a.and}
	for _, expr := range a.regexes {
		if expr == `(?i)^true|false|null$` {
			expr = `(?i)^(?:true|false|null)$` // and no secret contains such letters
		}
		ready.regexes = append(ready.regexes, regexp.MustCompile(expr))
	}
	if list := strings.Fields(a.stopwords); len(list) > 0 {
		ready.words = newWords(list)
	}
	return ready
}

// whenAsked prepares allowlists at their first use: most texts contain no candidate for a secret.
func whenAsked(lists []allowlist) func() []allowance {
	return sync.OnceValue(func() []allowance {
		var ready []allowance
		for _, a := range lists {
			ready = append(ready, newAllowance(a))
		}
		return ready
	})
}

// allowedEverywhere holds for every rule.
var allowedEverywhere = whenAsked(everyRule)

func (a allowance) allows(c candidate) bool {
	target := c.secret
	switch a.target {
	case "match":
		target = c.match
	case "line":
		target = c.line()
	}
	expr := false
	for _, re := range a.regexes {
		expr = expr || re.MatchString(target)
	}
	word := a.words != nil && a.words.in(c.secret)
	if a.and {
		return (expr || len(a.regexes) == 0) && (word || a.words == nil)
	}
	return expr || word
}

// entropy is Shannon's, in bits per byte.
func entropy(text string) float64 {
	var count [256]int
	for i := 0; i < len(text); i++ {
		count[text[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
