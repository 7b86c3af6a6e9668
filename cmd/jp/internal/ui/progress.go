package ui

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// Progress is shown only of long work, and slowly enough to be read.
const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

// A Progress says on the terminal's stderr how far a long work has come, on one
// line that goes away when it is done.
type Progress struct {
	env   *Env
	what  string // "conversations read"
	total int
	done  atomic.Int64
	quit  chan struct{}
	wait  sync.WaitGroup
}

// Progress begins to show how many of total are done. If the output is not seen, it only counts.
func (e *Env) Progress(what string, total int) *Progress {
	p := &Progress{env: e, what: what, total: total, quit: make(chan struct{})}
	if IsTerminal(e.Stderr) && !e.Quiet && Redraws(e.Style, e.Get("TERM")) {
		p.wait.Go(p.show)
	}
	return p
}

// Step counts one more that is done.
func (p *Progress) Step() { p.done.Add(1) }

// Stop takes the line away. It may be called again.
func (p *Progress) Stop() {
	select {
	case <-p.quit:
	default:
		close(p.quit)
	}
	p.wait.Wait()
}

func (p *Progress) show() {
	next := time.NewTimer(progressAfter)
	defer next.Stop()
	shown := false
	for {
		select {
		case <-p.quit:
			if shown {
				fmt.Fprint(p.env.Stderr, "\r\x1b[K")
			}
			return
		case <-next.C:
		}
		line := fmt.Sprintf("%s: %d of %d", p.what, p.done.Load(), p.total)
		fmt.Fprint(p.env.Stderr, "\r"+safetext.Fit(line, terminal.Width(p.env.Stderr, p.env.Environ)-1)+"\x1b[K")
		shown = true
		next.Reset(progressEvery)
	}
}
