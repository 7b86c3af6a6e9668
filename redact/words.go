package redact

// words finds many words in a text at once, in any ASCII case. A word has at least two bytes.
type words struct {
	list  []string
	begin []uint16   // by the first two bytes: 0, or 1 + the index in with
	with  [][]uint16 // words that begin with the same two bytes
}

func newWords(list []string) *words {
	w := &words{list: list, begin: make([]uint16, 1<<16)}
	for i, word := range list {
		pair := pairAt(word, 0)
		if w.begin[pair] == 0 {
			w.with = append(w.with, nil)
			w.begin[pair] = uint16(len(w.with))
		}
		n := w.begin[pair] - 1
		w.with[n] = append(w.with[n], uint16(i))
	}
	return w
}

// each reports every place of every word, in the order of places, until found
// returns false.
func (w *words) each(text string, found func(word, at int) bool) {
	for at := 0; at+1 < len(text); at++ {
		n := w.begin[pairAt(text, at)]
		if n == 0 {
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

func pairAt(text string, at int) uint16 {
	return uint16(lower(text[at]))<<8 | uint16(lower(text[at+1]))
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
