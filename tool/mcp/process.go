package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Marker is the variable by which a program can know that a server of jp's, or
// what that started, runs it.
const Marker = "JP_TOOL"

// poll is how often a group that was told to end is looked at.
const poll = 5 * time.Millisecond

// A process is a server that runs, in a process group of its own.
type process struct {
	group int
	in    io.WriteCloser
	out   io.ReadCloser
	said  *tail         // its standard error, and what it prints among its messages
	done  chan struct{} // closed when it has ended
	err   error         // how; valid then
	ended sync.Once
}

// launch starts a server.
func launch(s Spec, o Options) (*process, error) {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = o.Dir, environment(s, o)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = o.Grace // for a standard error that what it started keeps open
	p := &process{said: &tail{}, done: make(chan struct{})}
	cmd.Stderr = p.said
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
	if o.Launch != nil {
		err = o.Launch(cmd)
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	p.group, p.in, p.out = cmd.Process.Pid, inW, outR
	go p.wait(cmd, o.Grace)
	return p, nil
}

// wait sees the end of the process, and ends what it leaves behind. The output
// of what escaped is not waited for longer than the grace.
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
	p.ended.Do(func() {
		_ = syscall.Kill(-p.group, syscall.SIGTERM)
		deadline := time.NewTimer(grace)
		defer deadline.Stop()
		tick := time.NewTicker(poll)
		defer tick.Stop()
		for p.alive() {
			select {
			case <-tick.C:
			case <-deadline.C:
				p.kill()
				return
			}
		}
	})
}

// alive reports whether the group has a process, be it one that nobody waited for.
func (p *process) alive() bool { return !errors.Is(syscall.Kill(-p.group, 0), syscall.ESRCH) }

// running reports whether the server itself has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ending says how it ended, in words.
func (p *process) ending() string {
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return "exit status 0"
	case errors.As(p.err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Sprintf("ended by %v", status.Signal())
		}
	}
	return p.err.Error()
}

// environment is what a server gets: that of jp without jp's own variables, keys,
// and what would point git to another repository; then what is configured.
func environment(s Spec, o Options) []string {
	environ := slices.DeleteFunc(slices.Clone(o.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		return strings.HasPrefix(name, "JP_") || strings.HasPrefix(name, "GIT_") || strings.HasSuffix(name, "_API_KEY")
	})
	environ = append(environ, "PWD="+o.Dir)
	for name, value := range s.Env {
		environ = append(environ, name+"="+value)
	}
	return append(environ, Marker+"=mcp:"+s.Name)
}
