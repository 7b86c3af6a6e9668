package odb

import (
	"encoding/binary"
	"errors"
)

var (
	// errZlibCorrupt reports data other than a zlib stream.
	errZlibCorrupt = errors.New("deflated data is damaged")
	// errZlibTruncated reports a stream that goes on after the end of the data.
	errZlibTruncated = errors.New("deflated data ends too early")
	// errZlibMore means that there is more in the stream than there was room for.
	errZlibMore = errors.New("deflated data is longer than it should be")
	// errZlibLess means that the stream is whole and there was room for more.
	errZlibLess = errors.New("deflated data is shorter than it should be")
)

// enoughBits is how many bits one length and its distance have at most.
const enoughBits = 15 + 5 + 15 + 13

// A zlibDecoder inflates whole zlib streams (RFC 1950, 1951) from memory to memory. It keeps the memory that
// inflating needs. The zero value is ready; it is for one goroutine.
//
// It is for many short streams, for which the tables of the codes take most of the time: the tables are
// small, the output is the window, and there is no interface for reading. The caller knows the length of a
// stream, so that it always fits into its room.
type zlibDecoder struct {
	literals  [1 << 13]codeEntry
	distances [1 << 12]codeEntry
	table     [1 << lengthBits]codeEntry
	lengths   [maxLiterals + maxDistances]uint8 // of the codes
	code      prefixCode

	src  []byte
	pos  int    // in src, behind the bytes in bits
	bits uint64 // the next ones of the stream, the lowest first
	n    int    // count of valid bits; below zero if src had too few
	dst  []byte
	out  int
}

// inflate fills dst with the content of the stream in src, and returns the number of bytes used of dst and of
// src. If the stream has fewer or more bytes than dst, the error is errZlibLess or errZlibMore, and dst has the
// inflated part. src may go on behind the stream. Checking the stream's checksum, the four bytes there, is up
// to the caller.
func (d *zlibDecoder) inflate(dst, src []byte) (out, used int, err error) {
	const method, preset = 8, 0x20
	if len(src) < 2 {
		return 0, 0, errZlibTruncated
	}
	if src[0]&15 != method || src[0]>>4 > 7 || src[1]&preset != 0 || (uint(src[0])<<8|uint(src[1]))%31 != 0 {
		return 0, 0, errZlibCorrupt
	}
	d.src, d.dst = src, dst
	d.pos, d.bits, d.n, d.out = 2, 0, 0, 0
	defer func() { d.src, d.dst = nil, nil }()
	for last := false; !last; {
		if last, err = d.block(); err != nil {
			return d.out, 0, err
		}
	}
	if d.out < len(dst) {
		err = errZlibLess
	}
	return d.out, d.pos - d.n>>3, err
}

// block inflates one block and says whether it is the last one.
func (d *zlibDecoder) block() (last bool, err error) {
	head := d.take(3)
	if d.n < 0 {
		return false, errZlibTruncated
	}
	switch last = head&1 != 0; head >> 1 {
	case 0:
		err = d.stored()
	case 1:
		d.fixed()
		err = d.coded()
	case 2:
		if err = d.dynamic(); err == nil {
			err = d.coded()
		}
	default:
		err = errZlibCorrupt
	}
	if d.n < 0 {
		err = errZlibTruncated
	}
	return last, err
}

// refill makes sure that all bits that one step can take are there, if src has them.
func (d *zlibDecoder) refill() {
	for d.n <= 56 && d.pos < len(d.src) {
		d.bits |= uint64(d.src[d.pos]) << uint(d.n)
		d.pos++
		d.n += 8
	}
}

// take gives the next bits, with zeros after the end.
func (d *zlibDecoder) take(count int) uint {
	if d.n < count {
		if d.n < 0 {
			return 0
		}
		d.refill()
	}
	got := uint(d.bits & (1<<count - 1))
	d.bits >>= count
	d.n -= count
	return got
}

// stored copies a block that is stored as it is.
func (d *zlibDecoder) stored() error {
	d.pos -= d.n >> 3 // whole bytes are given back, the rest of one is padding
	d.bits, d.n = 0, 0
	rest := d.src[d.pos:]
	if len(rest) < 4 {
		return errZlibTruncated
	}
	size := binary.LittleEndian.Uint16(rest)
	if size != ^binary.LittleEndian.Uint16(rest[2:]) {
		return errZlibCorrupt
	}
	rest = rest[4:]
	n := copy(d.dst[d.out:], rest[:min(int(size), len(rest))])
	d.out += n
	d.pos += 4 + n
	switch {
	case n == int(size):
		return nil
	case n == len(rest):
		return errZlibTruncated
	}
	return errZlibMore
}

// coded inflates the symbols of a block whose tables are set.
func (d *zlibDecoder) coded() error {
	if ended, err := d.most(); ended || err != nil {
		return err
	}
	return d.rest()
}

// Margins of most: within them, the words that one step reads, and the literals that it writes, surely fit.
const (
	stepSrc = 16
	stepDst = 3
)

