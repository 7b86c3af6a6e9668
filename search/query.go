package search

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"jp/conversation"
)

// Case is how letters are compared.
type Case int

// The ways to compare: Smart ignores case unless a pattern has a capital.
const (
	Smart Case = iota
	Ignore
	Sensitive
)

// Options of a search. The zero value finds nothing: patterns are needed.
type Options struct {
	Patterns []string // a line matches if one of them does
	Regexp   bool     // they are regular expressions (RE2), not plain text
	Case     Case
	Scopes   []Scope // none: all
	Before   int     // lines of context before a match, within its event
	After    int     // and behind it
	Max      int     // matching lines per conversation, 0 for all
}

// A Query is a compiled search. It may be used by several goroutines.
type Query struct {
	opts   Options
	re     *regexp.Regexp
	scopes map[Scope]bool
	sieve  conversation.Sieve
	whole  bool // a text in which no line matches does not match as a whole
}

// Compile checks the options. It fails with ErrPattern, ErrEmpty or ErrScope.
func Compile(o Options) (*Query, error) {
	scopes, err := scopeSet(o.Scopes)
	if err != nil {
		return nil, err
	}
	if len(o.Patterns) == 0 {
		return nil, ErrEmpty
	}
	parts := make([]string, len(o.Patterns))
	for i, p := range o.Patterns {
		if p == "" {
			return nil, ErrEmpty
		}
		if !o.Regexp {
			p = regexp.QuoteMeta(p)
		}
		if _, err := regexp.Compile(p); err != nil {
			return nil, fmt.Errorf("%w: %q: %s", ErrPattern, p, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		parts[i] = "(?:" + p + ")"
	}
	text := strings.Join(parts, "|")
	if o.Case == Ignore || o.Case == Smart && !capital(text) {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	return &Query{opts: o, re: re, scopes: scopes, sieve: sieveOf(tree), whole: !anchored(tree)}, nil
}

// capital reports whether a pattern asks for a capital letter.
func capital(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && hasCapital(tree)
}

func hasCapital(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if unicode.IsUpper(r) && re.Flags&syntax.FoldCase == 0 {
				return true
			}
		}
	}
	if re.Op == syntax.OpCharClass && len(re.Rune) <= 8 { // written out, as in [A-Z]; \w and \S are longer or negated
		for i := 0; i < len(re.Rune); i += 2 {
			if unicode.IsUpper(re.Rune[i]) && unicode.IsUpper(re.Rune[i+1]) && !hasLower(re.Rune) {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, hasCapital)
}

// anchored reports whether a pattern asks for the begin or the end of its line.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}

func hasLower(ranges []rune) bool {
	for _, r := range ranges {
		if unicode.IsLower(r) {
			return true
		}
	}
	return false
}

// Sieve is what the stored form of an event must hold to matter.
func (q *Query) Sieve() conversation.Sieve { return q.sieve }

// Searches reports whether a scope is searched.
func (q *Query) Searches(s Scope) bool { return q.scopes[s] }

// searchesEvents reports whether anything but titles is searched.
func (q *Query) searchesEvents() bool {
	return len(q.scopes) > 1 || !q.scopes[Title]
}
