package gitstore

import "jp/search"

// A textFilter has a bit set for each run of some bytes that was entered, letters without
// case; several runs share a bit.
type textFilter []byte

// How long the runs are. In the filter of all records short words can be asked for,
// too; those of single records tell more: most words consist of runs of three that
// stand everywhere.
const (
	runOfAll = 3
	runOfOne = 4
)

// hashMultiplier spreads runs over the numbers of 32 bits.
const hashMultiplier = 0x9E3779B1

// at is the place of the bit of a run.
func (f textFilter) at(run uint32) (index uint64, bit byte) {
	n := uint64(run*hashMultiplier) * uint64(len(f)*8) >> 32
	return n >> 3, 1 << (n & 7)
}

// enter sets the bits of all runs of a text that have so many bytes.
func (f textFilter) enter(text []byte, size int) {
	mask, run := uint32(1<<(8*size)-1), uint32(0)
	for n, b := range text {
		run = run<<8 | uint32(search.Lower(b))
		if n < size-1 {
			continue
		}
		i, bit := f.at(run & mask)
		f[i] |= bit
	}
}

// byteRuns are those of so many bytes of a text.
func byteRuns(text string, size int) (all []uint32) {
	mask, run := uint32(1<<(8*size)-1), uint32(0)
	for n := range len(text) {
		run = run<<8 | uint32(search.Lower(text[n]))
		if n >= size-1 {
			all = append(all, run&mask)
		}
	}
	return all
}

// may reports whether a text with these runs may have been entered.
func (f textFilter) may(runs []uint32) bool {
	for _, run := range runs {
		if i, bit := f.at(run); f[i]&bit == 0 {
			return false
		}
	}
	return true
}
