package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// A screen is a jp attach at a terminal of its own.
type screen struct {
	cmd   *exec.Cmd
	tty   *os.File
	ended chan struct{} // the output has ended

	mu    sync.Mutex
	shown []byte
	news  chan struct{} // closed and replaced when something is shown
}

// attach starts jp attach, and waits until it shows something. How long that takes
// is kept, unless took is nil.
func (s *soak) attach(ctx context.Context, m *runner, took *timings) (*screen, error) {
	start := time.Now()
	cmd := s.arena.command(ctx, "attach", string(m.id))
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", m.id, err)
	}
	c := &screen{cmd: cmd, tty: tty, ended: make(chan struct{}), news: make(chan struct{})}
	go c.watch()
	if !c.shows(func(shown []byte) bool { return len(shown) > 0 }) {
		c.kill()
		return nil, fmt.Errorf("attach to %s: it shows nothing", m.id)
	}
	if took != nil {
		took.since(start)
	}
	return c, nil
}

func (c *screen) watch() {
	defer close(c.ended)
	piece := make([]byte, 4096)
	for {
		n, err := c.tty.Read(piece)
		c.mu.Lock()
		c.shown = append(c.shown, piece[:n]...)
		close(c.news)
		c.news = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return // the program has ended
		}
	}
}

// shows waits until something is shown, and reports whether it is.
func (c *screen) shows(something func(shown []byte) bool) bool {
	for {
		c.mu.Lock()
		found, news := something(c.shown), c.news
		c.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-news:
		case <-c.ended:
			c.mu.Lock()
			defer c.mu.Unlock()
			return something(c.shown)
		}
	}
}

// asks reports whether the output ends with a question.
func asks(shown []byte) bool { return bytes.HasSuffix(shown, []byte("\n> ")) }

func (c *screen) press(keys string) error {
	_, err := c.tty.WriteString(keys)
	return err
}

// leave presses Ctrl+\ until the program ends, and returns its exit code. jp drops a key that is typed at
// the moment when a question opens, so that it does not answer that: then a person presses it again.
func (c *screen) leave() int {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		_ = c.press("\x1c") // it may have ended
		select {
		case <-c.ended:
			return c.exit()
		case <-again.C:
		}
	}
}

// exit waits for the program to end, and gives its exit code.
func (c *screen) exit() int {
	<-c.ended
	_ = c.cmd.Wait() // its exit code says it
	c.tty.Close()
	return c.cmd.ProcessState.ExitCode()
}

// kill ends the program with SIGKILL, as a crash of the client does.
func (c *screen) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	c.exit()
}

// end is the end of the output, for a message.
func (c *screen) end() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%q", c.shown[max(0, len(c.shown)-160):])
}
