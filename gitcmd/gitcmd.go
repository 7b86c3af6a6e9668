// Package gitcmd is the only starter of the git program.
//
// A repository's own bytes are a stranger's: its configuration may name a file
// system monitor, hooks, filters, diff programs, helpers and transports. Every
// command of this package runs with those switched off, with an environment
// without the caller's GIT_* variables that redirect git, in a process
// group of its own that is killed as a whole when the context or the time limit
// ends. Names of paths are literal, never patterns.
//
// It leaves the meaning of commands to its callers, and never repairs or guesses a repository: outside of one
// it returns an error.
package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// DefaultTimeout is the time limit of one command.
const DefaultTimeout = 5 * time.Minute

// Options of a Git. The zero value is right outside tests.
type Options struct {
	Program string        // the git program; default "git", looked up in PATH
	Environ []string      // the environment to derive the child's from; default os.Environ()
	Timeout time.Duration // limit of each Run; default DefaultTimeout

	// MayRun is the reason if jp refuses to start the programs of a filter, else nil. It is called before
	// each command that may run one. Default: only the user's own run.
	MayRun func(Repository, Filter) error
}

// Git starts git in one folder. It may be used by several goroutines.
type Git struct {
	dir     string
	repo    Repository // zero if git finds the repository itself
	program string
	environ []string // scrubbed
	full    []string // as given
	user    []setting
	timeout time.Duration
	opts    Options
	disk    []string           // settings for the actual properties of the disk
	mayRun  func(Filter) error // nil: the user's own run

	mu      sync.Mutex
	filters filterCache
	sharing sharingOnce
}