// most inflates up to near the end of src or dst, without a check of both at each step. It reports whether
// the block ended before that.
func (d *zlibDecoder) most() (ended bool, err error) {
	src, pos, bits, n := d.src, d.pos, d.bits, uint(d.n)
	dst, out := d.dst, d.out
	for pos <= len(src)-stepSrc && out <= len(dst)-stepDst {
		// The bits above n are the same bits once more.
		bits |= binary.LittleEndian.Uint64(src[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		e := d.literals[bits&(1<<literalBits-1)]
		if e&literal != 0 { // two thirds of all
			bits >>= e.length()
			n -= e.length()
			dst[out] = byte(e.value())
			out++
			if e = d.literals[bits&(1<<literalBits-1)]; e&literal != 0 {
				bits >>= e.length()
				n -= e.length()
				dst[out] = byte(e.value())
				out++
				if e = d.literals[bits&(1<<literalBits-1)]; e&literal != 0 {
					bits >>= e.length()
					n -= e.length()
					dst[out] = byte(e.value())
					out++
					continue
				}
			}
			bits |= binary.LittleEndian.Uint64(src[pos:]) << (n & 63)
			pos += int(63-n) >> 3
			n |= 56
		}
		if e&nested != 0 {
			e = d.literals[(e.value()+uint(bits>>literalBits)&e.mask())%uint(len(d.literals))]
		}
		bits >>= e.length()
		n -= e.length()
		if e&literal != 0 {
			dst[out] = byte(e.value())
			out++
			continue
		}
		if e.value() == 0 {
			if ended = true; e == unused {
				err = errZlibCorrupt
			}
			break
		}
		length := int(e.value() + uint(bits)&e.mask())
		bits >>= e.extra()
		n -= e.extra()

		e = d.distances[bits&(1<<distanceBits-1)]
		if e&nested != 0 {
			e = d.distances[(e.value()+uint(bits>>distanceBits)&e.mask())%uint(len(d.distances))]
		}
		bits >>= e.length()
		distance := int(e.value() + uint(bits)&e.mask())
		bits >>= e.extra()
		n -= e.length() + e.extra()
		if e == unused || distance > out {
			err = errZlibCorrupt
			break
		}
		if length > len(dst)-out {
			length, err = len(dst)-out, errZlibMore
		}
		repeatBytes(dst, out, length, distance)
		out += length
		if err != nil {
			break
		}
	}
	d.pos, d.bits, d.n, d.out = pos, bits&(1<<n-1), int(n), out
	return ended, err
}

// rest inflates what most left, with a check at each step.
func (d *zlibDecoder) rest() error {
	src, pos, bits, n := d.src, d.pos, d.bits, d.n
	dst, out := d.dst, d.out
	err := errZlibTruncated
	for {
		for ; n < enoughBits && pos < len(src); n += 8 {
			bits |= uint64(src[pos]) << uint(n)
			pos++
		}
		e := d.literals[bits&(1<<literalBits-1)]
		if e&nested != 0 {
			e = d.literals[(e.value()+uint(bits>>literalBits)&e.mask())%uint(len(d.literals))]
		}
		bits >>= e.length()
		if n -= int(e.length()); n < 0 {
			break
		}
		if e&literal != 0 {
			if out == len(dst) {
				err = errZlibMore
				break
			}
			dst[out] = byte(e.value())
			out++
			continue
		}
		if e.value() == 0 {
			if err = nil; e == unused {
				err = errZlibCorrupt
			}
			break
		}
		length := int(e.value() + uint(bits)&e.mask())
		bits >>= e.extra()
		n -= int(e.extra())

		e = d.distances[bits&(1<<distanceBits-1)]
		if e&nested != 0 {
			e = d.distances[(e.value()+uint(bits>>distanceBits)&e.mask())%uint(len(d.distances))]
		}
		bits >>= e.length()
		distance := int(e.value() + uint(bits)&e.mask())
		bits >>= e.extra()
		if n -= int(e.length() + e.extra()); n < 0 {
			break
		}
		if e == unused || distance > out {
			err = errZlibCorrupt
			break
		}
		if length > len(dst)-out {
			length, err = len(dst)-out, errZlibMore
		}
		repeatBytes(dst, out, length, distance)
		out += length
		if err == errZlibMore {
			break
		}
	}
	d.pos, d.bits, d.n, d.out = pos, bits, n, out
	if n >= 0 {
		d.bits &= 1<<uint(n) - 1
	}
	return err
}

// repeatBytes writes so many bytes from an index on: those that stand a distance before.
func repeatBytes(dst []byte, at, length, distance int) {
	if distance >= 8 && length+8 <= len(dst)-at {
		// Later bytes overwrite the excess.
		for i := at; i < at+length; i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(dst[i-distance:]))
		}
		return
	}
	for end := at + length; at < end; {
		at += copy(dst[at:end], dst[at-distance:at])
	}
}
