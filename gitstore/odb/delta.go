package odb

import "fmt"

// applyDelta makes an object from its base and git's copy and insert
// instructions. limit is the largest result in bytes.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	size, delta, ok2 := deltaSize(delta)
	switch {
	case !ok || !ok2 || from != int64(len(base)):
		return nil, fmt.Errorf("%w: a delta that does not fit its base", ErrObjectCorrupt)
	case size > limit:
		return nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, size)
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		var part []byte
		if part, delta, ok = deltaPart(base, delta); !ok || len(part) > int(size)-len(out) {
			return nil, fmt.Errorf("%w: a delta with an instruction out of bounds", ErrObjectCorrupt)
		}
		out = append(out, part...)
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("%w: a delta that makes %d bytes instead of %d", ErrObjectCorrupt, len(out), size)
	}
	return out, nil
}

// deltaPart returns the bytes that the first instruction adds, and the other instructions.
func deltaPart(base, delta []byte) (part, rest []byte, ok bool) {
	op, delta := delta[0], delta[1:]
	if op&0x80 == 0 { // insert the bytes that follow; 0 is reserved
		n := int(op)
		if n == 0 || n > len(delta) {
			return nil, nil, false
		}
		return delta[:n], delta[n:], true
	}
	var args [7]byte // offset in four bytes, length in three, zeros left out
	for i := range args {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		args[i], delta = delta[0], delta[1:]
	}
	at := int(args[0]) | int(args[1])<<8 | int(args[2])<<16 | int(args[3])<<24
	n := int(args[4]) | int(args[5])<<8 | int(args[6])<<16
	if n == 0 {
		n = 0x10000
	}
	if at < 0 || at > len(base) || n > len(base)-at {
		return nil, nil, false
	}
	return base[at : at+n], delta, true
}

// deltaSize reads a size of seven bits per byte, lowest first.
func deltaSize(delta []byte) (size int64, rest []byte, ok bool) {
	for i, b := range delta {
		if i == 9 {
			break
		}
		size |= int64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return size, delta[i+1:], true
		}
	}
	return 0, nil, false
}
