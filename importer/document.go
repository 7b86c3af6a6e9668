package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Reasons why a part of a document or a database is refused.
const (
	refusedAlone = "part without its message"
	refusedMany  = "over 4096 calls in one answer"
	refusedPage  = "damaged page of the database"
)

// A piece is a value of a JSON document.
type piece struct {
	path    string // keys, with "*" for an element, such as "messages/*/parts/*"
	value   []byte // valid until the next piece
	refused string // why the value is missing
	end     bool   // of an object or an array that was opened
}

// errDocument means that a document is damaged, so that the rest of it is ambiguous.
var errDocument = errors.New("the document is damaged")

// pieces reads one JSON document of any size. The objects and arrays that opened names are
// given value by value, and each other value as one. Memory is bounded by the largest value
// that is allowed.
func pieces(r io.Reader, opened func(path string) bool, do func(piece) error) error {
	d := &document{in: bufio.NewReaderSize(r, 64<<10), opened: opened, do: do}
	if err := d.read(""); err != nil {
		return err
	}
	if _, err := d.begin(); !errors.Is(err, io.EOF) {
		return cmpError(err, errDocument)
	}
	return nil
}

func cmpError(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

type document struct {
	in     *bufio.Reader
	opened func(string) bool
	do     func(piece) error
	buffer []byte
}

// begin is the next byte after spaces, which stays unread.
func (d *document) begin() (byte, error) {
	for {
		c, err := d.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, d.in.UnreadByte()
		}
	}
}

// next is begin within a value. The end of the document is an error there.
func (d *document) next() (byte, error) {
	c, err := d.begin()
	if errors.Is(err, io.EOF) {
		err = errDocument
	}
	return c, err
}

// skip reads the byte that next gave.
func (d *document) skip() { _, _ = d.in.Discard(1) }

func (d *document) read(path string) error {
	c, err := d.next()
	if err != nil {
		return err
	}
	if c != '{' && c != '[' || !d.opened(path) {
		p, err := d.whole(path)
		if err != nil {
			return err
		}
		return d.do(p)
	}
	d.skip()
	below := "*"
	if path != "" {
		below = path + "/*"
	}
	for first := true; ; first = false {
		at, err := d.next()
		if err != nil {
			return err
		}
		if at == c+2 { // the end of the value that c begins
			d.skip()
			return d.do(piece{path: path, end: true})
		}
		if !first {
			if at != ',' {
				return errDocument
			}
			d.skip()
		}
		if c == '{' {
			if below, err = d.key(path); err != nil {
				return err
			}
		}
		if err := d.read(below); err != nil {
			return err
		}
	}
}

// key reads a key with its colon, and is the path of its value.
func (d *document) key(path string) (string, error) {
	if c, err := d.next(); err != nil || c != '"' {
		return "", cmpError(err, errDocument)
	}
	p, err := d.whole("")
	if err != nil {
		return "", err
	}
	const most = 256
	var key string
	if p.refused != "" || len(p.value) > most || json.Unmarshal(p.value, &key) != nil {
		key = "?"
	}
	c, err := d.next()
	if err != nil || c != ':' {
		return "", cmpError(err, errDocument)
	}
	d.skip()
	if path != "" {
		key = path + "/" + key
	}
	return key, nil
}

func (d *document) whole(path string) (piece, error) {
	d.buffer = d.buffer[:0]
	depth, deepest, quoted, escaped, large := 0, 0, false, false, false
	for {
		if _, err := d.in.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = errDocument
			}
			return piece{}, err
		}
		chunk, _ := d.in.Peek(d.in.Buffered())
		n, done := 0, false
		for ; n < len(chunk) && !done; n++ {
			c := chunk[n]
			switch {
			case escaped:
				escaped = false
			case quoted:
				if c == '\\' {
					escaped = true
				} else if c == '"' {
					quoted = false
					done = depth == 0
				}
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
				deepest = max(deepest, depth)
			case c == '}' || c == ']' || c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\t' || c == '\r':
				if depth == 0 { // behind a number or a word
					n--
					done = true
				} else if c == '}' || c == ']' {
					depth--
					done = depth == 0
				}
			}
		}
		if large = large || len(d.buffer)+n > maxRecord; !large {
			d.buffer = append(d.buffer, chunk[:n]...)
		}
		_, _ = d.in.Discard(n)
		if !done {
			continue
		}
		switch {
		case large:
			return piece{path: path, refused: refusedLarge}, nil
		case deepest > maxDepth:
			return piece{path: path, refused: refusedDeep}, nil
		case len(d.buffer) == 0:
			return piece{}, errDocument
		}
		return piece{path: path, value: d.buffer}, nil
	}
}
