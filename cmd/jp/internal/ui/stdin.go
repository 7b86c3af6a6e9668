package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
)

// How long a query waits for standard input: until a notice, and until it gives up.
const (
	stdinNotice = 2 * time.Second
	stdinLimit  = 60 * time.Second
)

// Reads reports whether standard input is read: a pipe, a file, or as the user decides.
func (f *TerminalFront) Reads() bool {
	if f.input.attached {
		return false
	}
	if f.input.never || f.input.wait {
		return f.input.wait
	}
	info, err := f.Env.Stdin.Stat()
	return err == nil && (info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular())
}

// Read is the text of standard input if it is a pipe or a file. It is read once.
func (f *TerminalFront) Read(ctx context.Context) (string, error) {
	if f.piped != nil || !f.Reads() {
		return repo.Plain(f.piped), nil
	}
	type read struct {
		text []byte
		err  error
	}
	first, done := make(chan struct{}), make(chan read, 1)
	go func() {
		text, err := io.ReadAll(&firstByte{r: f.Env.Stdin, seen: first})
		done <- read{text, err}
	}()
	if err := f.awaitStdin(ctx, first); err != nil {
		return "", err
	}
	select {
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read standard input: %w", r.err)
		}
		text := string(r.text)
		f.piped = &text
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// awaitStdin waits for the first byte or the end of standard input.
func (f *TerminalFront) awaitStdin(ctx context.Context, first <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	notice := f.elapsed(ctx, stdinNotice)
	var limit <-chan error
	for {
		select {
		case <-first:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-notice:
			fmt.Fprintln(f.Env.Messages(), "jp: waiting for stdin (Ctrl+D ends it; </dev/null skips it)")
			notice = nil
			if !f.input.wait {
				limit = f.elapsed(ctx, stdinLimit-stdinNotice)
			}
		case <-limit:
			return problem.Usage("nothing came on standard input for %d seconds.", int(stdinLimit.Seconds())).
				Hint(action.AskWithoutStdin, "do not read it").Hint(action.AskWithStdin, "wait for it without limit")
		}
	}
}

// elapsed sends when a time is over.
func (f *TerminalFront) elapsed(ctx context.Context, d time.Duration) <-chan error {
	over := make(chan error, 1)
	if f.Env.Wait == nil {
		time.AfterFunc(d, func() { over <- nil })
		return over
	}
	go func() { over <- f.Env.Wait(ctx, d) }()
	return over
}

// firstByte tells when a reader has got its first byte, or its end.
type firstByte struct {
	r    io.Reader
	seen chan struct{}
	told bool
}

func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if !f.told {
		f.told = true
		close(f.seen)
	}
	return n, err
}
