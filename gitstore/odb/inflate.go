package odb

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
)

// inflater inflates whole zlib streams. It is for one goroutine.
type inflater struct{ decoder zlibDecoder }

// inflate fills dst from the beginning of src, and returns how much of both it used. More or less data than
// dst can hold is an error, and dst then has the beginning. The caller verifies the stream's own checksum
// with checkSum.
func (in *inflater) inflate(dst, src []byte) (out, used int, err error) {
	if out, used, err = in.decoder.inflate(dst, src); err != nil {
		err = fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	return out, used, err
}

// checkSum compares data with the checksum of the zlib stream that ends after used bytes of src.
func checkSum(data, src []byte, used int) error {
	if len(src)-used < 4 {
		return fmt.Errorf("%w: %w", ErrObjectCorrupt, errZlibTruncated)
	}
	if binary.BigEndian.Uint32(src[used:]) != adler32.Checksum(data) {
		return fmt.Errorf("%w: %w", ErrObjectCorrupt, errZlibCorrupt)
	}
	return nil
}
