package record

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
)

// longestLine is the longest message of which a recording keeps a copy.
const longestLine = 32 << 20

// outputDelay is how long the output of an ended agent may go on, when its programs have it open.
const outputDelay = 2 * time.Second

// ProxyACP runs an agent of the Agent Client Protocol for an editor, whose input, output and errors are the
// streams, and records the sessions. All messages pass unchanged, also if nothing can be recorded. The open
// function opens the repository.
func ProxyACP(ctx context.Context, open func(context.Context) (*repo.Repo, error), args []string, streams [3]*os.File) (Run, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return Run{}, problem.New(problem.ExitNotFound, "not_found", "cannot start %s: %v.", args[0], err)
	}
	ctx = context.WithoutCancel(ctx)
	run := rand.Text()
	log, err := startACPLog(ctx, open, run, path, func(text string) { fmt.Fprintln(streams[2], text) })
	if err != nil {
		fmt.Fprintf(streams[2], "jp records nothing: %v\n", err)
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Stderr, cmd.Env = streams[2], append(os.Environ(), RunVariable+"="+run)
	theirIn, in, err := os.Pipe()
	if err != nil {
		return Run{}, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return Run{}, err
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	// Without a handler, a write to an editor that is gone would end jp before the log is complete.
	signals := take(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return Run{}, fmt.Errorf("start %s: %w", args[0], err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	go func() {
		_ = relay(in, streams[0], log.fromEditor)
		_ = in.Close()
	}()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		_ = relay(streams[1], out, log.fromAgent)
		_, _ = in.Close(), out.Close() // the editor is gone, or the agent
	}()
	err = cmd.Wait()
	_ = out.SetReadDeadline(time.Now().Add(outputDelay))
	<-passed
	if cmd.ProcessState == nil {
		return Run{}, fmt.Errorf("wait for the agent: %w", err)
	}
	end := log.end(ctx)
	end.Status, _ = cmd.ProcessState.Sys().(syscall.WaitStatus)
	return end, nil
}

// relay passes lines on as they come. Before the end of a line passes, see gets a copy of it, unless it is too long.
func relay(to io.Writer, from io.Reader, see func(line []byte)) error {
	in := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > longestLine; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > 0 {
				see(line)
			}
			line, long = nil, false
		}
		if _, failed := to.Write(part); failed != nil {
			return failed
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
