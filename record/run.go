package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

// A Program is an agent that can be recorded.
type Program struct {
	Name string // of the program and of the format of its sessions
	// Args and environ give the program jp's hooks for one run, beside those of the user.
	Args func(ctx context.Context, l Launch) (all, environ []string, err error)
	// Settings plans the same for all runs, in the settings of the user or of the working tree in l.Folder. remove takes the hooks out.
	Settings func(ctx context.Context, l Launch, remove bool) (SettingsChange, error)
}

// A Launch is the start of a program for one run.
type Launch struct {
	Program string // its path
	Args    []string
	Environ []string
	Getenv  func(name string) string
	Own     string // the path of jp
	Folder  string // of the working tree
	State   string // folder of the user
	Run     string
}

// Programs are the agents that jp starts.
var Programs = []Program{
	{"claude", func(_ context.Context, l Launch) (all, environ []string, err error) {
		return claudeArgs(l.Args, hookCommand(l.Own, l.Folder, "claude", l.Run))
	}, claudeSettings},
	{"codex", codexArgs, codexSettings},
	{"opencode", opencodeArgs, opencodeSettings},
}

// A HookCommand makes the shell command of a hook.
type HookCommand func(event string) string

// hookCommand calls this program.
func hookCommand(jp, folder, agent, run string) HookCommand {
	return func(event string) string {
		words := []string{jp, "-C", folder, "record", "hook", "--agent", agent, "--run", run, event}
		for i := range words {
			if strings.HasPrefix(words[i], `"$`) { // a variable
				continue
			}
			words[i] = quoted(words[i])
		}
		return strings.Join(words, " ") + quiet
	}
}

// quoted is a word of a shell command.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// RunVariable tells hooks in the user's settings that a recorder has started the agent: they note nothing.
const RunVariable = "JP_RECORD_RUN"

// folderVariable has the working tree for hooks whose text is the same in all runs.
const folderVariable = "JP_RECORD_FOLDER"

// A Run is the end of a recorded program.
type Run struct {
	Status   syscall.WaitStatus
	Sessions []Recorded
	Unnoted  []conversation.ID // of sessions without any hook: the files are rebuilt from edits
	Left     bool              // programs that the agent started go on
	Fault    error             // of the newest write that failed
}

// Start runs an agent in the repository with jp's hooks, and records its sessions until it ends. The streams are
// its input, output and errors. Without a repository, or if jp cannot record in it, the agent runs as it is.
func Start(ctx context.Context, h *repo.Host, r *repo.Repo, p Program, args []string, streams [3]*os.File) (end Run, err error) {
	path, err := exec.LookPath(p.Name)
	if err != nil {
		return end, problem.New(problem.ExitNotFound, "not_found", "cannot start %s: %v.", p.Name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = streams[0], streams[1], streams[2], h.Environ
	f := &follower{since: time.Now().Add(-time.Second), sessions: map[string]*followed{}}
	if r != nil {
		over, err := f.attach(ctx, r, p, cmd, args)
		if err != nil && over == nil {
			return end, err
		}
		defer func() { over(end.Left) }()
		end.Fault = err
	}
	adoptChildren() // programs that the agent leaves are found below
	// The agent is in jp's process group, so the terminal's signals reach both: jp leaves them to the agent.
	signals := take(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return end, fmt.Errorf("start %s: %w", p.Name, err)
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if f.rec != nil {
			f.follow(following)
		}
	}()
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	end.Status, err = await(cmd.Process.Pid)
	stop()
	<-followed
	if err != nil || f.rec == nil {
		return end, err
	}
	end.Left = left()
	f.write(context.WithoutCancel(ctx), end.Left)
	if len(f.sessions) == 0 {
		_ = os.Remove(trustFile(r.Paths.StateDir)) // it may be why no hook came
		end.Unnoted = f.withoutHooks(context.WithoutCancel(ctx), p.Name)
	}
	end.Sessions, end.Fault = f.recorded(), f.fault
	return end, nil
}

// take takes signals from jp's own handler, which would stop jp, or end it before the agent.
func take(names ...os.Signal) chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Reset(names...)
	signal.Notify(signals, names...)
	return signals
}

// attach gives an agent jp's hooks. If jp cannot record, there are none, and the error tells why; an error without an
// end is one of the arguments.
func (f *follower) attach(ctx context.Context, r *repo.Repo, p Program, cmd *exec.Cmd, args []string) (over func(rest bool), err error) {
	f.run = rand.Text()
	none := func(bool) {}
	jp, err := os.Executable()
	if err != nil {
		return none, err
	}
	args, environ, err := p.Args(ctx, Launch{
		Program: cmd.Path, Args: args, Environ: cmd.Env, Getenv: r.Env.Get, Own: jp, Folder: r.At.TopLevel, State: r.Paths.StateDir, Run: f.run,
	})
	var mistake *problem.Error
	if errors.As(err, &mistake) && mistake.Exit == problem.ExitUsage {
		return nil, err
	}
	if err != nil {
		return none, err
	}
	rec, err := openRecorder(ctx, r)
	if err == nil {
		over, err = rec.journal.Begin(f.run)
	}
	if err != nil {
		return none, err
	}
	f.rec, cmd.Args, cmd.Env = rec, append(cmd.Args[:1], args...), append(append(cmd.Env, environ...), RunVariable+"="+f.run)
	return over, nil
}

// await waits for the end of the agent, and stops with it.
func await(pid int) (status syscall.WaitStatus, err error) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return status, fmt.Errorf("wait for the agent: %w", err)
		case status.Stopped():
			select {
			case <-continued: // before
			default:
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // it stops a moment later
			<-continued
			_ = syscall.Kill(pid, syscall.SIGCONT)
		default:
			return status, nil
		}
	}
}

// left reports whether programs go on that the agent started, a moment after its end: its last hook may be one of them.
func left() bool {
	for end := time.Now().Add(hookTime); ; {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == nil && pid > 0 || err == syscall.EINTR:
		case err != nil:
			return false // there are none
		case time.Now().After(end):
			return true
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
}
