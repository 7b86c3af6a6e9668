package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshake is the protocol version of the first greeting. Some servers exit at a version newer than theirs.
// A server that knows only newer ones says so, and is started again.
const handshake = "2025-11-25"

// A connection is a server that runs and was greeted.
type connection struct {
	peer    peer
	remote  bool // it is at an address, so an error may be the network's
	session *sdk.ClientSession
	broken  atomic.Pointer[error] // why it is unusable, though it runs
	stale   atomic.Bool           // the server said that its list has changed
	owes    atomic.Bool           // a call ended without its answer: the server may hang
	instead atomic.Bool           // it was started in the place of one that hung, and the model has yet to hear of it
	watched progressWatch
}

// connect starts a server and greets it. At the end of ctx it is killed.
func connect(ctx context.Context, s Spec, o Options) (*connection, error) {
	c, err := greet(ctx, s, o, handshake)
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) && (refusal.Code == jsonrpc.CodeMethodNotFound || refusal.Code == sdk.CodeUnsupportedProtocolVersion) {
		c, err = greet(ctx, s, o, "")
	}
	return c, err
}

// greet starts a server and agrees on a version of the protocol, "" for the newest that it knows.
func greet(ctx context.Context, s Spec, o Options, version string) (*connection, error) {
	c := &connection{remote: s.URL != ""}
	transport, err := c.reach(s, o)
	if err != nil {
		return nil, &StartError{Server: s.Name, err: err}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "jp", Version: o.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		// It makes the server send the notification; see saw.
		ToolListChangedHandler:   func(context.Context, *sdk.ToolListChangedRequest) {},
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) {},
		MultiRoundTrip:           &sdk.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(refuse)
	if c.remote {
		client.AddReceivingMiddleware(c.hears)
	}
	stop := context.AfterFunc(ctx, c.peer.kill) // ends all waiting for the server
	c.session, err = client.Connect(context.WithoutCancel(ctx), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if !stop() || err != nil {
		return nil, c.failure(ctx, s, err)
	}
	return c, nil
}

// reach starts a server, or makes the way to one at an address.
func (c *connection) reach(s Spec, o Options) (sdk.Transport, error) {
	if c.remote {
		p, transport, err := reach(s, o)
		c.peer = p
		return transport, err
	}
	p, err := launch(s, o)
	if err != nil {
		return nil, err
	}
	c.peer = p
	return &sdk.IOTransport{Reader: newLines(p.out, p.tail, c.saw, c.spoil), Writer: p.in, MaxLineLength: -1}, nil
}

// hears notes the notifications of a server at an address, as saw does of a process.
func (c *connection) hears(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *sdk.ProgressNotificationParams:
			c.watched.tell(p)
		case *sdk.ToolListChangedParams, *sdk.PromptListChangedParams:
			c.stale.Store(true)
		}
		return next(ctx, method, req)
	}
}

// failure ends an unusable server, and gives the reason.
func (c *connection) failure(ctx context.Context, s Spec, err error) error {
	why := c.breakdown(err)
	c.peer.end(0)
	var signIn *signInError
	var status *statusError
	switch {
	case errors.As(err, &signIn):
		why = signIn
	case errors.As(err, &status):
		why = status
	case errors.Is(context.Cause(ctx), errSilent):
		why = errSilent
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &StartError{Server: s.Name, Said: c.peer.said(), err: why}
}

// breakdown is the cause of an error: that the server ended, or was ended, or else the error itself.
func (c *connection) breakdown(err error) error {
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, syscall.EPIPE) {
		c.spoil(errOutput)
	}
	var refusal *jsonrpc.Error
	var form *json.UnmarshalTypeError // of a message that came whole
	if c.remote && err != nil && !errors.As(err, &refusal) && !errors.As(err, &form) {
		c.spoil(err)
	}
	why := c.broken.Load()
	switch {
	case why == nil || errors.As(err, &refusal):
		return err
	case *why == errOutput && c.ended():
		return fmt.Errorf("it ended (%s)", c.peer.ending())
	}
	return *why
}

