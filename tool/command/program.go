package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"jp/tool"
)

// DefaultGrace is how long a program may go on after it was told to end, by default.
const DefaultGrace = 5 * time.Second

// A Launch is how a program is started in place of its own argument list.
type Launch struct {
	Path  string               // the program of the process, "": the first of Argv
	Argv  []string             // the program and its arguments; required
	Drop  []string             // variables to remove from the environment
	Env   []string             // variables that it gets besides its own, and in their place
	Attr  *syscall.SysProcAttr // what is asked of the kernel beside a session of its own; may be nil
	Files []*os.File           // inherited from descriptor 3 on; the call's lock is behind them
	Close func()               // called once the program has started, or could not; may be nil
}

// A Launcher prepares the start of argv in the folder dir, which is absolute. The first of argv is a path, or
// a name that was found in PATH. An error stops the start, and is returned as it is.
type Launcher func(argv []string, dir string) (Launch, error)

// A Program is one program to run. Argv and Dir must be set.
//
// It gets a process group of its own, which is ended as a whole when the call is cancelled or its
// time is up, and it holds the call's lock as long as a process of it lives. Its environment lacks jp's own
// variables and keys. Its output, of any size, goes to writers of the caller, in one stream or apart.
//
// All decisions are the caller's: arguments and output are passed on unread, and the user is never
// asked. It is no sandbox. A [Launcher] may make one of it.
type Program struct {
	Argv  []string // the program and its arguments, passed without a shell
	Dir   string   // absolute
	Env   []string // see [Environment]; nil: empty
	Stdin []byte   // its standard input; nil: empty
	// Output takes both streams, in the order in which the program writes them,
	// unless Errors is set: then that one takes the standard error.
	Output, Errors io.Writer
	Limit          time.Duration // 0: unlimited
	Grace          time.Duration // between TERM and KILL, and for output that child processes hold open; default [DefaultGrace]
	Launch         Launcher      // nil: the program is started as it is
}

// Run starts the program and waits for it and its output. The group is ended at the limit, at the end of ctx,
// and if it waits for keys in the alternate screen, and Run returns these as endings. An error means that the
// program could not be started.
func (p Program) Run(ctx context.Context, call tool.Call) (Ending, error) {
	if err := checkArgv(p.Argv); err != nil {
		return Ending{}, err
	}
	if p.Grace == 0 {
		p.Grace = DefaultGrace
	}
	var shown screen
	p.tell(&shown)
	if p.Errors != nil {
		p.Output = io.MultiWriter(cmp.Or(p.Output, io.Discard), &shown)
	}
	p.tell(call.Output)
	cmd, closeLaunch, err := p.command(call.Lock)
	if err != nil {
		return Ending{}, err
	}
	err = cmd.Start()
	closeLaunch()
	if err != nil {
		return Ending{}, err
	}
	group := cmd.Process.Pid
	if call.Started != nil {
		call.Started(group)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return p.wait(ctx, group, done, &shown), nil
}

// tell also copies the program's output to a second writer as it comes: both streams in one, or only the
// standard error if they are apart. In that case the output may be data, and its writer decides.
func (p *Program) tell(also io.Writer) {
	switch {
	case also == nil:
	case p.Errors != nil:
		p.Errors = io.MultiWriter(p.Errors, also)
	case p.Output != nil:
		p.Output = io.MultiWriter(p.Output, also)
	}
}

// checkArgv refuses an empty command, and arguments with a NUL byte.
func checkArgv(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("argv names no program")
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("the argument %q has a NUL byte", arg)
		}
	}
	return nil
}

// command prepares the start. closeLaunch must be called after it.
func (p Program) command(lock *os.File) (cmd *exec.Cmd, closeLaunch func(), err error) {
	launch := Launch{Argv: p.Argv}
	if p.Launch != nil {
		if launch, err = p.launch(); err != nil {
			return nil, nil, err
		}
	}
	closeLaunch = launch.Close
	if closeLaunch == nil {
		closeLaunch = func() {}
	}
	cmd = exec.Command(launch.Argv[0], launch.Argv[1:]...)
	if launch.Path != "" {
		cmd.Path = launch.Path
	}
	cmd.Dir, cmd.Env = p.Dir, []string{} // nil would be jp's own
	for _, pair := range p.Env {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains(launch.Drop, name) {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	if len(p.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	cmd.Stdout, cmd.Stderr = p.Output, p.Output // one pipe: the order is the program's
	if p.Errors != nil {
		cmd.Stderr = p.Errors
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if launch.Attr != nil {
		*cmd.SysProcAttr = *launch.Attr
	}
	cmd.SysProcAttr.Setsid = true // a session of its own, without jp's terminal: a read of it fails at once
	cmd.WaitDelay = p.Grace
	if cmd.ExtraFiles = launch.Files; lock != nil {
		cmd.ExtraFiles = append(launch.Files[:len(launch.Files):len(launch.Files)], lock)
	}
	cmd.Env = append(cmd.Env, launch.Env...)
	return cmd, closeLaunch, nil
}

// launch asks the launcher. A missing program is found out first, so that its error is the same with every
// launcher.
func (p Program) launch() (Launch, error) {
	if _, err := exec.LookPath(p.Argv[0]); err != nil && !strings.Contains(p.Argv[0], "/") {
		return Launch{}, err
	}
	launch, err := p.Launch(p.Argv, p.Dir)
	if err != nil {
		return Launch{}, err
	}
	if len(launch.Argv) == 0 {
		return Launch{}, fmt.Errorf("prepare the start of %s: no program is left to start", p.Argv[0])
	}
	return launch, nil
}