// New returns a Git that works in dir and lets git find the repository.
func New(dir string, opts Options) *Git {
	if opts.Program == "" {
		opts.Program = "git"
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	g := &Git{
		dir: dir, program: opts.Program, timeout: opts.Timeout, opts: opts,
		environ: scrub(opts.Environ), full: opts.Environ,
	}
	g.takeEnvironment()
	return g
}

// At returns a Git bound to a located repository, for all of its commands. It works in the top level, or in
// the git directory of a bare repository.
func At(repo Repository, opts Options) *Git {
	dir := repo.TopLevel
	if dir == "" {
		dir = repo.GitDir
	}
	g := New(dir, opts)
	g.repo = repo
	if opts.MayRun != nil {
		g.mayRun = func(f Filter) error { return opts.MayRun(repo, f) }
	}
	g.takeEnvironment()
	g.environ = append(g.environ, "GIT_DIR="+repo.GitDir)
	g.disk = []string{"core.ignoreCase=" + strconv.FormatBool(foldsCase(repo))}
	if repo.TopLevel != "" {
		g.environ = append(g.environ, "GIT_WORK_TREE="+repo.TopLevel)
	}
	return g
}

// Beside returns a Git with the same program and environment for another repository.
func (g *Git) Beside(repo Repository) *Git { return At(repo, g.opts) }

// FoldsCase reports whether the disk has names that differ in case as one.
func (g *Git) FoldsCase() bool { return slices.Contains(g.disk, "core.ignoreCase=true") }

// Repository is the one that all commands work in, zero if git finds it.
func (g *Git) Repository() Repository { return g.repo }

// Dir returns the folder in which commands run.
func (g *Git) Dir() string { return g.dir }

// Command is one invocation of git.
type Command struct {
	Args  []string  // the subcommand and its arguments
	Stdin io.Reader // default: empty
	Env   []string  // additions to the environment, such as GIT_INDEX_FILE=…

	// Config holds additions to the configuration of this command, "key=value".
	Config []string

	// Content means that the command reads or writes the content of working tree files, and would so run
	// filters. Those that the repository itself configures are then switched off. It is implied, except for
	// the commands that never do.
	Content bool

	// Required are the names of the filters without which no file may be taken as it is. If one of them
	// fails, the command fails. If another one fails, it continues. It is for commands that store content, or
	// write files, with these filters in their way. nil: as the configuration says.
	Required []string

	// Network means that the command talks to a remote that the user named: it keeps the user's credentials,
	// ssh set-up, hooks for all repositories and terminal, and runs without a time limit. Programs that the
	// repository itself names stay off.
	Network bool

	// Stderr gets the first 16 KiB of git's standard error, also after success.
	Stderr *string

	// Files are kept open by the command and its children, for as long as one of them lives: a lock on one of
	// them is held until then.
	Files []*os.File
}

// Run runs git with the arguments and returns its standard output. An exit
// code other than 0 is an *ExitError, and the output so far is returned too.
func (g *Git) Run(ctx context.Context, args ...string) ([]byte, error) {
	return g.RunWith(ctx, Command{Args: args})
}

// RunWith is Run with everything a command can have.
func (g *Git) RunWith(ctx context.Context, c Command) ([]byte, error) {
	if !c.Network {
		limited, cancel := context.WithTimeoutCause(ctx, g.timeout, ErrTimeLimit)
		defer cancel()
		ctx = limited
	}
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = c.Stdin
	var stdout bytes.Buffer
	stderr := capped{limit: 16 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = g.outcome(ctx, c.Args, cmd.Run(), &stderr)
	if c.Stderr != nil {
		*c.Stderr = string(stderr.data)
	}
	return stdout.Bytes(), err
}

// Prepared returns the arguments and the environment with which RunWith would start git, for a caller that starts it.
func (g *Git) Prepared(ctx context.Context, c Command) (argv, environ []string, err error) {
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return cmd.Args[1:], cmd.Env, nil
}

// command makes the child: argv, environment, folder, process group.
func (g *Git) command(ctx context.Context, c Command) (*exec.Cmd, error) {
	c.Config = slices.Concat(g.disk, c.Config)
	argv := harden(c)
	var settings []setting
	var err error
	switch {
	case c.Network:
		settings, err = g.ownHelpers(ctx)
	case converts(c):
		settings, err = g.filterSettings(ctx, c.Required)
	}
	if err != nil {
		return nil, err
	}
	env := g.childEnv(c, settings)
	if c.Network {
		env = append([]string{"GIT_PROXY_COMMAND="}, env...) // a proxy in the user's environment wins
	}
	cmd := exec.CommandContext(ctx, g.program, argv...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = g.dir, env, c.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.Network}
	cmd.WaitDelay = 2 * time.Second
	if !c.Network {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	return cmd, nil
}

// outcome turns the errors of exec into this package's.
func (g *Git) outcome(ctx context.Context, args []string, err error, stderr *capped) error {
	if err == nil {
		return nil
	}
	name := "git"
	if len(args) > 0 {
		name = "git " + args[0]
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) && g.programGone() {
		return fmt.Errorf("%s: %w", name, ErrGitMissing)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		var promised []string
		if g.repo.CommonDir != "" {
			promised, _ = filepath.Glob(filepath.Join(g.repo.CommonDir, "objects", "pack", "*.promisor")) // empty for a path that is a pattern
		}
		return &ExitError{Args: args, Code: exit.ExitCode(), Stderr: string(stderr.data), promised: len(promised) > 0}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// programGone tells a missing program from a missing folder: starting a child
// reports both alike.
func (g *Git) programGone() bool {
	_, err := os.Stat(g.program)
	return filepath.IsAbs(g.program) && err != nil
}

// capped keeps the first bytes written to it and swallows the rest.
type capped struct {
	data  []byte
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	room := min(len(p), c.limit-len(c.data))
	c.data = append(c.data, p[:room]...)
	return len(p), nil
}

// foldsCase reports whether names that differ in case only are the same file on the repository's disk. git
// asks the disk once, when it makes a repository: one that was copied from another disk has the wrong answer
// in its configuration.
func foldsCase(repo Repository) bool {
	pairs := [][2]string{{filepath.Join(repo.GitDir, "HEAD"), filepath.Join(repo.GitDir, "hEaD")}}
	if repo.TopLevel != "" { // the files may lie on another disk than the git directory
		pairs = append([][2]string{{filepath.Join(repo.TopLevel, ".git"), filepath.Join(repo.TopLevel, ".GIT")}}, pairs...)
	}
	for _, pair := range pairs {
		if is, err := os.Lstat(pair[0]); err == nil {
			other, err := os.Lstat(pair[1])
			return err == nil && os.SameFile(is, other)
		}
	}
	return false
}
