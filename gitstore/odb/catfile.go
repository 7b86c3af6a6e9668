package odb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"jp/gitcmd"
)

// catFile is a git process for objects that jp found nowhere else. It starts with the first question and
// runs until Close.
type catFile struct {
	mu      sync.Mutex
	process *gitcmd.Process
	answers *bufio.Reader
	closed  bool
	named   OID // of the last answer
}

// read gives an object's kind and content.
func (c *catFile) read(s *Store, oid OID) (kind string, data []byte, err error) {
	kind, size, err := c.info(context.Background(), s, oid)
	if err != nil {
		return "", nil, err
	}
	if size > s.opts.MaxObject {
		return "", nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, size)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kind, size, err = c.ask(s, "contents "+string(oid))
	if err != nil {
		return "", nil, err
	}
	data = make([]byte, size+1) // the answer ends with a line feed
	if _, err := io.ReadFull(c.answers, data); err != nil {
		c.stop()
		return "", nil, fmt.Errorf("git cat-file: %w", err)
	}
	return kind, data[:size], nil
}

// info gives an object's kind and size. Without git the object is missing.
func (c *catFile) info(ctx context.Context, s *Store, oid OID) (kind string, size int64, err error) {
	if s.opts.Git == nil || s.blocks(oid) {
		return "", 0, ErrObjectMissing
	}
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask(s, "info "+string(oid))
}

// resolve gives the object that a name stands for.
func (c *catFile) resolve(s *Store, name string) (oid OID, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, _, err := c.ask(s, "info "+name); err != nil {
		return "", err
	}
	return c.named, nil
}

// ask puts one question, to a new child if the old one has died.
func (c *catFile) ask(s *Store, question string) (kind string, size int64, err error) {
	line := ""
	for range 2 {
		if err = c.start(s); err != nil {
			return "", 0, err
		}
		if _, err = io.WriteString(c.process.Stdin, question+"\n"); err == nil {
			if line, err = c.answers.ReadString('\n'); err == nil {
				return c.parse(line)
			}
		}
		end := c.stop()
		if leftOut(end) {
			return "", 0, ErrObjectMissing
		}
		if killed(end) {
			tellEnd(s.opts.Log, "cat-file")
		}
		err = fmt.Errorf("git cat-file: %w", errors.Join(err, end))
	}
	return "", 0, err
}

// leftOut reports whether git has ended because a partial clone has left an object out: git may not fetch
// it, and has no other answer.
func leftOut(end error) bool {
	var exit *gitcmd.ExitError
	return errors.As(end, &exit) && exit.LeftOut()
}

func (c *catFile) parse(line string) (kind string, size int64, err error) {
	fields := strings.Fields(line)
	switch {
	case len(fields) == 2 && fields[1] == "missing":
		return "", 0, ErrObjectMissing
	case len(fields) == 3:
		if size, err = strconv.ParseInt(fields[2], 10, 62); err == nil && size >= 0 && isKind(fields[1]) {
			c.named = OID(fields[0])
			return fields[1], size, nil
		}
	}
	c.stop()
	return "", 0, fmt.Errorf("git cat-file: unexpected answer %q", line)
}

func (c *catFile) start(s *Store) error {
	if c.process != nil {
		return nil
	}
	if c.closed {
		return ErrObjectMissing
	}
	// The child also serves later callers, so it must outlive the caller's context.
	p, err := s.opts.Git.Start(context.Background(), gitcmd.Command{
		Args: []string{"cat-file", "--batch-command"},
		Env:  s.gitEnv(),
	})
	if err != nil {
		return err
	}
	c.process, c.answers = p, bufio.NewReaderSize(p.Stdout, 64<<10)
	return nil
}

func (c *catFile) stop() error {
	if c.process == nil {
		return nil
	}
	err := c.process.Close()
	c.process, c.answers = nil, nil
	return err
}

func (c *catFile) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.stop()
}

// gitEnv keeps every child in this git directory and off the network.
func (s *Store) gitEnv() []string {
	return []string{"GIT_DIR=" + s.dir, "GIT_NO_LAZY_FETCH=1"}
}
