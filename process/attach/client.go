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

// patience is how long a process has to say hello, and to take a message.
const patience = 5 * time.Second

// A Client is the other end of a connection to a Server. Send and Close may be
// called from any goroutine, Next from one.
type Client struct {
	conn  net.Conn
	lines *bufio.Scanner
	hello Hello

	mu   sync.Mutex // of writing
	torn error      // why a message was sent in part; further ones cannot follow it
}

// Connect waits for the process's hello, for some seconds. It takes the connection over. It fails with
// [ErrGone] if none comes. For a process of another version it fails with a [*VersionError], and returns a
// Client that can still send Shutdown.
func Connect(ctx context.Context, conn net.Conn) (*Client, error) {
	c := &Client{conn: conn, lines: frames(conn)}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	m, err := c.Next()
	if err == nil {
		err = c.greeted(m)
	}
	if !stop() {
		conn.Close()
		return nil, context.Cause(ctx)
	}
	var version *VersionError
	if err != nil && !errors.As(err, &version) {
		conn.Close()
		return nil, fmt.Errorf("wait for hello: %w", err)
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
	case *Closing:
		return &RefusedError{*m}
	}
	return fmt.Errorf("%w: no hello comes first", ErrGarbled)
}

// Hello is the process's first message.
func (c *Client) Hello() Hello { return c.hello }

// Next waits for the next message of a known type. It is [ErrGone] at the end.
func (c *Client) Next() (Message, error) {
	for c.lines.Scan() {
		m, err := Decode(c.lines.Bytes())
		if m != nil || err != nil {
			return m, err
		}
	}
	switch err := c.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, ErrTooLong
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil, ErrGone
}

// Send says something. It returns [ErrGone] if the peer has left.
func (c *Client) Send(m Message) error {
	line, err := Encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.torn == nil {
		_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
		_, c.torn = c.conn.Write(line)
	}
	if c.torn != nil {
		return fmt.Errorf("%w: %w", ErrGone, c.torn)
	}
	return nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
