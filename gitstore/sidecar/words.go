package sidecar

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"jp/search/needle"
)

const (
	wordsMagic = "jp-words 2\n"
	// minBits is the least size of a filter; a full one is made anew, larger.
	minBits = 1 << 15
	maxBits = 1 << 23
)

// Words tells which texts cannot stand in the records of a log: a filter over
// all runs of three bytes, letters without case.
type Words struct {
	Head ID   // of the newest record that is in it
	Text bool // some text stands outside of the records
	bits []byte
}

// NewWords makes an empty filter for so many bytes of text.
func NewWords(size int) *Words {
	bits := minBits
	for bits < size/8 && bits < maxBits {
		bits *= 2
	}
	return &Words{bits: make([]byte, bits/8)}
}

// ReadWords reads a file; ok is false where it is not there or not whole.
func ReadWords(path string) (w *Words, ok bool) {
	data := readInto(path, nil)
	fixed := len(wordsMagic) + len(ID{}) + 1 + 4
	if len(data) < fixed || !bytes.HasPrefix(data, []byte(wordsMagic)) {
		return nil, false
	}
	body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	n := len(data) - fixed
	if n < minBits/8 || n > maxBits/8 || n&(n-1) != 0 || crc32.Checksum(body, castagnoli()) != sum {
		return nil, false
	}
	body = body[len(wordsMagic):]
	w = &Words{Head: ID(body[:len(ID{})]), Text: body[len(ID{})] == 1, bits: body[len(ID{})+1:]}
	return w, true
}

// Write puts the filter into a file.
func (w *Words) Write(path string) error {
	data := append([]byte(wordsMagic), w.Head[:]...)
	text := byte(0)
	if w.Text {
		text = 1
	}
	data = append(append(data, text), w.bits...)
	return replace(path, binary.BigEndian.AppendUint32(data, crc32.Checksum(data, castagnoli())))
}

// Add enters a text.
func (w *Words) Add(text []byte) {
	if len(text) < 3 {
		return
	}
	shift := w.shift()
	run := uint32(needle.Lower(text[0]))<<8 | uint32(needle.Lower(text[1]))
	for _, b := range text[2:] {
		run = (run<<8 | uint32(needle.Lower(b))) & 0xffffff
		at := run * mix >> shift
		w.bits[at>>3] |= 1 << (at & 7)
	}
}

// mix spreads runs over the filter.
const mix = 0x9E3779B1

func (w *Words) shift() uint32 {
	n := uint32(0)
	for size := len(w.bits) * 8; size > 1; size /= 2 {
		n++
	}
	return 32 - n
}

// May reports whether a text may stand in the records.
func (w *Words) May(text string) bool {
	shift := w.shift()
	for i := 0; i+3 <= len(text); i++ {
		run := uint32(needle.Lower(text[i]))<<16 | uint32(needle.Lower(text[i+1]))<<8 | uint32(needle.Lower(text[i+2]))
		at := run * mix >> shift
		if w.bits[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// Fits reports whether the filter is large enough for so many bytes of text.
func (w *Words) Fits(size int) bool {
	return len(w.bits)*8 >= maxBits || len(w.bits)*8 >= size/8
}
