package search

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"jp/conversation"
)

// maxTexts is how many texts a prefilter looks for at most; from there on, passing
// everything is as fast.
const maxTexts = 8

// prefilterOf finds texts such that each match of a pattern contains one of them. Only ASCII that JSON leaves
// as it is counts, since some texts are stored as JSON. If case is ignored, k and s do not count, since other
// letters fold to them.
func prefilterOf(tree *syntax.Regexp) conversation.Prefilter {
	texts := needed(tree.Simplify())
	if len(texts) > maxTexts {
		return conversation.Prefilter{}
	}
	var s conversation.Prefilter
	for _, t := range texts {
		s.Any = append(s.Any, t.text)
		s.Fold = s.Fold || t.fold
	}
	return s
}

// A part is a text that a match holds.
type part struct {
	text string
	fold bool
}

// needed are texts such that each match contains one of them, nil if unknown.
func needed(re *syntax.Regexp) []part {
	switch re.Op {
	case syntax.OpLiteral:
		return pieces(wordsOf(re))
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		return neededOfAll(re.Sub)
	case syntax.OpAlternate:
		if all := pieces(wordsOf(re)); all != nil {
			return all
		}
		var all []part
		for _, sub := range re.Sub {
			n := needed(sub)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// neededOfAll is needed for a sequence: the texts of one part, or of neighbours that together have few words.
func neededOfAll(subs []*syntax.Regexp) (best []part) {
	try := func(n []part) {
		if better(n, best) {
			best = n
		}
	}
	var run words
	for _, sub := range subs {
		next := wordsOf(sub)
		if longer := run.then(next); longer != nil {
			run = longer
			continue
		}
		try(pieces(run))
		if run = next; next == nil {
			try(needed(sub))
		}
	}
	try(pieces(run))
	return best
}

// better reports whether a set of texts passes less than another one.
func better(a, b []part) bool {
	switch {
	case a == nil || b == nil:
		return a != nil
	case shortest(a) != shortest(b):
		return shortest(a) > shortest(b)
	}
	return len(a) < len(b)
}

func shortest(set []part) int {
	n := len(set[0].text)
	for _, s := range set[1:] {
		n = min(n, len(s.text))
	}
	return n
}

// pieces are the parts of words that are stored unchanged, nil if a word has none. A word that contains the
// piece of another one needs none.
func pieces(all words) []part {
	var found []part
	for _, w := range all {
		var best, run []byte
		for _, r := range w.runes {
			if !plain(r, w.fold) {
				run = run[:0]
				continue
			}
			if w.fold {
				r = unicode.ToUpper(r)
			}
			run = append(run, byte(r))
			if len(run) > len(best) {
				best = append(best[:0], run...)
			}
		}
		p := part{text: string(best), fold: w.fold}
		if p.text == "" {
			return nil
		}
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b part) int { return cmp.Compare(len(a.text), len(b.text)) })
	var few []part
	for _, p := range found {
		if !slices.ContainsFunc(few, func(f part) bool { return f.fold == p.fold && strings.Contains(p.text, f.text) }) {
			few = append(few, p)
		}
	}
	return few
}

func plain(r rune, fold bool) bool {
	switch {
	case r < ' ' || r >= 0x7f || r == '"' || r == '\\':
		return false
	case fold && (r|0x20 == 'k' || r|0x20 == 's'):
		return false
	}
	return true
}
