package main

import (
	"context"
	"io"
	"sync"

	"jp/conversation"
	"jp/internal/safetext"
)

// results is standard output, for what a command was asked for.
func (e *env) results() io.Writer { return e.resultsTo(e.stdout) }

func (e *env) resultsTo(w io.Writer) io.Writer {
	return resultWriter{w: w, lost: &e.lost, json: e.format.structured()}
}

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
	json bool // what is written is JSON, in whole characters
}

// Write implements [io.Writer].
func (r resultWriter) Write(p []byte) (n int, err error) {
	r.lost.mu.Lock()
	defer r.lost.mu.Unlock()
	if r.lost.err != nil {
		return 0, r.lost.err
	}
	if !r.json {
		n, r.lost.err = r.w.Write(p)
		return n, r.lost.err
	}
	if _, r.lost.err = r.w.Write(safetext.EscapeJSON(p)); r.lost.err != nil {
		return 0, r.lost.err
	}
	return len(p), nil
}

// forEach changes conversations that are held, also behind one that could not be
// changed. It returns why the last of those could not, and has reported the others.
func (e *env) forEach(ctx context.Context, infos []conversation.Info, do func(conversation.Info) error) (failed error) {
	for _, info := range infos {
		if err := do(info); err != nil {
			if failed != nil {
				failureOf(failed).report(e.stderr, e.format.structured())
			}
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}
