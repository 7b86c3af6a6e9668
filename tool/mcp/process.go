package mcp

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"jp/tool/command"
)

// A process is a server that runs, in a process group of its own.
type process struct {
	group int
	in    io.WriteCloser
	out   io.ReadCloser
	tail  *tail         // its standard error, and the other text on its output
	done  chan struct{} // closed when it has ended
	err   error         // of its end; valid after done
	ended sync.Once
}

func launch(s Spec, o Options) (*process, error) {
	start, err := o.launch(s.Command)
	if err != nil {
		return nil, err
	}
	if start.Close != nil {
		defer start.Close()
	}
	cmd := exec.Command(start.Argv[0], start.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = o.Dir, append(environment(s, o), start.Env...), start.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = o.Grace // for a standard error that a child of it keeps open
	p := &process{tail: &tail{}, done: make(chan struct{})}
	cmd.Stderr = p.tail
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer inR.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inW.Close())
	}
	defer outW.Close()
	cmd.Stdin, cmd.Stdout = inR, outW
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	p.group, p.in, p.out = cmd.Process.Pid, inW, outR
	go p.wait(cmd, o.Grace)
	return p, nil
}

func (o Options) launch(argv []string) (command.Launch, error) {
	if o.Launch == nil {
		return command.Launch{Argv: argv}, nil
	}
	start, err := o.Launch(argv, o.Dir)
	if err == nil && len(start.Argv) == 0 {
		err = errors.New("no program is left to start")
	}
	return start, err
}

// wait waits for the end of the process, and ends the rest of its group. It waits at most the grace for the
// output of processes that left the group.
func (p *process) wait(cmd *exec.Cmd, grace time.Duration) {
	p.err = cmd.Wait()
	if errors.Is(p.err, exec.ErrWaitDelay) {
		p.err = nil
	}
	close(p.done)
	p.endGroup(grace)
	time.AfterFunc(grace, func() { p.out.Close() })
}

// end closes the server's input, tells its group to end, and kills it after the
// grace. It returns when the server has ended.
func (p *process) end(grace time.Duration) {
	p.in.Close()
	p.endGroup(grace)
	<-p.done
}

// kill ends the group at once.
func (p *process) kill() { _ = syscall.Kill(-p.group, syscall.SIGKILL) }

func (p *process) endGroup(grace time.Duration) {
	p.ended.Do(func() { _ = command.EndGroup(p.group, grace, nil) })
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) finished() <-chan struct{} { return p.done }

func (p *process) said() string { return p.tail.text() }

// ending describes the end of the process, in words.
func (p *process) ending() string {
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return "exit status 0"
	case errors.As(p.err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return "ended by " + command.SignalName(status.Signal())
		}
	}
	return p.err.Error()
}

// environment is the environment of any tool's program, with the configured variables. It sets
// [program.Marker] last, so that the configuration cannot hide it.
func environment(s Spec, o Options) []string {
	name := "mcp:" + s.Name
	environ := command.Environment(o.Environ, o.Secret, o.Dir, name)
	for variable, value := range s.Env {
		environ = append(environ, variable+"="+value)
	}
	return append(environ, command.Marker+"="+name)
}
