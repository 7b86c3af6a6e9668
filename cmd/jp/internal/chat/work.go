package chat

import (
	"context"
	"sync"
	"time"
)

type work struct {
	mu  sync.Mutex
	run context.Context // nil: none
}

func (w *work) begin(run context.Context) {
	w.mu.Lock()
	w.run = run
	w.mu.Unlock()
}

func (w *work) end() {
	w.mu.Lock()
	w.run = nil
	w.mu.Unlock()
}

// running is the context of the turn, nil if none runs.
func (w *work) running() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.run
}

// doubleKeys act when they are pressed twice: Ctrl+C, and Esc in an empty line.
type doubleKeys struct {
	mu     sync.Mutex
	ctrlC  time.Time
	escape time.Time
}

const (
	twice = 2 * time.Second // how soon a second Ctrl+C leaves
	again = time.Second     // and a second Esc goes back
)

// press takes one of the keys while no turn runs, and reports whether it is the second one.
func (t *doubleKeys) press(ctrlC, empty bool) (second bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, before := time.Now(), t.escape
	t.escape = time.Time{}
	switch {
	case ctrlC:
		before, t.ctrlC = t.ctrlC, now
		return now.Sub(before) < twice
	case empty && now.Sub(before) < again:
		return true
	case empty:
		t.escape = now
	}
	return false
}

// forget forgets the first Ctrl+C, and reports whether there was one.
func (t *doubleKeys) forget() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := !t.ctrlC.IsZero()
	t.ctrlC = time.Time{}
	return was
}
