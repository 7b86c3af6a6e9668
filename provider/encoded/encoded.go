// Package encoded keeps the JSON of what requests of one conversation have in common, so
// that a model call encodes only what came since the call before it.
package encoded

import (
	"bytes"
	"reflect"
	"slices"
	"sync"
)

// A Store keeps one value of each type for the requests of a conversation. The zero value is ready to use, by several
// goroutines.
type Store struct {
	mu     sync.Mutex
	values map[reflect.Type]any
}

// Of is the value of a type that a store keeps: the zero value at first. A nil store keeps nothing.
func Of[T any](s *Store) *T {
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

// Lists keeps the newest list of each of a few conversations, with the JSON of its items. The
// zero value is ready to use, by several goroutines.
type Lists[T any] struct {
	mu    sync.Mutex
	lists []list[T] // the newest one first
}

// A list is what a request has of a conversation. It is never changed.
type list[T any] struct {
	items []T
	json  [][]byte
}

// An Encoding tells how a request becomes JSON.
type Encoding[T any] struct {
	Whole func(items []T) ([]byte, error) // the request with these items
	One   func(item T) ([]byte, error)    // one item, as it stands in the request
	// Stub is an item that no conversation has. Whole with it alone is the request around
	// the items.
	Stub T
}

// Body is what e.Whole gives for the items. Items that are deeply equal have equal JSON.
func (l *Lists[T]) Body(items []T, e Encoding[T]) ([]byte, error) {
	if len(items) == 0 {
		return e.Whole(items)
	}
	stub, err := e.One(e.Stub)
	if err != nil {
		return nil, err
	}
	frame, err := e.Whole([]T{e.Stub})
	if err != nil {
		return nil, err
	}
	before, after, found := bytes.Cut(frame, stub)
	if !found || bytes.Contains(after, stub) {
		return e.Whole(items) // a setting of the user's takes the items' place
	}
	all, err := l.encode(items, e.One)
	if err != nil {
		return nil, err
	}
	size := len(frame) + len(all)
	for _, one := range all {
		size += len(one)
	}
	body := append(make([]byte, 0, size), before...)
	for i, one := range all {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, one...)
	}
	return append(body, after...), nil
}

// encode is the JSON of each item, as far as possible from the newest list of the conversation.
func (l *Lists[T]) encode(items []T, one func(T) ([]byte, error)) ([][]byte, error) {
	known := l.of(items[0])
	all := make([][]byte, len(items))
	for i, item := range items {
		if i < len(known.items) && reflect.DeepEqual(known.items[i], item) {
			all[i] = known.json[i]
			continue
		}
		data, err := one(item)
		if err != nil {
			return nil, err
		}
		all[i] = data
	}
	l.keep(list[T]{items, all})
	return all, nil
}

// of is the newest list that begins with an item.
func (l *Lists[T]) of(first T) list[T] {
	l.mu.Lock()
	lists := slices.Clone(l.lists)
	l.mu.Unlock()
	for _, known := range lists {
		if reflect.DeepEqual(known.items[0], first) {
			return known
		}
	}
	return list[T]{}
}

// keep keeps a list in place of the one that begins alike.
func (l *Lists[T]) keep(newest list[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(l.lists), func(known list[T]) bool { return reflect.DeepEqual(known.items[0], newest.items[0]) })
	l.lists = append([]list[T]{newest}, others[:min(len(others), most-1)]...)
}
