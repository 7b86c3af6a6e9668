package search

import (
	"regexp/syntax"
	"slices"
)

// words are all texts that an expression matches, if they are few. Nil means unknown.
type words []word

type word struct {
	runes []rune
	fold  bool // in either case
}

// nothing is the empty text.
var nothing = words{{}}

// wordsOf reads an expression. Conditions on a place, such as \b, count as the empty text: then some words do
// not really match.
func wordsOf(re *syntax.Regexp) words {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return nothing
	case syntax.OpLiteral:
		return words{{re.Rune, re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCharClass:
		var all words
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if all = append(all, word{runes: []rune{r}}); len(all) > maxTexts {
					return nil
				}
			}
		}
		return all
	case syntax.OpCapture:
		return wordsOf(re.Sub[0])
	case syntax.OpQuest:
		return nothing.or(wordsOf(re.Sub[0]))
	case syntax.OpConcat:
		all := nothing
		for _, sub := range re.Sub {
			all = all.then(wordsOf(sub))
		}
		return all
	case syntax.OpAlternate:
		all := wordsOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			all = all.or(wordsOf(sub))
		}
		return all
	}
	return nil
}

// then are the words with others behind them.
func (w words) then(next words) (all words) {
	if len(w)*len(next) > maxTexts {
		return nil
	}
	for _, a := range w {
		for _, b := range next {
			all = append(all, word{runes: slices.Concat(a.runes, b.runes), fold: a.fold || b.fold})
		}
	}
	return all
}

// or are the words and others.
func (w words) or(others words) words {
	if w == nil || others == nil || len(w)+len(others) > maxTexts {
		return nil
	}
	return slices.Concat(w, others)
}
