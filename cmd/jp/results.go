package main

import (
	"io"
	"sync"
)

// results is standard output, for what a command was asked for.
func (e *env) results() io.Writer { return resultWriter{e.stdout, &e.lost} }

// A loss is the first error of writing results. A turn goes on without them; it
// is the command that fails, when it is done.
type loss struct {
	mu  sync.Mutex
	err error
}

func (l *loss) first() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// A resultWriter writes nothing more after the first error.
type resultWriter struct {
	w    io.Writer
	lost *loss
}

// Write implements [io.Writer].
func (r resultWriter) Write(p []byte) (n int, err error) {
	r.lost.mu.Lock()
	defer r.lost.mu.Unlock()
	if r.lost.err != nil {
		return 0, r.lost.err
	}
	n, err = r.w.Write(p)
	r.lost.err = err
	return n, err
}
