package worktree

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
)

// A saved listing is a line that names its format, its body and a checksum. Only a jp that writes the same
// format reads it. Another one lists anew.
const listingHeader = "jp untracked 3\n"

func encodeListing(l *untrackedListing, boot string) []byte {
	w := &listingWriter{data: []byte(listingHeader)}
	w.text(boot)
	s := l.sources
	w.texts([]string{s.config, s.excludes, s.tracked})
	w.stamp(s.rules[0])
	w.stamp(s.rules[1])
	w.time(s.newest)
	w.stamp(s.index)
	w.texts(l.repos)
	w.number(int64(len(l.folders)))
	for _, f := range l.folders {
		w.text(f.path)
		w.stamp(f.stamp)
		w.flag(f.settled)
		w.texts(f.names)
		w.texts(f.ignored)
		w.texts(f.closed)
		w.texts(f.special)
		w.stamp(f.rules)
		w.flag(f.empty)
	}
	return binary.BigEndian.AppendUint32(w.data, crc32.ChecksumIEEE(w.data))
}

// decodeListing reads the text of an encode since the machine was started, nil if it is incomplete.
func decodeListing(data []byte, boot string) *untrackedListing {
	const sum = 4
	body := len(data) - sum
	if body < len(listingHeader) || string(data[:len(listingHeader)]) != listingHeader || crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]) {
		return nil
	}
	r := &listingReader{data: string(data[len(listingHeader):body])}
	if r.text() != boot {
		return nil
	}
	l := &untrackedListing{byPath: map[string]*listedFolder{}, kept: true, walked: true}
	if texts := r.texts(); len(texts) == 3 {
		l.sources.config, l.sources.excludes, l.sources.tracked = texts[0], texts[1], texts[2]
	}
	l.sources.rules = [2]folderStamp{r.stamp(), r.stamp()}
	l.sources.newest = r.time()
	l.sources.index = r.stamp()
	l.repos = r.texts()
	l.folders = make([]*listedFolder, r.count())
	for i := range l.folders {
		f := &listedFolder{path: r.text(), stamp: r.stamp(), settled: r.flag(), names: r.texts(), ignored: r.texts(), closed: r.texts(), special: r.texts(), rules: r.stamp(), empty: r.flag()}
		l.folders[i], l.byPath[f.path] = f, f
	}
	if r.err != nil || r.data != "" || len(l.byPath) != len(l.folders) || !l.inside() {
		return nil
	}
	return l
}

// inside reports whether all paths are of a working tree: a program may have written the file.
func (l *untrackedListing) inside() bool {
	for _, p := range l.repos {
		if dir, isRepo := strings.CutSuffix(p, "/"); !isRepo || !plainPath(dir) {
			return false
		}
	}
	for _, f := range l.folders {
		if f.path != "" && !plainPath(f.path) {
			return false
		}
		if slices.ContainsFunc(slices.Concat(f.names, f.ignored, f.closed, f.special), func(name string) bool { return !plainName(name) }) {
			return false
		}
	}
	return true
}

func plainPath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if !plainName(name) {
			return false
		}
	}
	return true
}

func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && name != ".git" && !strings.ContainsAny(name, "/\x00")
}

type listingWriter struct{ data []byte }

func (w *listingWriter) number(n int64) { w.data = binary.AppendVarint(w.data, n) }

func (w *listingWriter) text(s string) {
	w.number(int64(len(s)))
	w.data = append(w.data, s...)
}

func (w *listingWriter) texts(all []string) {
	w.number(int64(len(all)))
	for _, s := range all {
		w.text(s)
	}
}

func (w *listingWriter) flag(is bool) {
	if is {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *listingWriter) time(t changeTime) {
	w.number(t.Sec)
	w.number(t.Nsec)
}

func (w *listingWriter) stamp(s folderStamp) {
	for _, n := range []int64{int64(s.Dev), int64(s.Ino), s.Size} {
		w.number(n)
	}
	w.time(s.Mtime)
	w.time(s.Changed)
}

// A listingReader reads a writer's text. After an error all results are empty.
type listingReader struct {
	data string
	err  error
}

var errCut = errors.New("it is cut off")

func (r *listingReader) number() int64 {
	n, length := binary.Varint([]byte(r.data[:min(len(r.data), binary.MaxVarintLen64)]))
	if length <= 0 {
		r.data, r.err = "", errCut
		return 0
	}
	r.data = r.data[length:]
	return n
}

// count is a number of things that are still to come.
func (r *listingReader) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.data)) {
		r.data, r.err = "", errCut
		return 0
	}
	return int(n)
}

func (r *listingReader) text() (s string) {
	n := r.count()
	s, r.data = r.data[:n], r.data[n:]
	return s
}

func (r *listingReader) texts() []string {
	all := make([]string, r.count())
	for i := range all {
		all[i] = r.text()
	}
	return all
}

func (r *listingReader) flag() bool { return r.number() == 1 }

func (r *listingReader) time() changeTime { return changeTime{r.number(), r.number()} }

func (r *listingReader) stamp() folderStamp {
	return folderStamp{Dev: uint64(r.number()), Ino: uint64(r.number()), Size: r.number(), Mtime: r.time(), Changed: r.time()}
}
