package ui

import (
	"context"
	"fmt"
	"io"
	"sync"

	"jp/agent/repo"
	"jp/internal/safetext"
)

// Results is standard output, for the results of a command.
func (e *Env) Results() io.Writer { return e.resultsTo(shownOn(e.Console, e.Stdout)) }

func (e *Env) resultsTo(w io.Writer) io.Writer {
	return resultWriter{w: w, lost: &e.Lost, json: e.Format.Structured()}
}

// ChangedFiles writes the result of a command that changed files, as JSON or as a line.
func ChangedFiles(w io.Writer, structured bool, action, line string, paths ...string) error {
	if !structured {
		_, err := fmt.Fprintln(w, line)
		return err
	}
	files := []repo.FileResult{}
	for _, path := range paths {
		files = append(files, repo.FileResult{Path: path, Done: true})
	}
	return WriteJSON(w, struct {
		Action string            `json:"action"`
		Files  []repo.FileResult `json:"files"`
	}{action, files})
}

// A loss is the first error of writing results. A turn goes on without them, and the command fails at
// its end.
type loss struct {
	mu  sync.Mutex
	err error
}

func (l *loss) First() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// A resultWriter writes no more after the first error.
type resultWriter struct {
	w    io.Writer
	lost *loss
	json bool // the output is JSON, in whole characters
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

// Gathered combines small results into few writes. It never divides a text that it was given, so that
// each write has whole characters, as a result in JSON must.
type Gathered struct {
	w    io.Writer
	held []byte
}

// Gather gathers the writes to w.
func Gather(w io.Writer) *Gathered { return &Gathered{w: w} }

// Write implements [io.Writer].
func (g *Gathered) Write(p []byte) (int, error) {
	if g.held = append(g.held, p...); len(g.held) < 4<<10 {
		return len(p), nil
	}
	return len(p), g.Flush()
}

// Flush writes the gathered text.
func (g *Gathered) Flush() error {
	if len(g.held) == 0 {
		return nil
	}
	_, err := g.w.Write(g.held)
	g.held = g.held[:0]
	return err
}

// ForEach calls do for each element that the user named, also after failures. It returns the last
// failure, and has reported the others.
func ForEach[T any](ctx context.Context, e *Env, all []T, do func(T) error) (failed error) {
	for _, one := range all {
		if err := do(one); err != nil {
			if failed != nil {
				ReportProblem(repo.ProblemOf(failed), e.Stderr, e.Format.Structured(), e.MessageColumns())
			}
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}
