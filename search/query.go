package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

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

// Options of a search. The zero value finds nothing: patterns are required.
type Options struct {
	Patterns []string // a line matches if one of them does
	Regexp   bool     // they are regular expressions (RE2) instead of plain text
	Case     Case
	Scopes   []Scope // empty: all
	Before   int     // lines of context before a match, within its event
	After    int     // and behind it
	Max      int     // matching lines per conversation, 0 for all
	Count    bool    // only the number of matching lines: results have no lines
	// Without reports the tools whose calls are left out: arguments, results, and questions about them. Nil:
	// none is.
	Without func(tool string) bool
}

// A Query is a compiled search. It may be used by several goroutines.
type Query struct {
	opts    Options
	re      *regexp.Regexp
	scopes  map[Scope]bool
	filter  conversation.Prefilter
	needed  []Needle // of the prefilter: one of them stands in each line that matches
	exact   bool     // the places of the needed text are exactly the matches
	counted sync.Map // by event: the number of matching lines of a text that was dropped
	whole   bool     // a text without a matching line does not match as a whole
}

// Compile checks the options. It fails with ErrPattern, ErrText, ErrEmpty or
// ErrScope.
func Compile(o Options) (*Query, error) {
	scopes, err := scopeSet(o.Scopes)
	if err != nil {
		return nil, err
	}
	if len(o.Patterns) == 0 {
		return nil, ErrEmpty
	}
	tree, err := o.tree()
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	q := &Query{opts: o, re: re, scopes: scopes, filter: prefilterOf(tree), whole: !anchored(tree)}
	for _, text := range q.filter.Any {
		q.needed = append(q.needed, NewNeedle(text, q.filter.Fold))
	}
	if o.Count && o.Max == 0 {
		q.filter.Reduce = q.reduce
	}
	q.exact = tree.Op == syntax.OpLiteral && len(q.needed) == 1 && len(q.filter.Any[0]) == len(string(tree.Rune))
	return q, nil
}

// tree is all patterns as one expression.
func (o Options) tree() (*syntax.Regexp, error) {
	flags := syntax.Perl
	if !o.Regexp {
		flags |= syntax.Literal
	}
	if o.Case == Ignore {
		flags |= syntax.FoldCase
	}
	trees, err := parse(o.Patterns, flags)
	if err == nil && o.Case == Smart && !slices.ContainsFunc(trees, hasCapital) {
		trees, err = parse(o.Patterns, flags|syntax.FoldCase)
	}
	if err != nil || len(trees) == 1 {
		return trees[0], err
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: trees}, nil
}

// parse reads patterns one by one, so that each is valid on its own.
func parse(patterns []string, flags syntax.Flags) ([]*syntax.Regexp, error) {
	trees := make([]*syntax.Regexp, len(patterns))
	for i, p := range patterns {
		if p == "" {
			return trees, ErrEmpty
		}
		if !utf8.ValidString(p) {
			return trees, fmt.Errorf("%w: %q", ErrText, p)
		}
		tree, err := syntax.Parse(p, flags)
		if err != nil {
			return trees, fmt.Errorf("%w: %q: %s", ErrPattern, p, mistake(err))
		}
		trees[i] = withoutGroups(tree)
	}
	return trees, nil
}

// withoutGroups makes all capturing groups plain: patterns may use the same names, and the content of a group
// is never used.
func withoutGroups(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	for i, sub := range re.Sub {
		re.Sub[i] = withoutGroups(sub)
	}
	return re
}

// mistake describes the mistake in an expression, and its place.
func mistake(err error) string {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err.Error()
	}
	return fmt.Sprintf("%s in %q", bad.Code, bad.Expr)
}

// hasCapital reports whether an expression asks for a capital letter.
func hasCapital(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if unicode.IsUpper(r) && re.Flags&syntax.FoldCase == 0 {
				return true
			}
		}
	}
	if re.Op == syntax.OpCharClass && capitalClass(re.Rune) {
		return true
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

// capitalClass reports whether a class contains a capital without its small letter or, if it is all except
// some letters, whether capitals are among those.
func capitalClass(ranges []rune) bool {
	negated := len(ranges) > 0 && ranges[len(ranges)-1] == unicode.MaxRune
	for r := 'A'; r <= lastCased; r++ {
		if !unicode.IsUpper(r) || unicode.ToLower(r) == r {
			continue
		}
		upper, lower := inClass(ranges, r), inClass(ranges, unicode.ToLower(r))
		if upper && !lower && !negated || lower && !upper && negated {
			return true
		}
	}
	return false
}

// lastCased is behind the scripts that most people write capitals in.
const lastCased = 0x58f

func inClass(ranges []rune, r rune) bool {
	for i := 0; i < len(ranges) && ranges[i] <= r; i += 2 {
		if r <= ranges[i+1] {
			return true
		}
	}
	return false
}

// Prefilter is the filter for stored events.
func (q *Query) Prefilter() conversation.Prefilter { return q.filter }

// Searches reports whether a scope is searched.
func (q *Query) Searches(s Scope) bool { return q.scopes[s] }
