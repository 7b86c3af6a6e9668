package gitstore

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// A sealFunc makes the code of some bytes by the user's key. A confined program can write the files, but has no
// key. If it is nil, there is no key, and jp neither reads nor writes words.
type sealFunc func(parts ...[]byte) [sha256.Size]byte

const sealLen = sha256.Size

const (
	wordsMagic = "jp-words 6\n"
	asideLen   = 64
	// minIndexFilter is the least size of the filter of all; jp replaces a full one by a larger one.
	minIndexFilter = 1 << 12
	maxIndexFilter = 1 << 20
	// maxMarks is more than the marks of any log take.
	maxMarks = 1 << 29
)

// fixed is the length of the part before the filter of all: the newest record, the one before the oldest,
// the number of the oldest, the flags, the filter's size, the number of records, the length of their marks,
// the filter of the text that they all lack.
func (n idLen) fixed() int { return len(wordsMagic) + 2*int(n) + 4 + 1 + 4 + 4 + 4 + asideLen }

// Flags of all records together.
const (
	hasText = 1 << iota
	hasMarks
	hasDiscards
)

// A wordIndex tells which texts cannot stand in the records of a log. A filter is for the whole log and the other
// texts that are searched with it. Marks, each with a small filter, are for single records.
type wordIndex struct {
	Head     recordID // of the newest record that is in it
	Before   recordID // of the event before the oldest record; zero if there is none
	First    int      // the number of the oldest record's event
	Text     bool     // some text stands outside of the records
	Marked   bool
	Discards bool // a record discards others

	ids   idLen
	seal  sealFunc
	all   textFilter
	aside textFilter    // of the text outside of the records
	n     int           // of the records
	long  int           // how many bytes the marks have in the file
	marks []byte        // as they are stored; nil until they are read
	code  [sealLen]byte // of the bytes before them in the file
}

// newWordIndex makes an empty one for a log of so many bytes.
func newWordIndex(size int, marked bool, ids idLen, seal sealFunc) *wordIndex {
	bytes := minIndexFilter
	for bytes < size/64 && bytes < maxIndexFilter {
		bytes *= 2
	}
	return &wordIndex{ids: ids, seal: seal, Marked: marked, all: make(textFilter, bytes), aside: make(textFilter, asideLen)}
}

// readWordIndex reads a file except for its marks. ok is false if it is missing, incomplete, or not by this
// user's jp. The buffer may be nil; the index uses it, and it comes back.
func readWordIndex(path string, buffer []byte, ids idLen, seal sealFunc) (w *wordIndex, used []byte, ok bool) {
	if seal == nil {
		return nil, buffer, false
	}
	most := ids.fixed() + 2*minIndexFilter + sealLen // in most files
	data := readRange(path, 0, int64(most), buffer)
	end, ok := filtersEnd(data, ids)
	if ok && end+sealLen > most {
		data = readRange(path, 0, int64(end+sealLen), data)
	}
	if !ok || len(data) < end+sealLen {
		return nil, data, false
	}
	code := seal(data[:end])
	if !hmac.Equal(code[:], data[end:end+sealLen]) {
		return nil, data, false
	}
	fixed := data[len(wordsMagic):ids.fixed()]
	w = &wordIndex{ids: ids, seal: seal, Head: ids.take(fixed), all: data[ids.fixed():end], code: code}
	fixed = fixed[ids:]
	w.Before, fixed = ids.take(fixed), fixed[ids:]
	w.First, fixed = int(binary.BigEndian.Uint32(fixed)), fixed[4:]
	w.Text, w.Marked, w.Discards = fixed[0]&hasText != 0, fixed[0]&hasMarks != 0, fixed[0]&hasDiscards != 0
	fixed = fixed[1:]
	w.n, w.long, w.aside = int(binary.BigEndian.Uint32(fixed[4:])), int(binary.BigEndian.Uint32(fixed[8:])), fixed[12:]
	return w, data, w.long <= maxMarks
}

// filtersEnd is the end of the filter of all, in a file that begins with these data.
func filtersEnd(data []byte, ids idLen) (end int, ok bool) {
	if len(data) < ids.fixed() || !bytes.HasPrefix(data, []byte(wordsMagic)) {
		return 0, false
	}
	size := int(binary.BigEndian.Uint32(data[len(wordsMagic)+2*int(ids)+4+1:]))
	return ids.fixed() + size, size >= minIndexFilter && size <= maxIndexFilter && size&(size-1) == 0
}