// ended reports whether the server has ended. Its output ends a moment before it
// does.
func (c *connection) ended() bool {
	limit := time.NewTimer(abandon)
	defer limit.Stop()
	select {
	case <-c.peer.finished():
		return true
	case <-limit.C:
		return false
	}
}

// refuse rejects the requests of a server to a client.
func refuse(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case "roots/list", "sampling/createMessage", "elicitation/create":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "jp offers no " + method}
		}
		return next(ctx, method, req)
	}
}

// saw notes the notifications of a server at once. After a change of the list, every call made on a later
// result must see it. Progress is useless after its result.
func (c *connection) saw(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	switch r.Method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed":
		c.stale.Store(true)
	case "notifications/progress":
		var p sdk.ProgressNotificationParams
		if json.Unmarshal(r.Params, &p) == nil {
			c.watched.tell(&p)
		}
	}
}

func (c *connection) spoil(why error) { c.broken.CompareAndSwap(nil, &why) }

func (c *connection) usable() bool { return c.peer.running() && c.broken.Load() == nil }

// list asks for the tools again, and for the prompts, which have a short time limit. At the end of ctx the
// server is killed.
func (c *connection) list(ctx context.Context, s Spec, o Options) (ToolList, error) {
	c.stale.Store(false)
	stop := context.AfterFunc(ctx, c.peer.kill)
	listing, err := listTools(context.WithoutCancel(ctx), c.session)
	if !stop() || err != nil {
		return ToolList{}, c.failure(ctx, s, err)
	}
	short, cancel := context.WithTimeout(ctx, o.PingTimeout)
	defer cancel()
	prompts, known := c.listPrompts(short)
	if !known { // those of the last time may still be there
		prompts = o.Approvals.Prompts(s)
	}
	listing.Prompts = prompts
	return listing, nil
}

// answers reports whether a server still responds. An error is the end of ctx. Any answer counts, since some
// servers lack ping.
func (c *connection) answers(ctx context.Context, within time.Duration) (bool, error) {
	if deadline, ok := ctx.Deadline(); ok {
		within = pingTime(within, time.Until(deadline))
	}
	short, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- c.session.Ping(short, nil) }() // the server may have stopped reading
	var err error
	select {
	case err = <-answered:
	case <-short.Done():
		err = short.Err()
	}
	var refusal *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &refusal):
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	}
	return false, nil
}

// pingTime is how long a ping may take in a call with that much time left. Half of it stays for a restart of
// the server.
func pingTime(most, left time.Duration) time.Duration { return min(most, left/2) }

// abandon is how long jp waits for a cancelled call to return. It takes longer only if the server has stopped
// reading.
const abandon = time.Second

// callTool runs a tool. At the end of ctx it tells the server that the client has given up the answer, and
// ends a server that has stopped reading. progress receives the server's progress. It may be nil.
func (c *connection) callTool(
	ctx context.Context, name string, arguments json.RawMessage, progress func(string),
) (*sdk.CallToolResult, error) {
	params := &sdk.CallToolParams{Name: name, Arguments: arguments}
	if progress != nil {
		token, end := c.watched.watch(progress)
		defer end()
		params.SetProgressToken(token)
	}
	type answer struct {
		result *sdk.CallToolResult
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		result, err := c.session.CallTool(ctx, params)
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil && ctx.Err() != nil {
			a.err = context.Cause(ctx)
		}
		return a.result, a.err
	case <-ctx.Done():
	}
	limit := time.NewTimer(abandon)
	defer limit.Stop()
	select {
	case <-answered:
	case <-limit.C:
		c.spoil(errors.New("it reads nothing"))
		c.peer.kill()
	}
	return nil, context.Cause(ctx)
}

func (c *connection) close(grace time.Duration) {
	c.peer.end(grace)
	_ = c.session.Close() // of a server that has ended
}
