package odb

import "math/bits"

// How many bits the first look into a table takes. Longer codes are rare and take
// a second one.
const (
	literalBits  = 10
	distanceBits = 8
	lengthBits   = 7 // greatest length of a code of lengths
)

const (
	maxCode      = 15  // bits of the longest code
	maxLiterals  = 288 // literals, the end, lengths, and two unused ones
	maxDistances = 32  // two of these, too
	endOfBlock   = 256
)

// An codeEntry of a table is the meaning of a code:
//
//	bits 0–4   the code's length
//	bits 5–7   literal, nested, end
//	bits 8–12  number of the extra bits that follow, or of the index of a nested table
//	bits 16–31 the byte, the least length or distance, or the place of the nested table
type codeEntry uint32

const (
	unused  codeEntry = 0
	literal codeEntry = 1 << 5
	nested  codeEntry = 1 << 6
	end     codeEntry = 1 << 7
)

func (e codeEntry) length() uint { return uint(e & 0x1f) }
func (e codeEntry) extra() uint  { return uint(e >> 8 & 0x1f) }
func (e codeEntry) mask() uint   { return 1<<e.extra() - 1 }
func (e codeEntry) value() uint  { return uint(e >> 16) }

func valued(value, extra int) codeEntry { return codeEntry(value)<<16 | codeEntry(extra)<<8 }

// Meanings of the symbols of literals and lengths, of distances, and of the lengths of codes.
var (
	literalEntries  = codeEntries(maxLiterals, literalEntry)
	distanceEntries = codeEntries(maxDistances, distanceEntry)
	lengthEntries   = codeEntries(len(lengthOrder), func(symbol int) codeEntry { return valued(symbol, 0) | literal })
)

func codeEntries(n int, meaning func(symbol int) codeEntry) []codeEntry {
	all := make([]codeEntry, n)
	for symbol := range all {
		all[symbol] = meaning(symbol)
	}
	return all
}

func literalEntry(symbol int) codeEntry {
	switch {
	case symbol < endOfBlock:
		return valued(symbol, 0) | literal
	case symbol == endOfBlock:
		return end
	case symbol < 265:
		return valued(symbol-254, 0)
	case symbol < 285:
		extra := (symbol - 261) / 4
		return valued(3+(4+(symbol-261)%4)<<extra, extra)
	case symbol == 285:
		return valued(258, 0)
	}
	return unused
}

func distanceEntry(symbol int) codeEntry {
	switch {
	case symbol < 4:
		return valued(1+symbol, 0)
	case symbol < 30:
		extra := symbol/2 - 1
		return valued(1+(2+symbol%2)<<extra, extra)
	}
	return unused
}

// coded gives an entry its code's length, if it is of any use.
func (e codeEntry) coded(length int) codeEntry {
	if e == unused {
		return e
	}
	return e | codeEntry(length)
}

// A prefixCode has its symbols in order, and their number by the length of their bits.
type prefixCode struct {
	symbols [maxLiterals]uint16
	count   [maxCode + 1]int
	longest int
}

// sort reads a code from the lengths of all symbols. It is false for an over- or undersubscribed code, except
// for a single one of one bit, or an empty one.
func (c *prefixCode) sort(lengths []uint8) bool {
	c.count, c.longest = [maxCode + 1]int{}, 0
	for _, l := range lengths {
		if l != 0 {
			c.count[l&15]++
		}
	}
	var next [maxCode + 1]int
	all, at := 0, 0
	for l, n := range c.count {
		next[l] = at
		at += n
		if all = all<<1 + n; n > 0 {
			c.longest = l
		}
	}
	for symbol, l := range lengths {
		if l != 0 {
			c.symbols[next[l&15]] = uint16(symbol)
			next[l&15]++
		}
	}
	return all == 1<<maxCode || c.longest == 0 || c.longest == 1 && at == 1
}

// fill makes the table of which size bits are looked at first.
func (c *prefixCode) fill(table []codeEntry, size int, meaning []codeEntry) {
	table[0] = unused
	first, free := table[:1<<size], 1<<size
	symbols, next := c.symbols[:], 0
	for l := 1; l <= max(c.longest, size); l++ {
		next <<= 1
		if l <= size {
			// One bit more makes no difference to shorter codes.
			copy(table[1<<(l-1):1<<l], table)
		}
		for _, symbol := range symbols[:c.count[l]] {
			e := meaning[symbol].coded(l)
			// Codes are read from their highest bit on, and the stream from its lowest.
			at := int(bits.Reverse16(uint16(next)) >> (16 - l))
			next++
			if l <= size {
				first[at] = e
				continue
			}
			head := &first[at&(1<<size-1)]
			if *head&nested == 0 {
				*head = valued(free, c.longest-size) | nested
				free += 1 << (c.longest - size)
			}
			rest := table[head.value():][:1<<head.extra()]
			for at >>= size; at < len(rest); at += 1 << (l - size) {
				rest[at] = e
			}
		}
		symbols = symbols[c.count[l]:]
	}
}