// loadMarks reads the marks of the same file, to add to them. ok is false if they are incomplete, or of
// another writing.
func (w *wordIndex) loadMarks(path string) (ok bool) {
	stored, ok := w.check(w.readMarks(path, nil))
	if ok {
		w.marks = stored
	}
	return ok
}

// readMarks reads the bytes of the marks and their checksum, and one byte more, if the file has that.
func (w *wordIndex) readMarks(path string, buffer []byte) []byte {
	return readRange(path, int64(w.ids.fixed()+len(w.all)+sealLen), int64(w.long)+sealLen+1, buffer)
}

// check reports whether data are the marks, and the code that their file ends with.
func (w *wordIndex) check(data []byte) (stored []byte, ok bool) {
	if len(data) != w.long+sealLen || !w.Marked {
		return nil, false
	}
	stored = data[:w.long]
	code := w.seal(w.code[:], stored)
	return stored, hmac.Equal(code[:], data[len(stored):]) && countMarks(stored, w.n, w.ids)
}

// where are the places of the records in which one of the texts may stand, in order. The newest record's is
// the last of them, if there are any: after a find the search needs that record, too. ok is false if the
// file is incomplete, or of another writing. The buffer is for reading, and may be nil; it comes back.
func (w *wordIndex) where(path string, texts []string, buffer []byte) (places []recordPlace, used []byte, ok bool) {
	data := w.readMarks(path, buffer)
	stored, ok := w.check(data)
	if !ok {
		return nil, data, false
	}
	all := make([][]uint32, len(texts))
	for i, text := range texts {
		all[i] = byteRuns(text, runOfOne)
	}
	var newest recordPlace
	for m := range recordMarks(stored, w.ids) {
		newest = m.place
		if slices.ContainsFunc(all, m.filter.may) {
			places = append(places, newest)
		}
	}
	if len(places) > 0 && places[len(places)-1] != newest {
		places = append(places, newest)
	}
	return places, data, true
}

// Write puts the filters into a file.
func (w *wordIndex) Write(path string) error {
	if w.seal == nil {
		return nil
	}
	data := make([]byte, 0, w.Size())
	data = append(append(append(data, wordsMagic...), w.Head[:w.ids]...), w.Before[:w.ids]...)
	data = binary.BigEndian.AppendUint32(data, uint32(w.First))
	data = binary.BigEndian.AppendUint32(append(data, w.truths()), uint32(len(w.all)))
	w.long = len(w.marks)
	data = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(data, uint32(w.n)), uint32(w.long))
	data = append(data, w.aside...)
	data = append(data, w.all...)
	w.code = w.seal(data)
	data = append(append(data, w.code[:]...), w.marks...)
	code := w.seal(w.code[:], w.marks)
	return replaceSidecar(path, append(data, code[:]...))
}

// Size is the length of its file.
func (w *wordIndex) Size() int { return w.ids.fixed() + len(w.all) + len(w.marks) + 2*sealLen }

func (w *wordIndex) truths() (t byte) {
	if w.Text {
		t |= hasText
	}
	if w.Marked {
		t |= hasMarks
	}
	if w.Discards {
		t |= hasDiscards
	}
	return t
}

// Len is the number of records.
func (w *wordIndex) Len() int { return w.n }

// Add enters a text outside of the records.
func (w *wordIndex) Add(text []byte) {
	w.all.enter(text, runOfAll)
	w.aside.enter(text, runOfOne)
}

// AddRecord enters the searchable texts of the next record of a log. The marks of the others must have been
// read.
func (w *wordIndex) AddRecord(l *commitLog, texts ...[]byte) {
	for _, text := range texts {
		w.all.enter(text, runOfAll)
	}
	if w.Marked {
		var own textFilter
		w.marks, own = appendMark(w.marks, l.place(w.n), w.ids)
		for _, text := range texts {
			own.enter(text, runOfOne)
		}
	}
	w.Head = l.ID(w.n)
	w.n++
}

// may reports whether a text may occur in the records, or in the added texts.
func (w *wordIndex) may(text string) bool { return w.all.may(byteRuns(text, runOfAll)) }

// mayAside reports whether a text may occur in the texts outside of the records.
func (w *wordIndex) mayAside(text string) bool { return w.aside.may(byteRuns(text, runOfOne)) }

// fits reports whether the filter of all is large enough for a log of so many bytes.
func (w *wordIndex) fits(size int) bool {
	return len(w.all) >= maxIndexFilter || len(w.all) >= size/64
}
