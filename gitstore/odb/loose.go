package odb

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"strconv"
	"sync"
)

// storedLimit is the size up to which an object is stored and not deflated:
// it fills one block of the disk either way, and git deflates it when it packs.
const storedLimit = 4000

// maxHeader is the length of the longest header that any object can have.
const maxHeader = 32

var deflaters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, flate.BestSpeed)
	return w
}}

// deflate is the content of the object's loose file.
func deflate(o Object) []byte {
	header := objectHeader(o.Kind, len(o.Data))
	if len(header)+len(o.Data) <= storedLimit {
		return store(header, o.Data)
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
func store(header, data []byte) []byte {
	size := uint16(len(header) + len(data))
	out := make([]byte, 0, int(size)+11)
	out = append(out, 0x78, 0x01, 0x01) // zlib, fastest; last block, stored
	out = binary.LittleEndian.AppendUint16(out, size)
	out = binary.LittleEndian.AppendUint16(out, ^size)
	out = append(append(out, header...), data...)
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(out[7:]))
}

// inflater keeps the memory of one zlib reader and of one file between reads.
type inflater struct {
	file bytes.Buffer
	src  bytes.Reader
	zlib io.ReadCloser
	head [maxHeader]byte
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// looseObject reads one loose object and checks its name. The error is
// fs.ErrNotExist where there is none.
func (s *Store) looseObject(oid OID) (kind string, data []byte, err error) {
	file, err := s.objects.Open(oid.file())
	if err != nil {
		return "", nil, err
	}
	in := inflaters.Get().(*inflater)
	defer inflaters.Put(in)
	err = in.load(file, s.opts.MaxObject)
	file.Close()
	if err != nil {
		return "", nil, err
	}
	if kind, data, err = in.object(s.opts.MaxObject); err != nil {
		return "", nil, err
	}
	if HashObject(kind, data) != oid {
		return "", nil, fmt.Errorf("%w: its bytes have another name", ErrObjectCorrupt)
	}
	return kind, data, nil
}

// load takes the whole file, which deflate can make a little longer than what
// is in it.
func (in *inflater) load(file File, limit int64) error {
	in.file.Reset()
	n, err := in.file.ReadFrom(io.LimitReader(file, limit+limit/1000+1024))
	if err != nil {
		return err
	}
	if n > limit+limit/1000 {
		return ErrObjectTooLarge
	}
	return nil
}

// object inflates the header, and the content only if its size is allowed.
func (in *inflater) object(limit int64) (string, []byte, error) {
	in.src.Reset(in.file.Bytes())
	var err error
	if in.zlib == nil {
		in.zlib, err = zlib.NewReader(&in.src)
	} else {
		err = in.zlib.(zlib.Resetter).Reset(&in.src, nil)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	n, err := io.ReadFull(in.zlib, in.head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", nil, fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	kind, size, rest, err := parseHeader(in.head[:n])
	if err != nil {
		return "", nil, err
	}
	if size > limit {
		return "", nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, size)
	}
	return in.content(kind, size, rest)
}

// content reads exactly size bytes and then the end with its checksum.
func (in *inflater) content(kind string, size int64, rest []byte) (string, []byte, error) {
	if int64(len(rest)) > size {
		return "", nil, fmt.Errorf("%w: longer than its header says", ErrObjectCorrupt)
	}
	data := make([]byte, size)
	got := copy(data, rest)
	if _, err := io.ReadFull(in.zlib, data[got:]); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	if n, err := in.zlib.Read(in.head[:1]); n != 0 || err != io.EOF {
		return "", nil, fmt.Errorf("%w: no end where its header says", ErrObjectCorrupt)
	}
	return kind, data, nil
}

// parseHeader splits "<kind> <size>\0" from what follows it.
func parseHeader(head []byte) (kind string, size int64, rest []byte, err error) {
	line, rest, ok := bytes.Cut(head, []byte{0})
	name, digits, ok2 := bytes.Cut(line, []byte{' '})
	size, err = strconv.ParseInt(string(digits), 10, 63)
	if !ok || !ok2 || err != nil || size < 0 || !isKind(string(name)) {
		return "", 0, nil, fmt.Errorf("%w: it starts with %q", ErrObjectCorrupt, head)
	}
	return string(name), size, rest, nil
}

func isKind(s string) bool {
	return s == "blob" || s == "tree" || s == "commit" || s == "tag"
}
