package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/internal/publicnet"
)

// A peer is a server that was reached: a process, or one at an address.
type peer interface {
	kill()                   // at once
	end(grace time.Duration) // returns when it has ended
	running() bool
	finished() <-chan struct{} // closed when it has ended
	ending() string            // how, in words
	said() string              // the end of its output besides messages; "" if there is none
}

// A remotePeer is a server at an address. Its end is the end of jp's connections to it.
type remotePeer struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	over  chan struct{}
	once  sync.Once
}

// errLeft means that jp has left a server.
var errLeft = errors.New("jp has left it")

func (p *remotePeer) kill() {
	p.once.Do(func() { close(p.over) })
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

func (p *remotePeer) end(time.Duration)         { p.kill() }
func (p *remotePeer) finished() <-chan struct{} { return p.over }
func (p *remotePeer) ending() string            { return errLeft.Error() }
func (p *remotePeer) said() string              { return "" }

func (p *remotePeer) running() bool {
	select {
	case <-p.over:
		return false
	default:
		return true
	}
}

// dial connects, and lets kill end the connection.
func (p *remotePeer) dial(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !p.running() {
			return nil, errLeft
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.running() {
			return nil, errors.Join(errLeft, conn.Close())
		}
		p.conns[conn] = true
		return conn, nil
	}
}

// reach is the transport to a server at an address. It sends the headers that are configured, follows no redirect, and
// connects to public addresses only, besides the hosts that the user allows.
func reach(s Spec, o Options) (*remotePeer, sdk.Transport, error) {
	at, err := publicnet.Parse(s.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("its address: %w", err)
	}
	headers := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		value := s.Headers[name]
		if o.Header != nil {
			if value, err = o.Header(name, value); err != nil {
				return nil, nil, err
			}
		}
		headers.Set(name, value)
	}
	p := &remotePeer{conns: map[net.Conn]bool{}, over: make(chan struct{})}
	return p, &sdk.StreamableClientTransport{
		Endpoint: at.String(), MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxLine, OAuthHandler: authorizer(s, o),
		HTTPClient: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &sender{headers: headers, signs: signs(s, o), hint: signInHint(s), over: p.over, next: &http.Transport{
				DialContext: p.dial(publicnet.Dialer(at.Hostname(), o.Private)), ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 10 * time.Second,
			}},
		},
	}, nil
}

// A sender adds headers to each request, bounds each answer and makes it readable.
type sender struct {
	headers http.Header
	signs   func(*http.Response) bool // reports whether a response asks for a sign-in; may be nil
	hint    string                    // for a status that asks to sign in
	over    <-chan struct{}           // closed when jp has left the server
	next    http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. A message that the server refuses for a short time is sent
// once more.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, s.headers)
	response, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if wait, ok := later(r.Context(), response); ok && r.GetBody != nil {
		response.Body.Close()
		if response, err = s.again(r, wait); err != nil {
			return nil, err
		}
	}
	if r.Method == http.MethodPost {
		if err := s.refusal(r, response); err != nil {
			return nil, err
		}
	}
	var call jsonrpc.ID
	if succeeded(response) {
		call = callID(r)
	}
	if err := mendBody(response, call, func(body []byte) error { return noMessage(response, body) }); err != nil {
		return nil, err
	}
	return response, nil
}

// callID is the id of the call in a request, invalid if the request is a notification.
func callID(r *http.Request) (id jsonrpc.ID) {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return id
	}
	body, err := r.GetBody()
	if err != nil {
		return id
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return id
	}
	message, _ := jsonrpc.DecodeMessage(data)
	if call, is := message.(*jsonrpc.Request); is {
		id = call.ID
	}
	return id
}
