package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"

	"github.com/klauspost/compress/flate"
)

// errMore means that there is more in a stream than there was room for.
var errMore = fmt.Errorf("%w: deflated data is longer than it should be", ErrObjectCorrupt)

var (
	errDeflate   = fmt.Errorf("%w: deflated data is damaged", ErrObjectCorrupt)
	errTruncated = fmt.Errorf("%w: deflated data ends too early", ErrObjectCorrupt)
)

// inflater inflates whole zlib streams from memory to memory, with a reader
// that is set up once. It is for one goroutine.
type inflater struct {
	src   bytes.Reader
	flate io.ReadCloser
}

// inflate fills dst with what src begins with, and gives how much of both was
// used. More or less than dst can hold is an error; what there is of the
// beginning is in dst then. The stream's own checksum is left to checkSum.
func (in *inflater) inflate(dst, src []byte) (out, used int, err error) {
	if len(src) < 2 || src[0]&15 != 8 || src[0]>>4 > 7 || src[1]&0x20 != 0 || (uint(src[0])<<8|uint(src[1]))%31 != 0 {
		return 0, 0, errDeflate
	}
	in.src.Reset(src[2:])
	defer in.src.Reset(nil)
	if in.flate == nil {
		in.flate = flate.NewReader(&in.src)
	} else if err := in.flate.(flate.Resetter).Reset(&in.src, nil); err != nil {
		return 0, 0, errDeflate
	}
	if out, err = io.ReadFull(in.flate, dst); err != nil {
		return out, 0, inflateError(err)
	}
	var more [1]byte
	switch _, err := io.ReadFull(in.flate, more[:]); {
	case err == nil:
		return out, 0, errMore
	case !errors.Is(err, io.EOF):
		return out, 0, inflateError(err)
	}
	return out, len(src) - in.src.Len(), nil
}

// inflateError tells a stream that ends too early from one that is damaged.
func inflateError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return errDeflate
}

// checkSum looks whether data is what the zlib stream says that it holds, which
// has ended after used bytes of src.
func checkSum(data, src []byte, used int) error {
	if len(src)-used < 4 {
		return errTruncated
	}
	if binary.BigEndian.Uint32(src[used:]) != adler32.Checksum(data) {
		return errDeflate
	}
	return nil
}
