package trees

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"jp/gitcmd"
)

// NewGit returns a Reader that asks a child of git, which it starts when it is needed. It reads SHA-1 and
// SHA-256 objects. `git diff-tree` collects a whole difference in memory without a bound, even of a hostile
// tree. So git gives the objects, and the comparison is the same as that of NewGoGit.
func NewGit(git *gitcmd.Git) Reader { return newReader(&child{git: git}, decode) }

func (c *child) read(ctx context.Context, oid, want string) (data []byte, err error) {
	err = c.ask(ctx, oid+"\n", func(out *bufio.Reader) error {
		line, err := out.ReadString('\n')
		if err != nil {
			return err
		}
		words := strings.Fields(line)
		if len(words) == 2 && words[1] == "missing" {
			return errAnswer{ErrMissing}
		}
		if len(words) != 3 {
			return fmt.Errorf("%w: git answers %q", ErrMalformed, line)
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		switch {
		case err != nil:
			return fmt.Errorf("%w: git answers %q", ErrMalformed, line)
		case size > maxBytes:
			return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
		}
		data = make([]byte, size+1)
		if _, err := io.ReadFull(out, data); err != nil {
			return err
		}
		if data = data[:size]; words[1] != want {
			return errAnswer{fmt.Errorf("%w: it is a %s", ErrMalformed, words[1])}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", want, oid, err)
	}
	return data, nil
}

// decode reads the entries of a tree of any object format.
func decode(oid string, data []byte) (entries []Entry, err error) {
	digest := len(oid) / 2
	for len(data) > 0 {
		head, rest, ended := bytes.Cut(data, []byte{0})
		mode, name, parted := bytes.Cut(head, []byte{' '})
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		if !ended || !parted || err != nil || len(name) == 0 || len(rest) < digest {
			return nil, fmt.Errorf("%w: entry %d", ErrMalformed, len(entries))
		}
		entries = append(entries, Entry{string(name), Version{canonical(bits), hex.EncodeToString(rest[:digest])}})
		data = rest[digest:]
	}
	return entries, nil
}

// canonical is a mode as git shows it, without the tree's other bits.
func canonical(bits uint64) string {
	switch bits & 0o170000 {
	case 0o040000:
		return ModeFolder
	case 0o120000:
		return ModeLink
	case 0o100000:
		if bits&0o100 != 0 {
			return ModeExec
		}
		return ModeFile
	}
	return ModeSubmodule
}

// A child is a git that keeps running, and answers one question at a time.
type child struct {
	git *gitcmd.Git

	mu      sync.Mutex
	process *gitcmd.Process
	kill    context.CancelFunc
	out     *bufio.Reader
}

// errAnswer is an error after which the child goes on: it has answered to the end.
type errAnswer struct{ error }

func (e errAnswer) Unwrap() error { return e.error }

// ask sends a question and reads the answer, to the end or until an error.
func (c *child) ask(ctx context.Context, question string, answer func(*bufio.Reader) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	_, err := io.WriteString(c.process.Stdin, question)
	if err == nil {
		err = answer(c.out)
	}
	var whole errAnswer
	if err == nil && stop() || errors.As(err, &whole) {
		return err
	}
	broken := errors.Is(err, ErrMalformed) || errors.Is(err, ErrTooLarge)
	if broken {
		c.kill() // the rest of its output is of no use
	}
	end := c.stop()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case broken || end == nil:
		return err
	}
	return fault(end)
}

// fault says which error git's end stands for.
func fault(end error) error {
	var exit *gitcmd.ExitError
	if !errors.As(end, &exit) {
		return end
	}
	switch {
	case exit.LeftOut():
		return fmt.Errorf("%w: %w", ErrMissing, end)
	case exit.Code > 0:
		return fmt.Errorf("%w: %w", ErrMalformed, end)
	}
	return end
}

// start starts the child, which serves later callers too.
func (c *child) start() error {
	if c.process != nil {
		return nil
	}
	ctx, kill := context.WithCancel(context.Background())
	p, err := c.git.Start(ctx, gitcmd.Command{Args: []string{"cat-file", "--batch"}})
	if err != nil {
		kill()
		return err
	}
	c.process, c.kill, c.out = p, kill, bufio.NewReaderSize(p.Stdout, 64<<10)
	return nil
}

func (c *child) stop() error {
	if c.process == nil {
		return nil
	}
	err := c.process.Close()
	c.kill()
	c.process, c.kill, c.out = nil, nil, nil
	return err
}

func (c *child) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop()
}
