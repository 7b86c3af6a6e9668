package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// atTerminal runs a jp at a terminal, says no to what it asks, and gives all that
// the terminal was sent.
func (p *place) atTerminal(ctx context.Context, args []string) ([]byte, error) {
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

// refuse reads what a terminal is sent, and types n at each prompt, or q where
// that does not help.
func refuse(master interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
}) []byte {
	var all []byte
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			return all
		}
		if bytes.HasSuffix(all, []byte("> ")) || bytes.HasSuffix(all, []byte("? ")) {
			_, _ = master.Write([]byte("n"))
		}
	}
}
