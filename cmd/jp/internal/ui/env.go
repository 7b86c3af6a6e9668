package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/config"
)

// An Env is everything of the outside world that a command sees.
type Env struct {
	*repo.Host

	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File

	Format  Format
	Quiet   bool
	Verbose bool
	NoPager bool
	Lost    loss
	Console Console      // shows everything, and asks; nil: the streams themselves do
	Style   config.Style // how things look, once the configuration is read
	Ended   bool         // the last line of a turn's JSON is written
	Args    []string     // of the command line, as they were typed
	Misread error        // the error of help about an unknown command

	Abort       func(signal string)                                      // ends the command as Ctrl+C does
	onInterrupt atomic.Pointer[func(ctx context.Context, esc bool) bool] // takes a first Ctrl+C, or Esc in a conversation
	onSuspend   atomic.Pointer[func()]                                   // before jp is stopped by Ctrl+Z
	onLeave     atomic.Pointer[func()]                                   // takes Ctrl+Z and Ctrl+\
	beside      atomic.Pointer[func(text func())]                        // lets another writer use the terminal of a turn
	Keys        Keys
	Background  atomic.Int32 // a [terminal.Theme] that the terminal named
}

// Keys are the keys that are typed at the terminal while a turn works.
type Keys struct {
	echo atomic.Pointer[terminal.Echo] // nil until a turn is shown
}

// shownOn is the terminal's echo, nil if a console reads the keys, or another program reads jp's
// output and may have the terminal.
func (k *Keys) shownOn(console Console, stdout, stderr *os.File) *terminal.Echo {
	if console != nil || !IsTerminal(stdout) {
		return nil
	}
	k.echo.CompareAndSwap(nil, terminal.NewEcho(stderr))
	return k.echo.Load()
}

// Restore gives the terminal back as it was. It is for the end of jp, and for other programs on the terminal.
func (k *Keys) Restore() { k.echo.Load().On() }

// lend gives the terminal, or the one of a console, to another program, until resume is called.
func (k *Keys) lend(console Console) (resume func()) {
	k.Restore()
	if console != nil {
		return console.Suspend()
	}
	return func() {}
}

// aside lets another writer use the terminal of a running turn.
func (e *Env) aside(text func()) {
	if beside := e.beside.Load(); beside != nil {
		(*beside)(text)
		return
	}
	text()
}

// Interrupted gives a Ctrl+C, or an Esc, to the command, if it wants it.
func (e *Env) Interrupted(ctx context.Context, esc bool) bool {
	take := e.onInterrupt.Load()
	return take != nil && (*take)(ctx, esc)
}

// Leave tells a command that takes Ctrl+Z and Ctrl+\, and reports whether it is one.
func (e *Env) Leave() bool {
	leave := e.onLeave.Load()
	if leave != nil {
		(*leave)()
	}
	return leave != nil
}

// Suspend stops jp as the terminal asked, and comes back when it goes on. A command
// that takes Ctrl+Z is not stopped.
func (e *Env) Suspend() {
	if e.Leave() {
		return
	}
	if before := e.onSuspend.Load(); before != nil {
		(*before)()
	}
	defer e.Keys.lend(e.Console)()
	if hasShell() {
		woken := make(chan os.Signal, 1)
		signal.Notify(woken, syscall.SIGCONT)
		defer signal.Stop(woken)
		e.aside(func() {
			e.Keys.Restore()                               // no draw can come between
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // the tools have groups of their own
			<-woken                                        // the call may return before the process has stopped
		})
	}
}

// hasShell reports whether a process in this session, outside of jp's process group, started the
// group: a stopped process without such a parent is never woken up.
func hasShell() bool {
	leader := syscall.Getpgrp()
	parent := parentOf(leader)
	theirs, err := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	group, err3 := syscall.Getpgid(parent)
	return errors.Join(err, err2, err3) == nil && theirs == ours && group != leader
}

// parentOf is the parent of a process, or of jp if that is unknown.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); err == nil && len(fields) > 1 {
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			return parent
		}
	}
	return os.Getppid()
}

func SystemEnv() *Env {
	return NewEnv(&repo.Host{Environ: os.Environ(), Dir: ".", Now: time.Now, Random: rand.Reader, Terminal: terminal.InSession}, os.Stdin, os.Stdout, os.Stderr)
}

// NewEnv is an env whose host tells the user on stderr, unless --quiet was given.
func NewEnv(h *repo.Host, stdin, stdout, stderr *os.File) *Env {
	e := &Env{Host: h, Stdin: stdin, Stdout: stdout, Stderr: stderr}
	h.Notify = func(line string) {
		if !e.Quiet {
			h.Alarm(line)
		}
	}
	h.Alarm = func(line string) { e.aside(func() { fmt.Fprintln(e.Messages(), line) }) }
	h.Log = noticeHandler{e}
	h.Choose = e.chooseConversation
	return e
}

func IsTerminal(f *os.File) bool { return f != nil && isatty.IsTerminal(f.Fd()) }

// A Format is how results are written.
type Format string

// The formats. auto is text, made for the terminal or for a pipe.
const FormatAuto, FormatText, FormatJSON, FormatJSONL Format = "auto", "text", "json", "jsonl"

func (f Format) Structured() bool { return f == FormatJSON || f == FormatJSONL }
