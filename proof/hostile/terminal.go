package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// atTerminal runs a jp at a terminal, refuses its questions, and returns all output to the terminal.
func (p *hostileRepo) atTerminal(ctx context.Context, args []string) ([]byte, error) {
	master, tty, err := pty.Open()
	if err != nil {
		return nil, err
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		return nil, errors.Join(err, master.Close(), tty.Close())
	}
	cmd := exec.Command(p.field.program, args...)
	cmd.Dir, cmd.Env = p.repo, p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = tty.Close()
	if err != nil {
		return nil, errors.Join(err, master.Close())
	}
	shown := make(chan []byte, 1)
	go func() { shown <- refuse(master) }()
	err = await(ctx, cmd)
	_ = master.Close()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return <-shown, err
}

// pause is how long a person looks at a terminal before they type.
const pause = 400 * time.Millisecond

// refusals are typed at questions: no, and the ways out.
var refusals = []string{"n", "q", "\x03", "\x03", "\x04"}

// refuse reads a terminal's output until its program ends, and types a refusal again and again.
func refuse(master *os.File) []byte {
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 4096)
			n, err := master.Read(buf)
			if n > 0 {
				pieces <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	var all []byte
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for typed := 0; ; {
		select {
		case piece, more := <-pieces:
			if !more {
				return all
			}
			all = append(all, piece...)
		case <-tick.C:
			_, _ = io.WriteString(master, refusals[typed%len(refusals)])
			typed++
		}
	}
}
