package provider

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"reflect"
)

// Prefix is the hash, in hex, of the model's input: system, tools and messages. Equal prefixes mean equal
// requests, apart from their options.
func (r *Request) Prefix() string {
	known := r.turns.begins(r.Messages)
	h, from := r.turns.hashed(r, known)
	if h == nil {
		h = sha256.New()
	}
	f := framer{w: bufio.NewWriterSize(h, 32<<10)}
	if from == 0 {
		f.text(r.System)
		f.count(len(r.Tools))
		for _, t := range r.Tools {
			f.text(t.Name)
			f.text(t.Description)
			f.bytes(t.Parameters)
		}
	}
	for i, m := range r.Messages[from:] {
		f.message(m)
		if from+i+1 == known {
			_ = f.w.Flush()
			r.turns.keep(h, r, known)
		}
	}
	f.count(len(r.Messages))
	_ = f.w.Flush() // a hash takes all bytes
	return hex.EncodeToString(h.Sum(nil))
}

// A hashedPrefix is a hash of the system prompt, the tools and some messages.
type hashedPrefix struct {
	system   string
	tools    []Tool
	messages int
	hash     hash.Cloner
}

// hashed is the hash of the first messages of a request, at most that many, and of the parts before them, and
// their number. It is nil if it is unknown.
func (t *projectedTurns) hashed(r *Request, most int) (hash.Hash, int) {
	if t == nil {
		return nil, 0
	}
	t.mu.Lock()
	known := t.prefix
	t.mu.Unlock()
	if known.hash == nil || known.messages > most || known.system != r.System || !reflect.DeepEqual(known.tools, r.Tools) {
		return nil, 0
	}
	h, err := known.hash.Clone()
	if err != nil {
		return nil, 0
	}
	return h, known.messages
}

// prefixOf is the known hash if it is of messages with which these begin, else the zero value.
func (t *projectedTurns) prefixOf(messages []Message) hashedPrefix {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begins(messages) < t.prefix.messages {
		return hashedPrefix{}
	}
	return t.prefix
}

// keep keeps the hash of the first messages of a request.
func (t *projectedTurns) keep(h hash.Hash, r *Request, messages int) {
	if h, err := h.(hash.Cloner).Clone(); err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.prefix = hashedPrefix{r.System, r.Tools, messages, h}
	}
}

// A framer writes fields with their lengths before them, so that different sequences of fields have different
// bytes.
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
