package redact

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a search around a keyword, in bytes. farLine bounds the part of a line for a rule whose matches
// have no greatest length. farText extends it if such a match can take several lines, and farValue extends it
// behind a value that is cut off there.
const (
	farLine  = 16 << 10
	farText  = 1 << 10
	farValue = 64
)

// A window is a part of a text that a rule looks at.
type window struct{ from, to int }

// A search is the work of one matcher in a text.
type search struct {
	windows []window
	found   []window // findings of the matcher's own search
	values  []window // from a keyword to behind the greatest value; only for a matcher with from
}

// searches are the searches of the matchers in a text.
func (s *Scanner) searches(text string) map[uint16]*search {
	var all map[uint16]*search
	s.keywords.each(text, func(word, at int) bool {
		for _, i := range s.uses[word] {
			if m := s.matchers[i]; m.find != nil {
				if found := m.find(nil, text, at, at+len(s.keywords.list[word])); len(found) > 0 {
					if all == nil {
						all = map[uint16]*search{}
					}
					if all[i] == nil {
						all[i] = &search{}
					}
					all[i].found = append(all[i].found, found...)
				}
				continue
			}
			if m := s.matchers[i]; m.possible(text, at, at+len(s.keywords.list[word])) {
				if all == nil {
					all = map[uint16]*search{}
				}
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

// look adds the windows of a keyword.
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

// window is the possible place of a match for a keyword.
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

// widen extends a window to whole lines, and further if a match can go on in the next.
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

// valueAt is the beginning of the value that an operator gives to a name with a keyword, which ends at end.
// It is -1 if there is none.
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
