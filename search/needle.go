package search

import (
	"bytes"
	"slices"
	"unsafe"
)

// A Needle is a text to look for in bytes, or one of some that begin alike, perhaps without regard to case. It
// looks for the byte of the text that is likely to be the rarest, and compares the rest only at such a byte.
type Needle struct {
	text []byte   // lower case if case is ignored
	ends [][]byte // one of which has to follow; empty: any text may follow
	fold bool
	rare int // index of the byte that is looked for first
}

// NewNeedle prepares a text, which must not be empty. With fold, ASCII letters are compared without case.
func NewNeedle(text string, fold bool) Needle {
	n := Needle{text: []byte(text), fold: fold}
	for i, b := range n.text {
		if fold {
			n.text[i] = Lower(b)
		}
		if rarity[Lower(b)] < rarity[Lower(n.text[n.rare])] {
			n.rare = i
		}
	}
	return n
}

// MergeNeedles joins needles that begin alike up to behind their rarest byte. The joined needle is at the places of
// each of them, and one look checks the bytes in between.
func MergeNeedles(all []Needle) (few []Needle) {
	for _, n := range all {
		i := slices.IndexFunc(few, func(f Needle) bool {
			return f.fold == n.fold && f.rare == n.rare && alike(f.text, n.text) > n.rare
		})
		if i < 0 {
			few = append(few, n)
			continue
		}
		few[i] = few[i].or(n)
	}
	return few
}

// or is the needle of the common beginning of two, with their possible endings.
func (n Needle) or(other Needle) Needle {
	common := alike(n.text, other.text)
	both := Needle{text: n.text[:common], fold: n.fold, rare: n.rare}
	for _, one := range []Needle{n, other} {
		rest := one.text[common:]
		if len(one.ends) == 0 {
			both.ends = append(both.ends, rest)
		}
		for _, end := range one.ends {
			both.ends = append(both.ends, slices.Concat(rest, end))
		}
	}
	return both
}

// alike is how many bytes two texts begin with that are the same.
func alike(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Lower is a byte, or its small letter if it is an ASCII capital.
func Lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// rarity ranks bytes by how often they occur in prose, code and hex: the higher,
// the more often. Other bytes are rare.
var rarity = func() (rank [256]byte) {
	for i, b := range []byte("#$&!?@%^~+|<>`;{}[]qzjxQZ'*()=:/kvw-,.\"_yg\npmuhlb0123456789cdfinorsate ") {
		rank[b] = byte(i + 1)
	}
	return rank
}()

// Index is where the needle first stands in data, -1 if it does not.
func (n Needle) Index(data []byte) int { return n.In(data).From(0) }

// In prepares to look for the needle at one place of data after the other.
func (n Needle) In(data []byte) *Finder {
	return &Finder{needle: n, data: data, lower: -1, upper: -1}
}

// InText is In for a text.
func (n Needle) InText(text string) *Finder {
	return n.In(unsafe.Slice(unsafe.StringData(text), len(text))) // which nobody writes to
}

// A Finder looks for a needle from one place after the other, without looking
// twice at what lies between.
type Finder struct {
	needle       Needle
	data         []byte
	lower, upper int // where the rarest byte next stands, in either case; len(data) for nowhere
}

// From is where the needle first stands at or behind an offset, -1 if nowhere.
// Offsets must not become smaller.
func (f *Finder) From(at int) int {
	n := f.needle
	last := len(f.data) - len(n.text)
	for at <= last {
		if at = f.rarest(at+n.rare) - n.rare; at > last {
			return -1
		}
		if n.stands(f.data[at:]) {
			return at
		}
		at++
	}
	return -1
}

// rarest is where the needle's rarest byte next stands.
func (f *Finder) rarest(at int) int {
	b := f.needle.text[f.needle.rare]
	f.lower = f.next(f.lower, at, b)
	if !f.needle.fold || b < 'a' || b > 'z' {
		return f.lower
	}
	f.upper = f.next(f.upper, at, b&^0x20)
	return min(f.lower, f.upper)
}

func (f *Finder) next(known, at int, b byte) int {
	if known >= at {
		return known
	}
	if i := bytes.IndexByte(f.data[at:], b); i >= 0 {
		return at + i
	}
	return len(f.data)
}

func (n Needle) stands(data []byte) bool {
	if !begins(data, n.text, n.fold) {
		return false
	}
	for _, end := range n.ends {
		if begins(data[len(n.text):], end, n.fold) {
			return true
		}
	}
	return len(n.ends) == 0
}

// begins compares with a text that is in lower case if case is ignored.
func begins(data, text []byte, fold bool) bool {
	if !fold {
		return bytes.HasPrefix(data, text)
	}
	if len(data) < len(text) {
		return false
	}
	for i, b := range text {
		if Lower(data[i]) != b {
			return false
		}
	}
	return true
}
