package odb

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"

	"jp/internal/inflate"
)

// inflater inflates whole zlib streams. It is for one goroutine.
type inflater struct{ decoder inflate.Decoder }

// inflate fills dst with what src begins with, and gives how much of both was
// used. More or less than dst can hold is an error; what there is of the
// beginning is in dst then. The stream's own checksum is left to checkSum.
func (in *inflater) inflate(dst, src []byte) (out, used int, err error) {
	if out, used, err = in.decoder.Inflate(dst, src); err != nil {
		err = fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	return out, used, err
}

// checkSum looks whether data is what the zlib stream says that it holds, which
// has ended after used bytes of src.
func checkSum(data, src []byte, used int) error {
	if len(src)-used < 4 {
		return fmt.Errorf("%w: %w", ErrObjectCorrupt, inflate.ErrTruncated)
	}
	if binary.BigEndian.Uint32(src[used:]) != adler32.Checksum(data) {
		return fmt.Errorf("%w: %w", ErrObjectCorrupt, inflate.ErrCorrupt)
	}
	return nil
}
