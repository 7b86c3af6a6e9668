package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Finding is a secret in a text: bytes Start to End.
type Finding struct {
	Rule       string
	Start, End int
}

// farLine is how much of a line is looked at around a keyword by a rule whose
// matches have no greatest length, and farText how much more where such a match
// can take several lines, and farValue beyond a value that is cut off there and
// goes on; in bytes.
const (
	farLine  = 16 << 10
	farText  = 1 << 10
	farValue = 64
)

// A Scanner finds secrets. The zero value is ready; goroutines may share it. It
// makes its rules ready when a text needs them.
type Scanner struct {
	once     sync.Once
	matchers []*matcher
	keywords *words
	uses     [][]uint16 // by keyword: the matchers
	every    []allowance
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
		for _, a := range everyRule {
			s.every = append(s.every, newAllowance(a))
		}
	})
}

// Scan finds the secrets of a text, in order and without overlap. It takes any
// bytes; a finding never begins or ends within a character.
func (s *Scanner) Scan(text string) []Finding {
	s.ready()
	var found []Finding
	for i, search := range s.searches(text) {
		found = s.matchers[i].scan(found, text, search.windows, s.every)
		found = s.matchers[i].scanValues(found, text, search.values, s.every)
	}
	return settle(text, append(found, keyBlocks(text)...))
}

// A window is a part of a text that a rule looks at.
type window struct{ from, to int }

// A search is what one matcher has to look at in a text.
type search struct {
	windows []window
	values  []window // from a keyword to behind the greatest value; only for a matcher with from
}

// searches are what each matcher has to look at.
func (s *Scanner) searches(text string) map[uint16]*search {
	all := map[uint16]*search{}
	s.keywords.each(text, func(word, at int) bool {
		for _, i := range s.uses[word] {
			if m := s.matchers[i]; m.possible(text, at, at+len(s.keywords.list[word])) {
				if all[i] == nil {
					all[i] = &search{}
				}
				m.look(all[i], text, at, at+len(s.keywords.list[word]))
			}
		}
		return true
	})
	return all
}

// possible is a quick check whether a match can belong to a keyword.
func (m *matcher) possible(text string, at, end int) bool {
	if m.assigns && valueAt(text, end) < 0 || m.can != nil && !m.can(text, end) {
		return false
	}
	m.ready()
	return !m.solid || m.near > 0 || solid(text, at, m.least)
}

// look adds what a keyword gives to look at.
func (m *matcher) look(s *search, text string, at, end int) {
	if m.from != nil {
		s.values = append(s.values, window{at, min(len(text), end+m.reach+farValue)})
		return
	}
	if n := len(s.windows); n > 0 && end+m.reach+m.near <= s.windows[n-1].to {
		return
	}
	s.windows = join(s.windows, m.window(text, at, end))
}

// join adds a window behind or into the last one.
func join(list []window, w window) []window {
	if n := len(list); n > 0 && w.from <= list[n-1].to {
		list[n-1].from, list[n-1].to = min(list[n-1].from, w.from), max(list[n-1].to, w.to)
		return list
	}
	return append(list, w)
}

// window is where a match can be that belongs to a keyword.
func (m *matcher) window(text string, at, end int) window {
	w := window{max(0, at-m.reach-m.near), min(len(text), end+m.reach+m.near)}
	if m.endless {
		w = widen(text, w, m.solid || m.assigns)
	}
	for w.from > 0 && w.from < len(text) && !utf8.RuneStart(text[w.from]) {
		w.from--
	}
	return w
}

// widen extends a window to whole lines, and further where a match can go on in
// the next.
func widen(text string, w window, line bool) window {
	if !line {
		w.from, w.to = max(0, w.from-farText), min(len(text), w.to+farText)
	}
	if w.from > 0 {
		back := text[max(0, w.from-farLine):w.from]
		w.from -= len(back) - 1 - strings.LastIndexByte(back, '\n')
	}
	ahead := text[w.to:min(len(text), w.to+farLine)]
	if i := strings.IndexByte(ahead, '\n'); i >= 0 {
		ahead = ahead[:i]
	}
	w.to += len(ahead)
	return w
}

// valueAt is where the value begins that an operator gives to a name with a
// keyword, which ends at end; -1 where there is none.
func valueAt(text string, end int) int {
	i := end
	for i < len(text) && i < end+48 && (wordByte(text[i]) || strings.IndexByte(" \t.-", text[i]) >= 0) {
		i++
	}
	for n := 0; n < 3 && i < len(text) && strings.IndexByte(" \t\r\n\f'\"", text[i]) >= 0; n++ {
		i++
	}
	begin := i
	for i < len(text) && i < begin+5 && strings.IndexByte("=>:|?,", text[i]) >= 0 {
		i++
	}
	if i == begin {
		return -1
	}
	for n := 0; n < 6 && i < len(text) && strings.IndexByte("`'\" \t\r\n\f=", text[i]) >= 0; n++ {
		i++
	}
	value := i
	for i < len(text) && i < value+8 && text[i] > ' ' && text[i] != '"' && text[i] != '\'' {
		i++
	}
	if i < value+8 {
		return -1
	}
	return value
}

// solid reports whether least bytes around at hold neither white space nor a quote.
func solid(text string, at, least int) bool {
	from, to := at, at
	for from > 0 && at-from < least && solidByte(text[from-1]) {
		from--
	}
	for to < len(text) && to-from < least && solidByte(text[to]) {
		to++
	}
	return to-from >= least
}

func solidByte(c byte) bool { return c > ' ' && c != '"' && c != '\'' }

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '_' || lower(c) >= 'a' && lower(c) <= 'z'
}

// scan adds what the rule finds in the windows.
func (m *matcher) scan(found []Finding, text string, list []window, every []allowance) []Finding {
	for _, w := range list {
		for _, at := range m.re.FindAllStringSubmatchIndex(text[w.from:w.to], -1) {
			c := m.candidate(text, w, at)
			if c.secret != "" && !m.refuses(c, every) {
				found = append(found, Finding{m.id, c.start, c.end})
			}
		}
	}
	return found
}

// scanValues adds the values that the rule finds. A name with several keywords
// has one value.
func (m *matcher) scanValues(found []Finding, text string, list []window, every []allowance) []Finding {
	end := 0
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
		if c.secret != "" && !m.refuses(c, every) {
			found = append(found, Finding{m.id, c.start, c.end})
		}
	}
	return found
}

// candidate is a match in a window, which may have cut off its end.
func (m *matcher) candidate(text string, w window, at []int) candidate {
	c := candidate{text: text, match: strings.Trim(text[w.from+at[0]:w.from+at[1]], "\n")}
	group := m.group
	for n := 1; group == 0 && 2*n < len(at); n++ {
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

func (m *matcher) refuses(c candidate, every []allowance) bool {
	if m.entropy > 0 && entropy(c.secret) <= m.entropy || m.refuse != nil && m.refuse(c) {
		return true
	}
	for _, a := range every {
		if a.allows(c) {
			return true
		}
	}
	for _, a := range m.allowed {
		if a.allows(c) {
			return true
		}
	}
	return false
}

// settle orders findings, makes one of those that overlap, and takes
// placeholders out of them.
func settle(text string, found []Finding) []Finding {
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
	return outside(text, out)
}

// leastPiece is how long a part of a secret must be beside a placeholder.
const leastPiece = 16

// outside cuts placeholders out of findings. What remains of one is a secret of
// its own if it is long enough to be one.
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
