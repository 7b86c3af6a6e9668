package main

import (
	"crypto/rand"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
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

	format  format
	quiet   bool
	verbose bool
	noPager bool
	cfg     []string // key=value of --cfg
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
