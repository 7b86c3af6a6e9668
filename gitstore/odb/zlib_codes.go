package odb

// lengthOrder is the order in which the lengths of the lengths' own codes are given.
var lengthOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// fixed sets the tables of a block with the codes that all know.
func (d *zlibDecoder) fixed() {
	for i := range maxLiterals {
		switch {
		case i < 144, i >= 280:
			d.lengths[i] = 8
		case i < endOfBlock:
			d.lengths[i] = 9
		default:
			d.lengths[i] = 7
		}
	}
	for i := range maxDistances {
		d.lengths[maxLiterals+i] = 5
	}
	d.tables(maxLiterals, maxDistances)
}

// dynamic reads the codes of a block and sets their tables.
func (d *zlibDecoder) dynamic() error {
	literals, distances, own := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if literals > maxLiterals-2 || distances > maxDistances-2 {
		return errZlibCorrupt
	}
	var lengths [len(lengthOrder)]uint8
	for _, symbol := range lengthOrder[:own] {
		lengths[symbol] = uint8(d.take(3))
	}
	if !d.code.sort(lengths[:]) {
		return errZlibCorrupt
	}
	d.code.fill(d.table[:], lengthBits, lengthEntries)
	if err := d.readLengths(literals + distances); err != nil {
		return err
	}
	copy(d.lengths[maxLiterals:], d.lengths[literals:literals+distances])
	if !d.tables(literals, distances) {
		return errZlibCorrupt
	}
	return nil
}

// readLengths reads the lengths of so many codes.
func (d *zlibDecoder) readLengths(count int) error {
	for i := 0; i < count; {
		if d.n < lengthBits+7 {
			d.refill()
		}
		e := d.table[d.bits&(1<<lengthBits-1)]
		if e == unused {
			return errZlibCorrupt
		}
		d.take(int(e.length()))
		value, times := uint8(e.value()), 1
		switch value {
		case 16:
			if i == 0 {
				return errZlibCorrupt
			}
			value, times = d.lengths[i-1], 3+int(d.take(2))
		case 17:
			value, times = 0, 3+int(d.take(3))
		case 18:
			value, times = 0, 11+int(d.take(7))
		}
		if d.n < 0 {
			return errZlibTruncated
		}
		if times > count-i {
			return errZlibCorrupt
		}
		for end := i + times; i < end; i++ {
			d.lengths[i] = value
		}
	}
	return nil
}

// tables fills both tables from the lengths. It is false for invalid lengths.
func (d *zlibDecoder) tables(literals, distances int) bool {
	if !d.code.sort(d.lengths[:literals]) {
		return false
	}
	d.code.fill(d.literals[:], literalBits, literalEntries)
	if !d.code.sort(d.lengths[maxLiterals : maxLiterals+distances]) {
		return false
	}
	d.code.fill(d.distances[:], distanceBits, distanceEntries)
	return true
}
