package provider

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Prefix is the hash, in hex, of what the model reads: system, tools and
// messages. Equal prefixes mean equal requests, up to their options.
func (r *Request) Prefix() string {
	h := sha256.New()
	f := framer{w: bufio.NewWriterSize(h, 32<<10)}
	f.text(r.System)
	f.count(len(r.Tools))
	for _, t := range r.Tools {
		f.text(t.Name)
		f.text(t.Description)
		f.bytes(t.Parameters)
	}
	f.count(len(r.Messages))
	for _, m := range r.Messages {
		f.message(m)
	}
	_ = f.w.Flush() // a hash takes all bytes
	return hex.EncodeToString(h.Sum(nil))
}

// A framer writes fields with their lengths before them, so that no two
// sequences of fields are the same bytes.
type framer struct{ w *bufio.Writer }

func (f framer) message(m Message) {
	f.text(string(m.Role))
	f.count(len(m.Blocks))
	for _, b := range m.Blocks {
		f.text(string(b.Kind))
		f.text(b.Text)
		f.text(b.ID)
		f.text(b.Name)
		f.bytes(b.Arguments)
		if b.IsError {
			f.count(1)
		} else {
			f.count(0)
		}
		f.text(b.MediaType)
		f.bytes(b.Data)
		f.bytes(b.Item)
	}
}

func (f framer) count(n int) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(n))
	_, _ = f.w.Write(size[:])
}

func (f framer) text(s string) {
	f.count(len(s))
	_, _ = f.w.WriteString(s)
}

func (f framer) bytes(b []byte) {
	f.count(len(b))
	_, _ = f.w.Write(b)
}
