package conversation

import "strings"

// rewriteJSON changes the strings and the keys of a JSON value. Everything between them stays as it is
// written. ok is false if it is not the JSON that jp reads.
func rewriteJSON(name string, value []byte, f Rewriter) (out []byte, ok bool) {
	if CheckJSON(value) != nil {
		return nil, false
	}
	w := jsonRewriter{in: value, to: f}
	w.value(name)
	if w.out == nil {
		return value, true
	}
	return append(w.out, value[w.copied:]...), true
}

// A jsonRewriter walks JSON that was checked.
type jsonRewriter struct {
	in     []byte
	pos    int
	out    []byte // nil before the first change
	copied int    // bytes of in that are in out
	to     Rewriter
}

// next skips the bytes between tokens.
func (w *jsonRewriter) next() byte {
	for w.pos < len(w.in) && strings.IndexByte(" \t\r\n,:", w.in[w.pos]) >= 0 {
		w.pos++
	}
	if w.pos == len(w.in) {
		return 0
	}
	return w.in[w.pos]
}

func (w *jsonRewriter) value(name string) {
	switch w.next() {
	case '{':
		for w.pos++; w.next() != '}'; {
			w.value(w.text(""))
		}
		w.pos++
	case '[':
		w.list(name)
	case '"':
		w.text(name)
	default:
		for w.pos < len(w.in) && strings.IndexByte(" \t\r\n,]}", w.in[w.pos]) < 0 {
			w.pos++
		}
	}
}

// list reads an array. An element behind one that begins with a dash, as an
// option on a command line does, has that for a name.
func (w *jsonRewriter) list(name string) {
	option := ""
	for w.pos++; w.next() != ']'; {
		called := name
		if option != "" {
			called = option
		}
		option = ""
		if w.in[w.pos] != '"' {
			w.value(name)
			continue
		}
		if text := w.text(called); strings.HasPrefix(text, "-") && len(text) < 64 {
			option = strings.TrimLeft(text, "-")
		}
	}
	w.pos++
}

// text changes one string, and returns its old value.
func (w *jsonRewriter) text(name string) string {
	begin := w.pos
	s := scanner{in: w.in, pos: begin}
	was, _ := s.str()
	w.pos = s.pos
	if text := w.to(name, was); text != was {
		w.out = append(w.out, w.in[w.copied:begin]...)
		w.out = appendString(w.out, text)
		w.copied = w.pos
	}
	return was
}

// RewriteJSON changes the strings and the keys of a JSON value, as
// [Event.Rewrite] does. It returns any other text as it is.
func RewriteJSON(value []byte, f Rewriter) []byte {
	if out, ok := rewriteJSON("", value, f); ok {
		return out
	}
	return value
}
