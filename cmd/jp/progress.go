package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// Progress is shown only of what takes long, and not more often than it can be
// read.
const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

// A progress says on the terminal's stderr how far a long work has come, on one
// line that goes away when it is done.
type progress struct {
	env   *env
	what  string // "conversations read"
	total int
	done  atomic.Int64
	quit  chan struct{}
	wait  sync.WaitGroup
}

// progress begins to show how many of total are done. Where nobody would see it,
// it only counts.
func (e *env) progress(what string, total int) *progress {
	p := &progress{env: e, what: what, total: total, quit: make(chan struct{})}
	if isTerminal(e.stderr) && !e.quiet && e.get("TERM") != "dumb" {
		p.wait.Go(p.show)
	}
	return p
}

// step counts one more that is done.
func (p *progress) step() { p.done.Add(1) }

// stop takes the line away. It may be called again.
func (p *progress) stop() {
	select {
	case <-p.quit:
	default:
		close(p.quit)
	}
	p.wait.Wait()
}

func (p *progress) show() {
	next := time.NewTimer(progressAfter)
	defer next.Stop()
	shown := false
	for {
		select {
		case <-p.quit:
			if shown {
				fmt.Fprint(p.env.stderr, "\r\x1b[K")
			}
			return
		case <-next.C:
		}
		line := fmt.Sprintf("%s: %d of %d", p.what, p.done.Load(), p.total)
		fmt.Fprint(p.env.stderr, "\r"+safetext.Fit(line, terminal.Width(p.env.stderr, p.env.environ)-1)+"\x1b[K")
		shown = true
		next.Reset(progressEvery)
	}
}
