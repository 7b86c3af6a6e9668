package terminal

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// An Echo decides whether a terminal shows each typed key. While it is off, jp's output there stays
// free of typed keys, and the terminal keeps the keys for the program that reads it next. Its methods
// may be called from any goroutine. A nil one does nothing.
type Echo struct {
	file *os.File
	mu   sync.Mutex
	off  bool
	used bool // it was off once
}

// NewEcho is the echo of a terminal. It is on.
func NewEcho(file *os.File) *Echo { return &Echo{file: file} }

// Off lets the terminal show no keys, until On is called. If another program reads them one by one, or
// jp is in the terminal's background, nothing changes.
func (e *Echo) Off() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.off && e.change(func(mode *unix.Termios) bool {
		if mode.Lflag&(unix.ICANON|unix.ECHO) != unix.ICANON|unix.ECHO {
			return false
		}
		mode.Lflag &^= unix.ECHO
		return true
	}) {
		e.off, e.used = true, true
	}
}

// On lets the terminal show keys again, if Off has ever changed that: a question that was put meanwhile brings the
// mode back that it found.
func (e *Echo) On() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		e.off = false
		e.change(func(mode *unix.Termios) bool {
			mode.Lflag |= unix.ECHO
			return true
		})
	}
}

// change sets the terminal's mode, and reports whether it did. From the background it would stop jp.
func (e *Echo) change(to func(*unix.Termios) bool) bool {
	fd := int(e.file.Fd())
	if !InForeground(fd) {
		return false
	}
	mode, err := unix.IoctlGetTermios(fd, getMode)
	return err == nil && to(mode) && unix.IoctlSetTermios(fd, setMode, mode) == nil
}

// InForeground reports whether the terminal is not another process group's. Of a terminal that
// is not jp's own it cannot be told.
func InForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
