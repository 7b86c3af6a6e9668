package sqlite

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// A Table is one of a database.
type Table struct {
	db      *DB
	root    uint32
	columns []string
}

// ErrNoTable means that a database lacks a table.
var ErrNoTable = errors.New("it has no such table")

// Table finds a table by its name.
func (db *DB) Table(name string) (*Table, error) {
	var found *Table
	_, err := db.schema.Scan(func(r *Row) error {
		kind, _ := r.Text(0)
		called, _ := r.Text(1)
		if kind != "table" || !strings.EqualFold(called, name) || found != nil {
			return nil
		}
		root, _ := r.Int(3)
		text, err := r.Text(4)
		if err != nil || root < 1 || root > int64(db.pages) {
			return ErrDamaged
		}
		found = &Table{db: db, root: uint32(root)}
		found.columns, err = columnsOf(text)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, ErrNoTable
	}
	return found, nil
}

// Column is the place of a column, -1 if the table lacks it.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.columns, func(c string) bool { return strings.EqualFold(c, name) })
}

const (
	leafPage  = 0x0d
	innerPage = 0x05
	maxLevels = 24 // a tree over all pages that there can be has fewer
)

// A tree page is a page with its cells.
type treePage struct {
	bytes []byte
	cells []byte // two bytes for each cell
	inner bool
	last  uint32 // the page behind the last cell of an inner page
}

func (db *DB) treePage(number uint32, buffer []byte) (p treePage, err error) {
	if err := db.page(number, buffer); err != nil {
		return p, err
	}
	p.bytes = buffer[:db.usable]
	at := 0
	if number == 1 {
		at = headSize
	}
	head := 8
	switch p.bytes[at] {
	case leafPage:
	case innerPage:
		p.inner, head = true, 12
		p.last = binary.BigEndian.Uint32(p.bytes[at+8:])
	default:
		return p, ErrDamaged
	}
	count := int(binary.BigEndian.Uint16(p.bytes[at+3:]))
	if at+head+2*count > len(p.bytes) {
		return p, ErrDamaged
	}
	p.cells = p.bytes[at+head:][:2*count]
	return p, nil
}

func (p treePage) count() int { return len(p.cells) / 2 }

// child is the page below a cell of an inner page, with the largest number that it has.
func (p treePage) child(i int) (page uint32, largest int64, ok bool) {
	at := int(binary.BigEndian.Uint16(p.cells[2*i:]))
	if at+4 > len(p.bytes) {
		return 0, 0, false
	}
	largest, n := varint(p.bytes[at+4:])
	return binary.BigEndian.Uint32(p.bytes[at:]), largest, n > 0
}

// row reads a cell of a leaf.
func (p treePage) row(t *Table, i int, r *Row) bool {
	at := int(binary.BigEndian.Uint16(p.cells[2*i:]))
	if at >= len(p.bytes) {
		return false
	}
	cell := p.bytes[at:]
	size, n := varint(cell)
	id, m := varint(cell[n:])
	if n == 0 || m == 0 || size < 0 || size > maxFile {
		return false
	}
	r.table, r.ID, r.size, r.local, r.next = t, id, size, cell[n+m:], 0
	usable := int64(t.db.usable)
	if most := usable - 35; size > most {
		least := (usable-12)*32/255 - 23
		here := least + (size-least)%(usable-4)
		if here > most {
			here = least
		}
		if here+4 > int64(len(r.local)) {
			return false
		}
		r.next = binary.BigEndian.Uint32(r.local[here:])
		size = here
	}
	if size > int64(len(r.local)) {
		return false
	}
	r.local = r.local[:size]
	return r.readHead()
}

// Scan gives all rows in the order of their numbers. A row is valid until do returns. damaged counts invalid
// pages and rows.
func (t *Table) Scan(do func(*Row) error) (damaged int, err error) {
	s := scan{table: t, do: do, left: int64(t.db.pages)}
	err = s.tree(t.root, 0)
	return s.damaged, err
}

type scan struct {
	table   *Table
	do      func(*Row) error
	left    int64 // pages that may still be read, so that each is read at most once
	damaged int
	row     Row
	buffers [maxLevels][]byte
}

func (s *scan) tree(number uint32, level int) error {
	if s.left--; level >= maxLevels || s.left < 0 {
		s.damaged++
		return nil
	}
	if s.buffers[level] == nil {
		s.buffers[level] = make([]byte, s.table.db.size)
	}
	p, err := s.table.db.treePage(number, s.buffers[level])
	if errors.Is(err, ErrDamaged) {
		s.damaged++
		return nil
	}
	if err != nil {
		return err
	}
	for i := range p.count() {
		if !p.inner {
			if !p.row(s.table, i, &s.row) {
				s.damaged++
				continue
			}
			if err := s.do(&s.row); err != nil {
				return err
			}
			continue
		}
		child, _, ok := p.child(i)
		if !ok {
			s.damaged++
			continue
		}
		if err := s.tree(child, level+1); err != nil {
			return err
		}
	}
	if p.inner {
		return s.tree(p.last, level+1)
	}
	return nil
}

// A Reader reads single rows of a table.
type Reader struct {
	table  *Table
	row    Row
	buffer []byte
}

// Reader makes one.
func (t *Table) Reader() *Reader { return &Reader{table: t, buffer: make([]byte, t.db.size)} }

// Get reads the row of a number. The row is valid until the next call.
func (r *Reader) Get(id int64) (*Row, error) {
	t, number := r.table, r.table.root
	for range maxLevels {
		p, err := t.db.treePage(number, r.buffer)
		if err != nil {
			return nil, err
		}
		if !p.inner {
			for i := range p.count() {
				if p.row(t, i, &r.row) && r.row.ID == id {
					return &r.row, nil
				}
			}
			return nil, ErrDamaged
		}
		number = p.last
		for i := range p.count() {
			child, largest, ok := p.child(i)
			if !ok {
				return nil, ErrDamaged
			}
			if id <= largest {
				number = child
				break
			}
		}
	}
	return nil, ErrDamaged
}

// varint reads a number of one to nine bytes. n is 0 if it does not end.
func varint(b []byte) (value int64, n int) {
	var v uint64
	for i, c := range b {
		if i == 8 {
			return int64(v<<8 | uint64(c)), 9
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}
