package odb

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// storedLimit is the size up to which jp stores an object without deflating it: it fills one block of the
// disk either way, and git deflates it when it packs.
const storedLimit = 4000

// minRead is for how many bytes there is room at each read of a loose file: for
// most of them whole.
const minRead = 8 << 10

// maxHeader is the length of the longest header that any object can have.
const maxHeader = 32

var deflaters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, flate.BestSpeed)
	return w
}}

// deflate is the content of the object's loose file. A small one is in the memory of buf, if that is large
// enough.
func deflate(buf []byte, o Object) []byte {
	header := objectHeader(o.Kind, len(o.Data))
	if len(header)+len(o.Data) <= storedLimit {
		return store(buf, header, o.Data)
	}
	var out bytes.Buffer
	out.Grow(len(o.Data) / 2)
	w := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	w.Write(header)
	w.Write(o.Data)
	w.Close()
	return out.Bytes()
}

// store makes a zlib stream of one stored block.
func store(buf, header, data []byte) []byte {
	size := uint16(len(header) + len(data))
	out := slices.Grow(buf[:0], int(size)+11)
	out = append(out, 0x78, 0x01, 0x01) // zlib, fastest; last block, stored
	out = binary.LittleEndian.AppendUint16(out, size)
	out = binary.LittleEndian.AppendUint16(out, ^size)
	out = append(append(out, header...), data...)
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(out[7:]))
}

// looseReader keeps the memory that reading a loose object needs.
type looseReader struct {
	inflater
	sum     hasher
	file    []byte
	content [32 << 10]byte // of most objects all, and the header of any
}

// smallFile is the size of a file up to which its object is expected to fit into looseReader.content: text
// deflates to a fourth and less.
const smallFile = len(looseReader{}.content) / 4

var looseReaders = sync.Pool{New: func() any { return new(looseReader) }}

// looseObject reads one loose object, and checks its name if it is to prove it. The error is fs.ErrNotExist
// if there is none.
func (s *Store) looseObject(oid OID, prove bool) (kind string, data []byte, err error) {
	file, err := s.objects.Open(oid.file())
	if err != nil {
		return "", nil, err
	}
	return readLoose(file, oid, &s.opts, prove)
}

// borrowedObject is looseObject in the directories that are borrowed from.
func (s *Store) borrowedObject(oid OID) (kind string, data []byte, err error) {
	err = fs.ErrNotExist
	for _, dir := range s.objectDirs()[1:] {
		name := filepath.Join(dir, oid.file())
		if info, fault := os.Lstat(name); fault != nil || !info.Mode().IsRegular() {
			continue
		}
		file, fault := os.Open(name)
		if fault != nil {
			continue
		}
		if kind, data, err = readLoose(file, oid, &s.opts, true); err == nil {
			return kind, data, nil
		}
	}
	return "", nil, err
}

// readLoose reads the object of a loose file and closes that.
func readLoose(file io.ReadCloser, oid OID, opts *Options, prove bool) (kind string, data []byte, err error) {
	limit := opts.MaxObject
	in := looseReaders.Get().(*looseReader)
	defer looseReaders.Put(in)
	defer file.Close()
	in.file = in.file[:0]
	ended, err := in.load(file, limit, false)
	if err == nil {
		kind, data, err = in.object(limit)
	}
	if err != nil && !ended {
		if _, err = in.load(file, limit, true); err == nil {
			kind, data, err = in.object(limit)
		}
	}
	if err != nil {
		return "", nil, err
	}
	if prove && !in.sum.names(opts.Format, oid.raw(), kind, data) {
		return "", nil, fmt.Errorf("%w: its bytes have another name", ErrObjectCorrupt)
	}
	return kind, data, nil
}

// load reads the file up to a short read, which is the end of all ordinary ones, or with all up to its end.
// Deflated data can be a little longer than its content.
func (in *looseReader) load(file io.Reader, limit int64, all bool) (ended bool, err error) {
	limit += limit / 1000
	for {
		in.file = slices.Grow(in.file, max(minRead, len(in.file)/2))
		room := cap(in.file) - len(in.file)
		n, err := file.Read(in.file[len(in.file):cap(in.file)])
		in.file = in.file[:len(in.file)+n]
		switch {
		case int64(len(in.file)) > limit:
			return true, ErrObjectTooLarge
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return true, err
		case n < room && !all:
			return false, nil
		}
	}
}

// object inflates a small object at once, and of a larger one first the header:
// the rest only if its size is allowed.
func (in *looseReader) object(limit int64) (kind string, data []byte, err error) {
	first := in.content[:maxHeader]
	if len(in.file) <= smallFile {
		first = in.content[:]
	}
	n, used, err := in.decoder.inflate(first, in.file)
	all := first[:n]
	kind, size, rest, fault := parseHeader(all[:min(n, maxHeader)])
	header := min(n, maxHeader) - len(rest)
	switch {
	case fault != nil:
		return "", nil, fault
	case size > limit:
		return "", nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, size)
	case size/maxRatio > int64(len(in.file)):
		return "", nil, fmt.Errorf("%w: its header claims %d bytes", ErrObjectCorrupt, size)
	case errors.Is(err, errZlibLess) && int64(n) == int64(header)+size:
		return kind, bytes.Clone(all[header:]), checkSum(all, in.file, used)
	}
	all = make([]byte, header+int(size))
	_, used, err = in.inflate(all, in.file)
	if err == nil {
		err = checkSum(all, in.file, used)
	}
	return kind, all[header:], err
}

// parseHeader splits "<kind> <size>\0" from the rest.
func parseHeader(head []byte) (kind string, size int64, rest []byte, err error) {
	line, rest, ok := bytes.Cut(head, []byte{0})
	name, digits, ok2 := bytes.Cut(line, []byte{' '})
	kind, ok3 := kindOf(name)
	size, err = strconv.ParseInt(string(digits), 10, 63)
	if !ok || !ok2 || !ok3 || err != nil || size < 0 {
		return "", 0, nil, fmt.Errorf("%w: it starts with %q", ErrObjectCorrupt, head)
	}
	return kind, size, rest, nil
}

// kindOf gives a kind of object without a copy.
func kindOf(name []byte) (string, bool) {
	for _, kind := range entryKinds {
		if kind != "" && kind == string(name) {
			return kind, true
		}
	}
	return "", false
}

func isKind(s string) bool {
	_, ok := kindOf([]byte(s))
	return ok
}
