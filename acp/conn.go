package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Codes of errors, of JSON-RPC and of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeCancelled      = -32800
	codeAuth           = -32000
	codeNotFound       = -32002
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

var errGone = errors.New("the client is gone")

// lingers is how long a client that ended its input may take to read a message.
const lingers = 5 * time.Second

// A conn is the connection to a client. Any goroutine may send messages.
type conn struct {
	out  io.Writer
	gone chan struct{} // closed when sending is over
	left sync.Once
	send sync.Mutex // held while a message is written

	ended chan struct{} // closed when reading is over

	mu      sync.Mutex
	next    int
	waiting map[string]chan message            // for responses, by the id of jp's request
	running map[string]context.CancelCauseFunc // the client's requests, by id
}

// leave says that the client is gone.
func (c *conn) leave() { c.left.Do(func() { close(c.gone) }) }

// outgoing is a message that jp sends.
type outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// write sends one message, whole. A client that does not read blocks it until the client is gone. A client
// that has ended its input counts as gone if it does not read for a while.
func (c *conn) write(m outgoing) error {
	m.JSONRPC = "2.0"
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // it ends each message with a line break
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return err
	}
	c.send.Lock()
	defer c.send.Unlock()
	select {
	case <-c.gone:
		return errGone
	default:
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.out.Write(line.Bytes())
		done <- err
	}()
	var late <-chan time.Time
	for ended := c.ended; ; {
		select {
		case err := <-done:
			if err != nil {
				c.leave()
				return fmt.Errorf("%w: %w", errGone, err)
			}
			return nil
		case <-c.gone:
			return errGone
		case <-ended:
			ended, late = nil, time.After(lingers)
		case <-late:
			c.leave()
			return errGone
		}
	}
}

func (c *conn) notify(method string, params any) error {
	return c.write(outgoing{Method: method, Params: params})
}

func (c *conn) respond(id json.RawMessage, result any, failed *rpcError) {
	m := outgoing{ID: id, Result: result, Error: failed}
	if id == nil {
		m.ID = json.RawMessage("null")
	}
	if failed != nil {
		m.Result = nil
	}
	_ = c.write(m) // a client that is gone does not need the answer
}

// call asks the client. It withdraws the request if ctx ends first, and then returns its cause.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.next++
	id := strconv.Itoa(c.next)
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.write(outgoing{ID: json.RawMessage(id), Method: method, Params: params}); err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		return decode(m.Result, result)
	case <-ctx.Done():
		_ = c.notify("$/cancel_request", map[string]json.RawMessage{"requestId": json.RawMessage(id)})
		return context.Cause(ctx)
	case <-c.gone:
		return errGone
	}
}

// answered takes a response of the client. It drops one without a waiting request.
func (c *conn) answered(m message) {
	c.mu.Lock()
	answer := c.waiting[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}

// begin makes the context of a request. It fails if the client uses an id twice at a time.
func (c *conn) begin(ctx context.Context, id json.RawMessage) (context.Context, func(), *rpcError) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.running[string(id)]; taken {
		cancel(nil)
		return nil, nil, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("a request with the id %s is running", id)}
	}
	c.running[string(id)] = cancel
	return ctx, func() {
		c.mu.Lock()
		delete(c.running, string(id))
		c.mu.Unlock()
		cancel(nil)
	}, nil
}

// cancelRequest ends a request that the client withdraws.
func (c *conn) cancelRequest(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if decode(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.running[string(p.RequestID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel(errWithdrawn)
	}
}

// errWithdrawn is why a request ended that the client has withdrawn.
var errWithdrawn = errors.New("the client has withdrawn the request")

// decode reads parameters or a result.
func decode(text json.RawMessage, into any) error {
	if into == nil {
		return nil
	}
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	return json.Unmarshal(text, into)
}

// misfit describes, in the protocol's words, a mistake in parameters or in a field that decode refuses.
func misfit(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "they cannot be read"
	}
	found, _, _ := strings.Cut(wrong.Value, " ") // "number 1.5"
	switch found {
	case "bool":
		found = "a truth value"
	case "array", "object":
		found = "an " + found
	default:
		found = "a " + found
	}
	if wrong.Field != "" {
		found = fmt.Sprintf("%q is %s", wrong.Field, found)
	}
	return found + " (want " + want(wrong.Type) + ")"
}

// want is the JSON name of a type.
func want(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a truth value"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
