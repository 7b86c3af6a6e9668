package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A toolProgress shows how far tools say they are: on a terminal one line that
// changes and goes away, elsewhere a line each, with -v only. Both are on stderr.
type toolProgress struct {
	out     io.Writer
	screen  bool
	columns func() int
	palette func() terminal.Palette
	now     func() time.Time
	gate    *sync.Mutex // held while the terminal asks; nil where nothing asks

	mu    sync.Mutex
	shown bool // there is a line on the terminal
	last  time.Time
}

// How often progress is shown.
const (
	progressOnScreen = 100 * time.Millisecond
	progressInLines  = time.Second
)

// newToolProgress is nil where nothing is shown.
func newToolProgress(e *Env, gate *sync.Mutex) *toolProgress {
	screen := IsTerminal(e.Stderr) && e.Get("TERM") != "dumb"
	if e.Quiet || !screen && !e.Verbose {
		return nil
	}
	return &toolProgress{
		out: e.Stderr, screen: screen, columns: func() int { return e.Columns(e.Stderr) },
		palette: func() terminal.Palette { return e.Palette(e.Stderr) }, now: time.Now, gate: gate,
	}
}

// tell shows a line, unless the last one is too young to be read or a question is
// on the terminal.
func (p *toolProgress) tell(at turnloop.Progress) {
	if p.gate != nil {
		if !p.gate.TryLock() {
			return
		}
		defer p.gate.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	every := progressInLines
	if p.screen {
		every = progressOnScreen
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	text := safetext.Clean(problem.OneLine(at.Tool + " · " + at.Text))
	if !p.screen {
		fmt.Fprintln(p.out, text)
		return
	}
	fmt.Fprint(p.out, "\r\x1b[K"+p.palette().Dim(safetext.Fit(text, p.columns()-1)))
	p.shown = true
}

// write prints something else, in the place of the line.
func (p *toolProgress) write(text func()) {
	if p == nil {
		text()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
	text()
}

// hide takes the line away.
func (p *toolProgress) hide() { p.write(func() {}) }
