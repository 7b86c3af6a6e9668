package redact

// words finds many words in a text at once, in any ASCII case. A word has at least two bytes.
type words struct {
	list  []string
	begin []uint16   // by the first two bytes in either case: 0, or 1 + the index in with
	with  [][]uint16 // words that begin with the same two bytes
	third []uint32   // a bit for the third byte of each of these, all bits for one without
}

func newWords(list []string) *words {
	w := &words{list: list, begin: make([]uint16, 1<<16)}
	for i, word := range list {
		a, b := word[0], word[1]
		if w.begin[pairOf(a, b)] == 0 {
			w.with, w.third = append(w.with, nil), append(w.third, 0)
			for _, pair := range []uint16{pairOf(a, b), pairOf(upper(a), b), pairOf(a, upper(b)), pairOf(upper(a), upper(b))} {
				w.begin[pair] = uint16(len(w.with))
			}
		}
		n := w.begin[pairOf(a, b)] - 1
		w.with[n] = append(w.with[n], uint16(i))
		if len(word) == 2 {
			w.third[n] = ^uint32(0)
		} else {
			w.third[n] |= 1 << (word[2] & 31) // letters of either case have the same five bits
		}
	}
	return w
}

// each reports every place of every word, in the order of places, until found
// returns false.
func (w *words) each(text string, found func(word, at int) bool) {
	for at := 0; at+1 < len(text); at++ {
		n := w.begin[pairOf(text[at], text[at+1])]
		if n == 0 || at+2 < len(text) && w.third[n-1]>>(text[at+2]&31)&1 == 0 {
			continue
		}
		for _, i := range w.with[n-1] {
			if hasPrefixFold(text[at:], w.list[i]) && !found(int(i), at) {
				return
			}
		}
	}
}

// in reports whether the text holds one of the words.
func (w *words) in(text string) bool {
	found := false
	w.each(text, func(int, int) bool {
		found = true
		return false
	})
	return found
}

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// hasPrefixFold reports whether text begins with a word in lower case.
func hasPrefixFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
