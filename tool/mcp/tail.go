package mcp

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// tailSize is the kept size of a server's output beside the protocol.
const tailSize = 2 << 10

// A tail keeps the end of the bytes written to it. Several goroutines may use it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write takes all of p and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailSize):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-tailSize):]...)
	return len(p), nil
}

// text is the kept text, without invisible characters.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	for len(kept) > 0 && !utf8.RuneStart(kept[0]) {
		kept = kept[1:]
	}
	return strings.TrimSpace(clean(string(kept)))
}
