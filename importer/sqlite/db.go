package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Magic is how a database begins.
const Magic = "SQLite format 3\x00"

// ErrDamaged means that bytes of a database are invalid.
var ErrDamaged = errors.New("the database is damaged")

// A DB is a copy of a database.
type DB struct {
	file   *os.File
	log    *os.File
	frames map[uint32]int64 // places of the newest content of pages in the log
	size   int              // bytes of a page
	usable int              // of them, those that hold content
	pages  uint32
	budget int64 // overflow pages that may still be read: a damaged row may point anywhere
	schema *Table
}

// Open copies a database, and reads it as of its last complete change.
func Open(path string) (*DB, error) {
	file, log, err := copies(path)
	if err != nil {
		return nil, err
	}
	db := &DB{file: file, log: log}
	if err := db.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return db, nil
}

// Close removes the copy.
func (db *DB) Close() error { return closeAll(db.file, db.log) }

// headSize is the size of the database's head, at the beginning of its first page.
const headSize = 100

func (db *DB) begin() error {
	info, err := db.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, headSize)
	n, err := db.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	const logged = 2
	if db.log != nil && (n == 0 || n == headSize && head[19] == logged) { // without a page, the log has all
		if err := db.readLog(); err != nil {
			return err
		}
	}
	if page, ok := db.frames[1]; ok {
		if _, err := db.log.ReadAt(head, page); err != nil {
			return err
		}
	}
	if string(head[:len(Magic)]) != Magic {
		return errors.New("it is no SQLite database")
	}
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	db.usable = size - int(head[20])
	if size < 512 || size&(size-1) != 0 || db.usable < 480 || db.size != 0 && db.size != size {
		return ErrDamaged
	}
	db.size = size
	if encoding := binary.BigEndian.Uint32(head[56:]); encoding > 1 {
		return errors.New("its texts are not in UTF-8")
	}
	if db.pages == 0 {
		db.pages = uint32(min(info.Size()/int64(size), 1<<32-2))
	}
	const readings = 64 // of one page: this is the unit of all work here
	db.budget = readings*int64(db.pages) + 1<<16
	db.schema = &Table{db: db, root: 1, columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}}
	return nil
}

// Sizes in a log.
const (
	logHead   = 32
	frameHead = 24
)

// readLog finds the pages of all complete changes in the log. It stops at the first frame of another log.
func (db *DB) readLog() error {
	in := bufio.NewReaderSize(io.NewSectionReader(db.log, 0, maxLog), 1<<16)
	head := make([]byte, logHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return ended(err)
	}
	magic, size := binary.BigEndian.Uint32(head), int(binary.BigEndian.Uint32(head[8:]))
	if magic&^1 != 0x377f0682 || size < 512 || size > 1<<16 || size&(size-1) != 0 {
		return nil // it is empty
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum(order, [2]uint32{}, head[:24])
	if sum != sumAt(head[24:]) {
		return nil
	}
	frame := make([]byte, frameHead+size)
	pending := map[uint32]int64{}
	for at := int64(logHead); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); err != nil {
			return ended(err)
		}
		sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameHead:])
		if string(frame[8:16]) != string(head[16:24]) || sum != sumAt(frame[16:]) {
			return nil
		}
		page := binary.BigEndian.Uint32(frame)
		if page == 0 {
			return nil
		}
		pending[page] = at + frameHead
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 { // it completes a change
			if db.frames == nil {
				db.frames = map[uint32]int64{}
			}
			for page, at := range pending {
				db.frames[page] = at
			}
			clear(pending)
			db.pages, db.size = pages, size
		}
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func sumAt(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

func checksum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sum[0] += order.Uint32(b) + sum[1]
		sum[1] += order.Uint32(b[4:]) + sum[0]
	}
	return sum
}

// page reads a page into a buffer of its size.
func (db *DB) page(number uint32, into []byte) error {
	if number == 0 || number > db.pages {
		return ErrDamaged
	}
	in, at := db.file, int64(number-1)*int64(db.size)
	if logged, ok := db.frames[number]; ok {
		in, at = db.log, logged
	}
	_, err := in.ReadAt(into[:db.size], at)
	if errors.Is(err, io.EOF) {
		return ErrDamaged
	}
	return err
}
