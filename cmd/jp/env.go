package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"jp/config"
)

// A host is what jp sees of the system that it runs on, and says to its user beside
// results. It has no streams and no terminal.
type host struct {
	environ []string
	dir     string // where jp works; changed by -C
	now     func() time.Time
	random  io.Reader
	wait    func(context.Context, time.Duration) error // before a model is asked again; nil: a timer
	cfg     []string                                   // key=value of --cfg
	notify  func(line string)                          // shows the user a line beside results; nil: nobody looks
	alarm   func(line string)                          // is notify for what must not be overlooked
	choose  chooser                                    // lets the user take a conversation; nil: nobody can
	log     slog.Handler                               // takes what packages below warn of; nil: nobody looks

	keys sync.Map // of providers, by name, as their programs printed them
}

// note says something beside the results.
func (h *host) note(format string, args ...any) {
	if h.notify != nil {
		h.notify(fmt.Sprintf(format, args...))
	}
}

// warn says what the user must not overlook, also where only results are wanted.
func (h *host) warn(format string, args ...any) {
	if h.alarm != nil {
		h.alarm(fmt.Sprintf(format, args...))
	}
}

// logger is where packages below warn of something.
func (h *host) logger() *slog.Logger {
	if h.log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(h.log)
}

// An env is everything of the outside world that a command sees.
type env struct {
	*host

	stdin  *os.File
	stdout *os.File
	stderr *os.File

	format  format
	quiet   bool
	verbose bool
	noPager bool
	lost    loss
	style   config.Style // how things look, once the configuration is read
	ended   bool         // the last line of a turn's JSON is written
	misread error        // help was asked for about a command that there is not

	abort       func(signal string)                        // ends the command as Ctrl+C does
	onInterrupt atomic.Pointer[func(context.Context) bool] // takes a first Ctrl+C
	onSuspend   atomic.Pointer[func()]                     // before jp is stopped by Ctrl+Z
	onLeave     atomic.Pointer[func()]                     // takes Ctrl+Z and Ctrl+\
}

// elsewhere reports whether the command runs in another folder than the one in which
// it was typed.
func (h *host) elsewhere() bool { return filepath.Clean(h.dir) != "." }

// folder is where the command runs, without symbolic links.
func (h *host) folder() (string, error) {
	dir, err := filepath.Abs(h.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	return dir, nil
}

// interrupted gives a Ctrl+C to the command, if it wants it.
func (e *env) interrupted(ctx context.Context) bool {
	take := e.onInterrupt.Load()
	return take != nil && (*take)(ctx)
}

// leave tells a command that takes Ctrl+Z and Ctrl+\, and reports whether it is one.
func (e *env) leave() bool {
	leave := e.onLeave.Load()
	if leave != nil {
		(*leave)()
	}
	return leave != nil
}

// suspend stops jp as the terminal asked, and comes back when it goes on. A command
// that takes Ctrl+Z is not stopped.
func (e *env) suspend() {
	if e.leave() {
		return
	}
	if before := e.onSuspend.Load(); before != nil {
		(*before)()
	}
	if hasShell() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // the tools have groups of their own
	}
}

// hasShell reports whether somebody in this session, outside of jp's process
// group, started the group: who stops without such a parent is never woken up.
func hasShell() bool {
	leader := syscall.Getpgrp()
	parent := parentOf(leader)
	theirs, err := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	group, err3 := syscall.Getpgid(parent)
	return errors.Join(err, err2, err3) == nil && theirs == ours && group != leader
}

// parentOf is the parent of a process, or of jp where that cannot be told.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); err == nil && len(fields) > 1 {
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			return parent
		}
	}
	return os.Getppid()
}

func systemEnv() *env {
	return newEnv(&host{environ: os.Environ(), dir: ".", now: time.Now, random: rand.Reader}, os.Stdin, os.Stdout, os.Stderr)
}

// newEnv is an env whose host tells the user on stderr, unless --quiet was given.
func newEnv(h *host, stdin, stdout, stderr *os.File) *env {
	e := &env{host: h, stdin: stdin, stdout: stdout, stderr: stderr}
	h.notify = func(line string) {
		if !e.quiet {
			fmt.Fprintln(e.stderr, line)
		}
	}
	h.alarm = func(line string) { fmt.Fprintln(e.stderr, line) }
	h.log = noticeHandler{e}
	h.choose = e.chooseConversation
	return e
}

// get reads an environment variable.
func (h *host) get(name string) string {
	value := ""
	for _, v := range h.environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

func isTerminal(f *os.File) bool { return f != nil && isatty.IsTerminal(f.Fd()) }

// A format is how results are written.
type format string

// The formats. auto is text, made for the terminal or for a pipe.
const formatAuto, formatText, formatJSON, formatJSONL format = "auto", "text", "json", "jsonl"

func (f format) structured() bool { return f == formatJSON || f == formatJSONL }
