package record

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
)

// A Program is an agent that can be recorded.
type Program struct {
	Name string // of the program and of the format of its sessions
	// Args and environ give the program jp's hooks for one run, beside those of the user.
	Args func(args []string, hook HookCommand) (all, environ []string, err error)
}

// Programs are the agents that jp starts.
var Programs = []Program{{"claude", claudeArgs}}

// A HookCommand makes the shell command of a hook.
type HookCommand func(event string) string

// hookCommand calls this program.
func hookCommand(jp, folder, agent, run string) HookCommand {
	return func(event string) string {
		words := []string{jp, "-C", folder, "record", "hook", "--agent", agent, "--run", run, event}
		for i := range words {
			words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
		}
		return strings.Join(words, " ") + quiet
	}
}

// RunVariable tells hooks in the user's settings that a recorder has started the agent: they note nothing.
const RunVariable = "JP_RECORD_RUN"

// A Run is the end of a recorded program.
type Run struct {
	Status   syscall.WaitStatus
	Sessions []Recorded
	Left     bool  // programs that the agent started go on
	Fault    error // of the newest write that failed
}

// Start runs an agent in the repository with jp's hooks, and records its sessions until it ends. The streams are
// its input, output and errors.
func Start(ctx context.Context, r *repo.Repo, p Program, args []string, streams [3]*os.File) (Run, error) {
	path, err := exec.LookPath(p.Name)
	if err != nil {
		return Run{}, problem.New(problem.ExitNotFound, "not_found", "cannot start %s: %v.", p.Name, err)
	}
	jp, err := os.Executable()
	if err != nil {
		return Run{}, err
	}
	rec, err := openRecorder(ctx, r)
	if err != nil {
		return Run{}, err
	}
	run := rand.Text()
	over, err := rec.journal.Begin(run)
	if err != nil {
		return Run{}, err
	}
	end := Run{}
	defer func() { over(end.Left) }()
	args, environ, err := p.Args(args, hookCommand(jp, r.At.TopLevel, p.Name, run))
	if err != nil {
		return Run{}, err
	}
	adoptChildren() // programs that the agent leaves are found below
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams[0], streams[1], streams[2]
	cmd.Env = append(append(r.Env.Environ, environ...), RunVariable+"="+run)
	f := &follower{rec: rec, run: run, since: time.Now().Add(-time.Second), sessions: map[string]*followed{}}
	// The agent is in jp's process group, so the terminal's signals reach both: jp leaves them to the agent.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return Run{}, fmt.Errorf("start %s: %w", p.Name, err)
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		f.follow(following)
	}()
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	status, err := await(cmd.Process.Pid)
	stop()
	<-followed
	if err != nil {
		return Run{}, err
	}
	end = Run{Status: status, Left: left()}
	f.write(context.WithoutCancel(ctx), end.Left)
	end.Sessions, end.Fault = f.recorded(), f.fault
	return end, nil
}

// await waits for the end of the agent, and stops with it.
func await(pid int) (status syscall.WaitStatus, err error) {
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return status, fmt.Errorf("wait for the agent: %w", err)
		case status.Stopped():
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		default:
			return status, nil
		}
	}
}

// left reports whether programs go on that the agent started.
func left() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == nil && pid > 0 || err == syscall.EINTR {
			continue
		}
		return err == nil // there are children, and none has ended
	}
}
