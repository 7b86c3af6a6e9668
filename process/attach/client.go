package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// patience is how long a process has to say hello.
const patience = 5 * time.Second

// A Client is the other end of a connection to a Server. Send may be called from
// any goroutine, Next from one.
type Client struct {
	conn  net.Conn
	lines *bufio.Scanner
	hello Hello
	mu    sync.Mutex // of writing
}

// Connect waits for the process's hello. It takes the connection over. A process
// that speaks another version is a *VersionError; the Client that comes with it
// can still be told to shut down.
func Connect(ctx context.Context, conn net.Conn) (*Client, error) {
	c := &Client{conn: conn, lines: bufio.NewScanner(conn)}
	c.lines.Buffer(nil, MaxFrame)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	m, err := c.Next()
	if err == nil {
		err = c.greeted(m)
	}
	var version *VersionError
	if err != nil && !errors.As(err, &version) {
		conn.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	_ = conn.SetReadDeadline(time.Time{})
	return c, err
}

func (c *Client) greeted(m Message) error {
	switch m := m.(type) {
	case *Hello:
		if c.hello = *m; m.V != Version {
			return &VersionError{Theirs: m.V}
		}
		return nil
	case *Bye:
		return fmt.Errorf("%w: %s", ErrGone, m.Reason)
	}
	return fmt.Errorf("%w: no hello comes first", ErrGarbled)
}

// Hello is what the process said first.
func (c *Client) Hello() Hello { return c.hello }

// Next is the next message of a known type. It is [ErrGone] at the end.
func (c *Client) Next() (Message, error) {
	for c.lines.Scan() {
		m, err := Decode(c.lines.Bytes())
		if m != nil || err != nil {
			return m, err
		}
	}
	if err := c.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, ErrTooLong
	}
	return nil, ErrGone
}

// Send says something. It is [ErrGone] where nobody listens.
func (c *Client) Send(m Message) error {
	line, err := Encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(line); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
