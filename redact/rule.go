package redact

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A rule describes one kind of secret.
type rule struct {
	id       string
	regex    string   // the secret is its first group with text, or all of it
	keywords []string // in lower case; one of them stands in or near each match
	group    int      // the secret's group, if it is not the first
	whole    bool     // the secret is all of the match, regardless of groups
	entropy  float64  // bits per byte that the secret must exceed
	path     string   // gitleaks looks only into files of this name; here texts have none
	near     int      // greatest distance of a match from a keyword, in bytes, if it does not contain one
	loose    bool     // the name before an operator can hold anything
	allow    []allowlist
	refuse   func(found candidate) bool // further findings to drop
	// find adds the secrets of a keyword, in place of an expression.
	find func(found []window, text string, at, end int) []window
	can  func(text string, end int) bool // whether a match is possible with a keyword that ends there; nil: it is
}

// An allowlist describes findings to drop.
type allowlist struct {
	target    string // target of the expressions: the secret (""), the "match" or its "line"
	and       bool   // expressions and stop words must both hold
	regexes   []string
	stopwords string // separated by spaces; for the secret
}

// A matcher is a rule that is made ready when its keyword is met first.
type matcher struct {
	rule
	assigns bool // the expression wants a name, an operator and a value
	once    sync.Once
	re      *regexp.Regexp
	from    *regexp.Regexp // matches from a keyword on, if that is equivalent; else nil
	reach   int            // bytes that a match can take
	endless bool           // it can take more
	solid   bool           // it contains neither white space nor a quote
	least   int            // bytes that a match takes at least
	allowed func() []allowance
}

// The parts of gitleaks' expressions before a keyword in a name, between the name and its value, and behind
// the value.
const (
	prefix   = `[\w.-]{0,50}?`
	operator = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	ending   = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
)

func newMatcher(r rule) *matcher { return &matcher{rule: r, assigns: assigns(r)} }

// assigns reports whether each match has a name with a keyword, an operator and
// a value.
func assigns(r rule) bool {
	at := strings.Index(r.regex, operator)
	if at < 0 || r.loose || strings.Count(r.regex, ending) > 1 {
		return false
	}
	value := strings.ToLower(r.regex[at:])
	return !slices.ContainsFunc(r.keywords, func(word string) bool { return strings.Contains(value, word) })
}

// ready compiles the rule's expressions.
func (m *matcher) ready() {
	m.once.Do(func() {
		expr := strings.ReplaceAll(m.regex, ending, endingOf(m.rule))
		m.re = regexp.MustCompile(expr)
		if m.assigns && strings.Contains(m.regex, prefix) {
			m.from = regexp.MustCompile(`\A(?:` + strings.ReplaceAll(expr, prefix, "") + `)`)
		}
		tree, _ := syntax.Parse(strings.ReplaceAll(m.regex, ending, ""), syntax.Perl)
		s := spanOf(tree)
		m.reach, m.endless, m.least, m.solid = s.most+8, s.endless, s.least, !s.spaces
		m.allowed = whenAsked(m.allow)
	})
}

// A span is how many bytes an expression can match.
type span struct {
	least, most int
	endless     bool // most does not hold: some part repeats without limit
	spaces      bool // it can match white space or a quote
}

// spanOf measures an expression.
func spanOf(re *syntax.Regexp) span {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		return span{least: len(text), most: len(text), spaces: strings.ContainsAny(text, " \n\"'")}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return span{least: 1, most: widest(re), spaces: matchesSpace(re)}
	case syntax.OpCapture:
		return spanOf(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return repeated(re)
	case syntax.OpAlternate:
		s := span{least: 1 << 20}
		for _, sub := range re.Sub {
			other := spanOf(sub)
			s = span{min(s.least, other.least), max(s.most, other.most), s.endless || other.endless, s.spaces || other.spaces}
		}
		return s
	}
	var s span
	for _, sub := range re.Sub {
		next := spanOf(sub)
		s = span{s.least + next.least, s.most + next.most, s.endless || next.endless, s.spaces || next.spaces}
	}
	return s
}

func repeated(re *syntax.Regexp) span {
	from, to := 0, -1
	switch re.Op {
	case syntax.OpPlus:
		from = 1
	case syntax.OpQuest:
		to = 1
	case syntax.OpRepeat:
		from, to = re.Min, re.Max
	}
	s := spanOf(re.Sub[0])
	if to < 0 {
		s.endless, to = true, max(from, 1)
	}
	s.least, s.most = s.least*from, s.most*to
	return s
}

// widest is the greatest number of bytes of a character of a class. Characters that are there only because
// they fold to an ASCII letter do not count: no secret has them.
func widest(re *syntax.Regexp) int {
	if n := len(re.Rune); re.Op == syntax.OpCharClass && n > 0 && re.Rune[n-1] <= '\u212a' {
		return 1
	}
	return utf8.UTFMax
}

func matchesSpace(re *syntax.Regexp) bool {
	if re.Op != syntax.OpCharClass {
		return true
	}
	for i := 0; i < len(re.Rune); i += 2 {
		for _, r := range "\n \"'" {
			if re.Rune[i] <= r && r <= re.Rune[i+1] {
				return true
			}
		}
	}
	return false
}
