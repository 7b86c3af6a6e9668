package redact

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// A Finding is a secret in a text: bytes Start to End.
type Finding struct {
	Rule       string
	Start, End int
}

// A Scanner finds secrets. The zero value is ready; goroutines may share it. It
// makes its rules ready when a text needs them.
type Scanner struct {
	once     sync.Once
	matchers []*matcher
	keywords *words
	uses     [][]uint16 // by keyword: the matchers
}

func (s *Scanner) ready() {
	s.once.Do(func() {
		index := map[string]int{}
		var list []string
		for _, r := range rules() {
			for _, word := range r.keywords {
				if _, known := index[word]; !known {
					index[word] = len(list)
					list, s.uses = append(list, word), append(s.uses, nil)
				}
				s.uses[index[word]] = append(s.uses[index[word]], uint16(len(s.matchers)))
			}
			s.matchers = append(s.matchers, newMatcher(r))
		}
		s.keywords = newWords(list)
	})
}

// leastText is the least length of a text with a secret and its mark.
const leastText = 8

// Scan finds the secrets of a text, in order and without overlap. It takes any bytes. A finding begins and
// ends between characters. A secret may contain escape sequences of terminals.
func (s *Scanner) Scan(text string) []Finding {
	plain := withoutEscapes(text)
	found := s.scan(plain.text)
	for i, f := range found {
		found[i].Start, found[i].End = plain.origin(f.Start, f.End)
	}
	return found
}

func (s *Scanner) scan(text string) []Finding {
	if len(text) < leastText {
		return nil
	}
	s.ready()
	found := keyBlocks(text)
	text = withoutNewlines(text)
	found = append(found, dotted(text)...)
	searches := s.searches(text)
	var last *matcher // asks most of a value
	var values []window
	for i, search := range searches {
		m := s.matchers[i]
		for _, w := range search.found {
			found = append(found, Finding{m.id, w.from, w.to})
		}
		if m.id == genericRule && len(search.values) > 0 {
			last, values = m, search.values
			continue
		}
		found = m.scan(found, text, search.windows)
		found = m.scanValues(found, text, search.values)
	}
	found = union(found)
	if last != nil {
		found = last.scanValues(found, text, values)
	}
	return mergeFindings(text, found)
}

// scan adds the rule's findings in the windows.
func (m *matcher) scan(found []Finding, text string, list []window) []Finding {
	for _, w := range list {
		for _, at := range m.re.FindAllStringSubmatchIndex(text[w.from:w.to], -1) {
			c := m.candidate(text, w, at)
			if c.secret != "" && !m.refuses(c) {
				found = append(found, Finding{m.id, c.start, c.end})
			}
		}
	}
	return found
}

// scanValues adds the values that the rule finds. A name with several keywords
// has one value. A value of [genericRule] in the middle of a finding adds nothing to it.
func (m *matcher) scanValues(found []Finding, text string, list []window) []Finding {
	end, known := 0, found
	if m.id != genericRule {
		known = nil
	}
	for _, w := range list {
		if w.from < end {
			continue
		}
		at := m.from.FindStringSubmatchIndex(text[w.from:w.to])
		if at == nil {
			continue
		}
		c := m.candidate(text, w, at)
		end = c.end
		begin := w.from
		for begin > 0 && w.from-begin < 50 && (wordByte(text[begin-1]) || text[begin-1] == '.' || text[begin-1] == '-') {
			begin--
		}
		c.match = text[begin:w.from] + c.match
		if covered(known, c) {
			continue
		}
		if c.secret != "" && !m.refuses(c) {
			found = append(found, Finding{m.id, c.start, c.end})
		}
	}
	return found
}

// candidate is a match in a window, which may have cut off its end.
func (m *matcher) candidate(text string, w window, at []int) candidate {
	c := candidate{text: text, match: strings.Trim(text[w.from+at[0]:w.from+at[1]], "\n")}
	group := m.group
	for n := 1; group == 0 && !m.whole && 2*n < len(at); n++ {
		if at[2*n+1] > at[2*n] {
			group = n
		}
	}
	c.start, c.end = w.from+at[2*group], w.from+at[2*group+1]
	for c.end == w.to && c.end < len(text) && tokenByte(text[c.end]) {
		c.end++
		w.to++
	}
	for c.start < c.end && strings.IndexByte("\n\"'`", text[c.start]) >= 0 {
		c.start++
	}
	for c.start < c.end && strings.IndexByte("\n\"'`", text[c.end-1]) >= 0 {
		c.end--
	}
	c.secret = text[c.start:c.end]
	return c
}

func tokenByte(c byte) bool { return wordByte(c) || strings.IndexByte("+/=.-~%", c) >= 0 }

func (m *matcher) refuses(c candidate) bool {
	if m.entropy > 0 && entropy(c.secret) <= m.entropy || m.refuse != nil && m.refuse(c) || published(c.secret) {
		return true
	}
	allows := func(a allowance) bool { return a.allows(c) }
	return slices.ContainsFunc(allowedEverywhere(), allows) || slices.ContainsFunc(m.allowed(), allows)
}

// covered reports whether one of a union of findings holds a candidate.
func covered(known []Finding, c candidate) bool {
	i := sort.Search(len(known), func(i int) bool { return known[i].Start > c.start })
	return i > 0 && known[i-1].End >= c.end
}

// mergeFindings is the union of findings without placeholders.
func mergeFindings(text string, found []Finding) []Finding {
	return outside(text, union(found))
}

// union orders findings, and makes one of those that overlap.
func union(found []Finding) []Finding {
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End, strings.Compare(a.Rule, b.Rule)) })
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.Start >= last.End {
			out = append(out, f)
			continue
		}
		if rank(f.Rule) < rank(last.Rule) {
			last.Rule = f.Rule
		}
		last.End = max(last.End, f.End)
	}
	return out
}

// leastPiece is how long a part of a secret must be beside a placeholder.
const leastPiece = 16

// outside cuts placeholders out of findings. The rest of one is a secret of its own if it is long enough.
func outside(text string, found []Finding) []Finding {
	var out []Finding
	for _, f := range found {
		held := placeholders(text[f.Start:f.End])
		if len(held) == 0 {
			out = append(out, f)
			continue
		}
		from := f.Start
		for _, p := range append(held, window{f.End - f.Start, f.End - f.Start}) {
			if piece := (Finding{f.Rule, from, f.Start + p.from}); piece.End-piece.Start >= leastPiece {
				out = append(out, piece)
			}
			from = f.Start + p.to
		}
	}
	return out
}
