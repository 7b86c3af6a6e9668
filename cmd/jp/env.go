package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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

// An env is everything of the outside world that a command sees.
type env struct {
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	environ []string
	dir     string // where the command runs; changed by -C
	now     func() time.Time
	random  io.Reader
	wait    func(context.Context, time.Duration) error // before a model is asked again; nil: a timer

	format  format
	quiet   bool
	verbose bool
	noPager bool
	cfg     []string // key=value of --cfg
	lost    loss
	style   config.Style // how things look, once the configuration is read
	ended   bool         // the last line of a turn's JSON is written
	misread error        // help was asked for about a command that there is not

	keys sync.Map // of providers, by name, as their programs printed them

	abort       func(signal string)                        // ends the command as Ctrl+C does
	onInterrupt atomic.Pointer[func(context.Context) bool] // takes a first Ctrl+C
	onSuspend   atomic.Pointer[func()]                     // before jp is stopped by Ctrl+Z
	onLeave     atomic.Pointer[func()]                     // takes Ctrl+Z and Ctrl+\
}

// elsewhere reports whether the command runs in another folder than the one in which
// it was typed.
func (e *env) elsewhere() bool { return filepath.Clean(e.dir) != "." }

// folder is where the command runs, without symbolic links.
func (e *env) folder() (string, error) {
	dir, err := filepath.Abs(e.dir)
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
	return &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), dir: ".",
		now: time.Now, random: rand.Reader,
	}
}

// get reads an environment variable.
func (e *env) get(name string) string {
	value := ""
	for _, v := range e.environ {
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
const (
	formatAuto  format = "auto"
	formatText  format = "text"
	formatJSON  format = "json"
	formatJSONL format = "jsonl"
)

func (f format) structured() bool { return f == formatJSON || f == formatJSONL }
