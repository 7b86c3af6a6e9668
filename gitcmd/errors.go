package gitcmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// What can be said about a repository before any other command runs in it.
// Locate wraps them in a *Refusal.
var (
	ErrGitMissing       = errors.New("the git program was not found")
	ErrGitTooOld        = errors.New("git is older than 2.36")
	ErrNotRepository    = errors.New("not in a git repository")
	ErrDubiousOwnership = errors.New("the repository belongs to another user")
	ErrObjectFormat     = errors.New("repositories with SHA-256 objects are not supported")
	ErrRefFormat        = errors.New("repositories with reftable refs are not supported")
)

// Refusal says why a folder cannot be worked in. Unwrap gives the sentinel.
type Refusal struct {
	Dir    string
	Err    error
	Advice string // what git said the user can do, or ""
}

func (r *Refusal) Error() string { return fmt.Sprintf("open %s: %v", r.Dir, r.Err) }

func (r *Refusal) Unwrap() error { return r.Err }

// Hint returns the advice to print beside the error, or "".
func (r *Refusal) Hint() string { return r.Advice }

// ErrTimeLimit is a git that was ended because it took longer than its limit.
var ErrTimeLimit = errors.New("git took too long")

// ExitError is a git that ended with another code than 0.
type ExitError struct {
	Args   []string // the command and its arguments, without the flags of this package
	Code   int      // the exit code; -1 where a signal ended git
	Stderr string   // the first 16 KiB of what it wrote there
}

// Error is one printable line: the command, the code, and git's own reason.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("git %s: exit %d", strings.Join(shorten(e.Args), " "), e.Code)
	if reason := reasonLine(e.Stderr); reason != "" {
		text += ": " + reason
	}
	return printable(text)
}

// shorten keeps an argument list fit for one line.
func shorten(args []string) []string {
	const most = 6
	if len(args) <= most {
		return args
	}
	return append(append([]string{}, args[:most]...), "…")
}

// reasonLine picks the line that names the cause: the first "fatal:" line, else the first.
func reasonLine(stderr string) string {
	first := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") {
			return strings.TrimPrefix(line, "fatal: ")
		}
		if first == "" {
			first = line
		}
	}
	return first
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
