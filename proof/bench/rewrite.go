package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// rewrites are the lengths at which a conversation is kept as one JSON document.
var rewrites = []int{100, 1_000}

func rewriteName(events int) string { return fmt.Sprintf("JSON of %s", grouped(events)) }

// rewriteSide keeps a conversation as many agents do: for each event the whole
// document is written anew beside the old one, flushed, and takes its place.
func (b *bench) rewriteSide(dir string, events int) side {
	m := newMix(b.corpus, 1)
	var document []line
	add := func(n int) error {
		for _, e := range m.take(n) {
			l, err := lineOf(e)
			if err != nil {
				return err
			}
			document = append(document, l)
		}
		return nil
	}
	path := filepath.Join(dir, fmt.Sprintf("events-%d.json", events))
	return side{
		name: rewriteName(events), block: 5,
		prepare: func() error {
			if document == nil {
				return add(events)
			}
			return add(1)
		},
		run: func(context.Context) error {
			text, err := json.Marshal(document)
			if err != nil {
				return err
			}
			return replaceDurably(path, text)
		},
	}
}

// replaceDurably puts a flushed file in the place of another. Like those who
// keep conversations so, it leaves the folder unflushed.
func replaceDurably(path string, text []byte) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
