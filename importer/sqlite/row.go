package sqlite

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// MaxValue is the size of the largest value that is read.
const MaxValue = 8 << 20

// ErrLarge is a value over [MaxValue].
var ErrLarge = errors.New("a value is over 8 MiB")

// A Row is one of a table.
type Row struct {
	ID    int64
	table *Table
	size  int64  // of all values with their head
	local []byte // the part in the table's page
	next  uint32 // the page with the rest
	types [maxColumns]int64
	count int
	head  int64 // size of the head, behind which the values are
}

const maxColumns = 128

// readHead reads the types of the values.
func (r *Row) readHead() bool {
	size, n := varint(r.local)
	if n == 0 || size < int64(n) || size > r.size || size > 1<<12 {
		return false
	}
	head := r.local
	if size > int64(len(head)) {
		long, err := r.bytes(0, size)
		if err != nil {
			return false
		}
		head = long
	}
	r.head, r.count = size, 0
	for b := head[n:size]; len(b) > 0 && r.count < maxColumns; r.count++ {
		kind, n := varint(b)
		if n == 0 || kind < 0 {
			return false
		}
		r.types[r.count] = kind
		b = b[n:]
	}
	return true
}

var widths = [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}

func width(kind int64) int64 {
	if kind < int64(len(widths)) {
		return widths[kind]
	}
	return (kind - 12) / 2
}

// Size is the size of a value.
func (r *Row) Size(column int) int64 {
	if column < 0 || column >= r.count {
		return 0
	}
	return width(r.types[column])
}

// value reads a value's bytes. A column that the row lacks is null.
func (r *Row) value(column int) (kind int64, value []byte, err error) {
	if column < 0 || column >= r.count {
		return 0, nil, nil
	}
	at := r.head
	for _, kind := range r.types[:column] {
		if at += width(kind); at > r.size {
			return 0, nil, ErrDamaged
		}
	}
	kind = r.types[column]
	value, err = r.bytes(at, width(kind))
	return kind, value, err
}

// bytes reads a part of the row, from its overflow pages too.
func (r *Row) bytes(at, n int64) ([]byte, error) {
	switch {
	case n > MaxValue:
		return nil, ErrLarge
	case at+n > r.size:
		return nil, ErrDamaged
	case at+n <= int64(len(r.local)):
		return r.local[at : at+n], nil
	}
	out := make([]byte, 0, n)
	if at < int64(len(r.local)) {
		out = append(out, r.local[at:]...)
	}
	skip := max(at-int64(len(r.local)), 0)
	db := r.table.db
	page, rest := make([]byte, db.size), int64(db.usable-4)
	number := r.next
	for int64(len(out)) < n {
		if db.budget--; db.budget < 0 {
			return nil, ErrDamaged
		}
		if err := db.page(number, page); err != nil {
			return nil, err
		}
		number = binary.BigEndian.Uint32(page)
		if skip >= rest {
			skip -= rest
			continue
		}
		part := page[4+skip : db.usable]
		skip = 0
		out = append(out, part[:min(int64(len(part)), n-int64(len(out)))]...)
	}
	return out, nil
}

// Text is a text, or a number as one. Null is "".
func (r *Row) Text(column int) (string, error) {
	value, err := r.Bytes(column)
	return string(value), err
}

// Bytes is Text without a copy: it is valid as long as the row.
func (r *Row) Bytes(column int) ([]byte, error) {
	kind, value, err := r.value(column)
	if err != nil || kind >= 12 {
		return value, err
	}
	if n, ok := r.Int(column); ok {
		return strconv.AppendInt(nil, n, 10), nil
	}
	return nil, nil
}

// Int is a whole number. ok is false for another value.
func (r *Row) Int(column int) (n int64, ok bool) {
	kind, value, err := r.value(column)
	if err != nil {
		return 0, false
	}
	switch kind {
	case 1, 2, 3, 4, 5, 6:
		for _, b := range value {
			n = n<<8 | int64(b)
		}
		unused := 64 - 8*len(value)
		return n << unused >> unused, true
	case 7:
		f := math.Float64frombits(binary.BigEndian.Uint64(value))
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	case 8, 9:
		return kind - 8, true
	}
	return 0, false
}
