package mcp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime is how long calls may still take when the input has ended.
const drainTime = 10 * time.Second

// drainingTransport is a transport on which the end of the input waits until the calls before it are
// answered: a client that pipes its requests in gets all answers.
type drainingTransport struct {
	sdk.Transport
	done <-chan struct{} // ends the wait
}

// Connect implements [sdk.Transport].
func (p drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &drainingConnection{Connection: c, done: p.done, answered: make(chan struct{}, 1)}, err
}

// A drainingConnection counts the calls that have no answer.
type drainingConnection struct {
	sdk.Connection
	done     <-chan struct{}
	open     atomic.Int64
	answered chan struct{} // told of answers; one that still waits is enough
}

// Read implements [sdk.Connection].
func (c *drainingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
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

// Write implements [sdk.Connection].
func (c *drainingConnection) Write(ctx context.Context, message jsonrpc.Message) error {
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

func (c *drainingConnection) await() {
	limit := time.NewTimer(drainTime)
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
