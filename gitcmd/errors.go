package gitcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// Errors about a repository, before any other command runs in it. Locate wraps them in a *Refusal.
var (
	ErrGitMissing       = errors.New("the git program was not found")
	ErrGitTooOld        = errors.New("git is older than 2.36")
	ErrNotRepository    = errors.New("not in a git repository")
	ErrDubiousOwnership = errors.New("the repository belongs to another user")
	ErrObjectFormat     = errors.New("git does not know the object format of the repository")
	ErrRefFormat        = errors.New("the repository stores refs in an unknown format")
	ErrExtension        = errors.New("git does not know an extension of the repository")
	ErrFormatVersion    = errors.New("git does not know the format version of the repository")
	ErrVersionZero      = errors.New("the format version of the repository is 0, which allows no such extension")
	ErrSecondFormat     = errors.New("git names each object of the repository in a second format, and jp does not")
)

// Refusal is the reason why jp cannot work in a folder. Unwrap gives the sentinel.
type Refusal struct {
	Dir    string
	Err    error
	Advice string // git's advice, or ""
	// Ignored are the variables of the environment by which git itself would find a repository, if there is
	// none without them.
	Ignored []string
	// Extensions are the keys of the repository's extensions that are in the way.
	Extensions []string
}

func (r *Refusal) Error() string { return fmt.Sprintf("open %s: %v", r.Dir, r.Err) }

func (r *Refusal) Unwrap() error { return r.Err }

// Hint returns the advice to print beside the error, or "".
func (r *Refusal) Hint() string { return r.Advice }

// ErrTimeLimit is a git that was ended because it took longer than its limit.
var ErrTimeLimit = errors.New("git took too long")

// InstallGit is the advice if git is missing.
const InstallGit = "Install git 2.36 or newer, and have it in PATH."

// ExitError is a git that ended with another code than 0.
type ExitError struct {
	Args   []string // the command and its arguments, without the flags of this package
	Code   int      // the exit code; -1 if a signal ended git
	Stderr string   // its first 16 KiB

	promised bool // a remote has objects that are missing here: newer versions only say that they cannot read one
}

// Error is one printable line: the command, the code, and git's own reason.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("git %s: exit %d", strings.Join(shorten(e.Args), " "), e.Code)
	if reason := reasonLine(e.Stderr); reason != "" {
		text += ": " + reason
	}
	if cause := e.Unwrap(); cause != nil && !strings.Contains(strings.ToLower(text), cause.Error()) {
		text += ": " + cause.Error()
	}
	return printable(text)
}

// faults are git's texts, its own and the system's, for errors of a file system.
var faults = []struct {
	text  string
	errno syscall.Errno
}{
	{"No space left on device", syscall.ENOSPC},
	{"Out of diskspace", syscall.ENOSPC},
	{"Disk quota exceeded", syscall.EDQUOT},
	{"File too large", syscall.EFBIG},
	{"Read-only file system", syscall.EROFS},
	{"Input/output error", syscall.EIO},
}

// Unwrap is the error of the file system that git names as the cause, else nil.
func (e *ExitError) Unwrap() error {
	for _, f := range faults {
		if strings.Contains(e.Stderr, f.text) {
			return f.errno
		}
	}
	return nil
}

// indexFaults are git's texts for an unreadable index.
var indexFaults = []string{
	"index file corrupt", "index file smaller than expected", "unknown index entry format",
	"malformed name field in the index", "unordered stage entries", "multiple stage entries",
}

// IndexDamaged reports whether git ended because it cannot read the index.
func (e *ExitError) IndexDamaged() bool {
	return slices.ContainsFunc(indexFaults, func(text string) bool { return strings.Contains(e.Stderr, text) })
}

// LeftOut reports whether git ended because it lacks an object that a partial clone has left out, and that it
// may not fetch.
func (e *ExitError) LeftOut() bool {
	return strings.Contains(e.Stderr, "from promisor remote") || e.promised && strings.Contains(strings.ToLower(e.Stderr), "read ")
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
