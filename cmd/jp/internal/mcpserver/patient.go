package mcpserver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long calls may still take when the input has ended.
const patience = 10 * time.Second

// drainingTransport is a transport on which the end of the input waits until the calls before it are
// answered: a client that pipes its requests in gets all answers.
type drainingTransport struct {
	mcp.Transport
	done <-chan struct{} // ends the patience
}

// Connect implements [mcp.Transport].
func (p drainingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &connection{Connection: c, done: p.done, answered: make(chan struct{}, 1)}, err
}

// A connection counts the calls that have no answer.
type connection struct {
	mcp.Connection
	done     <-chan struct{}
	open     atomic.Int64
	answered chan struct{} // told of answers; one that still waits is enough
}

// Read implements [mcp.Connection].
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.await()
		return nil, err
	}
	if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
		c.open.Add(1)
	}
	return message, nil
}

// Write implements [mcp.Connection].
func (c *connection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.open.Add(-1)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *connection) await() {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for c.open.Load() > 0 {
		select {
		case <-c.answered:
		case <-c.done:
			return
		case <-limit.C:
			return
		}
	}
}
