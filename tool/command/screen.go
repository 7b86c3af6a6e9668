package command

import (
	"bytes"
	"sync"
	"time"

	"jp/internal/lazy"
)

// How long a program may stay in the alternate screen without further output, and with it. Tests change them.
var screenSilent, screenMost = 10 * time.Second, time.Minute

// alternate enters (h) or leaves (l) the alternate screen, on which editors, pagers and monitors draw.
var alternate = lazy.Regexp(`\x1b\[\?(?:1049|1047|47)([hl])`)

// alternateSize is the length of its longest form.
const alternateSize = len("\x1b[?1049h")

// vimWarns begins the output of a vim without a terminal. If TERM names a terminal without an alternate
// screen, vim stays in the normal one.
const vimWarns = "Vim: Warning: "

// A screen watches output for a program that stays in the alternate screen. Such a program waits for keys of
// a terminal, and would wait for ever. Several goroutines may write.
type screen struct {
	mu    sync.Mutex
	rest  []byte    // the end of the output, which may begin a sequence
	since time.Time // it is in the alternate screen; zero if it is outside
	last  time.Time // output
}

// Write implements [io.Writer]. It takes all of p.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.last.IsZero()
	s.last = time.Now()
	if first && bytes.HasPrefix(p, []byte(vimWarns)) {
		s.since = s.last
	}
	s.rest = append(s.rest, p[:min(len(p), alternateSize)]...)
	s.scan(s.rest) // a sequence in two pieces
	s.scan(p)
	if len(p) >= alternateSize {
		s.rest = append(s.rest[:0], p[len(p)-alternateSize:]...)
	}
	s.rest = append(s.rest[:0], s.rest[max(0, len(s.rest)-alternateSize):]...)
	return len(p), nil
}

// scan notes the sequences in a piece of output, in order.
func (s *screen) scan(p []byte) {
	for _, at := range alternate().FindAllSubmatchIndex(p, -1) {
		switch {
		case p[at[2]] == 'l':
			s.since = time.Time{}
		case s.since.IsZero():
			s.since = s.last
		}
	}
}

// waits reports whether the program waits for keys at a time.
func (s *screen) waits(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero() && (now.Sub(s.last) >= screenSilent || now.Sub(s.since) >= screenMost)
}
