package provider

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"
)

// An EncodedStore keeps one value of each type for the requests of a conversation. The zero value is ready to use, by several
// goroutines. So a model call encodes only the messages since the call before it.
type EncodedStore struct {
	mu     sync.Mutex
	values map[reflect.Type]any
}

// EncodedOf is the value of a type that a store keeps: the zero value at first. A nil store is always empty.
func EncodedOf[T any](s *EncodedStore) *T {
	if s == nil {
		return new(T)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if value, known := s.values[reflect.TypeFor[T]()]; known {
		return value.(*T)
	}
	if s.values == nil {
		s.values = map[reflect.Type]any{}
	}
	value := new(T)
	s.values[reflect.TypeFor[T]()] = value
	return value
}

// most is how many conversations are kept: that of a turn, and those beside it.
const most = 4

// EncodedLists keeps the newest list of each of a few conversations, with the JSON of its items. The
// zero value is ready to use, by several goroutines.
type EncodedLists[T any] struct {
	mu    sync.Mutex
	lists []encodedList[T] // the newest one first
}

// A encodedList is a request's part of a conversation. It is immutable.
type encodedList[T any] struct {
	items []T
	json  [][]byte
}

// An Encoding tells how a request becomes JSON.
type Encoding[T any] struct {
	Whole func(items []T) ([]byte, error) // the request with these items
	One   func(item T) ([]byte, error)    // one item, as it stands in the request
	// Same reports that two items have the same memory, which spares comparing them; nil: unknown.
	Same func(a, b T) bool
	// Stub is an item that conversations never have. Whole with it alone is the request around the items.
	Stub T
}

// An EncodedBody is the JSON of a request. It shares that of its items with other requests.
type EncodedBody struct {
	before, after []byte
	items         [][]byte // with a comma between them
}

// Len is its length in bytes.
func (b EncodedBody) Len() int {
	size := len(b.before) + max(0, len(b.items)-1) + len(b.after)
	for _, item := range b.items {
		size += len(item)
	}
	return size
}

// Bytes is a copy of the body.
func (b EncodedBody) Bytes() []byte {
	return slices.Concat(b.before, bytes.Join(b.items, []byte(",")), b.after)
}

// Reader reads the body.
func (b EncodedBody) Reader() io.ReadCloser { return &bodyReader{body: b} }

// SetOf makes it the body of a request.
func (b EncodedBody) SetOf(r *http.Request) {
	r.Body, r.ContentLength = b.Reader(), int64(b.Len())
	r.GetBody = func() (io.ReadCloser, error) { return b.Reader(), nil }
}

// A bodyReader reads the pieces of a body: the text before the items, each item and each comma, and the text
// after them.
type bodyReader struct {
	body  EncodedBody
	piece int
	at    int // in the piece
}

// Close implements [io.Closer].
func (*bodyReader) Close() error { return nil }

// Read implements [io.Reader].
func (r *bodyReader) Read(to []byte) (n int, err error) {
	last := max(1, 2*len(r.body.items))
	for n < len(to) && r.piece <= last {
		piece := []byte(",")
		switch {
		case r.piece == 0:
			piece = r.body.before
		case r.piece == last:
			piece = r.body.after
		case r.piece%2 == 1:
			piece = r.body.items[r.piece/2]
		}
		took := copy(to[n:], piece[r.at:])
		n, r.at = n+took, r.at+took
		if r.at == len(piece) {
			r.piece, r.at = r.piece+1, 0
		}
	}
	if n == 0 && len(to) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Body is the same as e.Whole of the items. Items that are deeply equal have equal JSON.
func (l *EncodedLists[T]) Body(items []T, e Encoding[T]) (EncodedBody, error) {
	whole := func() (EncodedBody, error) {
		data, err := e.Whole(items)
		return EncodedBody{before: data}, err
	}
	if len(items) == 0 {
		return whole()
	}
	stub, err := e.One(e.Stub)
	if err != nil {
		return EncodedBody{}, err
	}
	frame, err := e.Whole([]T{e.Stub})
	if err != nil {
		return EncodedBody{}, err
	}
	before, after, found := bytes.Cut(frame, stub)
	if !found || bytes.Contains(after, stub) {
		return whole() // a setting of the user's takes the items' place
	}
	all, err := l.encode(items, e)
	return EncodedBody{before, after, all}, err
}

// encode is the JSON of each item, as far as possible from the newest list of the conversation.
func (l *EncodedLists[T]) encode(items []T, e Encoding[T]) ([][]byte, error) {
	known := l.of(items[0])
	all := make([][]byte, len(items))
	for i, item := range items {
		if i < len(known.items) && (e.Same != nil && e.Same(known.items[i], item) || reflect.DeepEqual(known.items[i], item)) {
			all[i] = known.json[i]
			continue
		}
		data, err := e.One(item)
		if err != nil {
			return nil, err
		}
		all[i] = data
	}
	l.keep(encodedList[T]{items, all})
	return all, nil
}

// of is the newest list that begins with an item.
func (l *EncodedLists[T]) of(first T) encodedList[T] {
	l.mu.Lock()
	lists := slices.Clone(l.lists)
	l.mu.Unlock()
	for _, known := range lists {
		if reflect.DeepEqual(known.items[0], first) {
			return known
		}
	}
	return encodedList[T]{}
}

// keep keeps a list in place of the one that begins alike.
func (l *EncodedLists[T]) keep(newest encodedList[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(l.lists), func(known encodedList[T]) bool { return reflect.DeepEqual(known.items[0], newest.items[0]) })
	l.lists = append([]encodedList[T]{newest}, others[:min(len(others), most-1)]...)
}
