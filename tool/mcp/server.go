package mcp

import (
	"context"
	"slices"

	"jp/tool"
)

// A Server is one server of the configuration. It runs from its first use on.
// Several goroutines may use it.
type Server struct {
	spec Spec
	opts Options
	turn chan struct{} // holds one token; what follows is for whoever took it

	conn    *connection // nil: it does not run
	listing Listing     // of the connection
	closed  bool
}

// NewServer returns a server, which does not run yet.
func NewServer(s Spec, o Options) *Server {
	server := &Server{spec: s, opts: o.orDefault(), turn: make(chan struct{}, 1)}
	server.turn <- struct{}{}
	return server
}

// Spec is what the configuration says of the server.
func (s *Server) Spec() Spec { return s.spec }

// A State is what is known of a server without starting it.
type State struct {
	Approved bool     // something was approved for this command and environment
	Offers   []Offer  // what was approved, and was not seen to be otherwise since
	Changes  []Change // what the server listed otherwise, when it ran last
}

// State reads what was approved, and what was seen since.
func (s *Server) State() State {
	approved, ok := s.opts.Approvals.Approved(s.spec)
	state := State{Approved: ok, Offers: approved}
	seen, otherwise := s.opts.Approvals.Seen(s.spec)
	if !ok || !otherwise {
		return state
	}
	state.Changes = Changes(approved, seen)
	state.Offers = slices.DeleteFunc(slices.Clone(approved), func(o Offer) bool {
		is, found := Listing{Offers: seen}.find(o.Name)
		return !found || !is.equal(o)
	})
	return state
}

// Look starts the server, if it does not run, and returns what it lists. The
// error is a [*StartError], or the cause of ctx.
func (s *Server) Look(ctx context.Context) (Listing, error) {
	if err := s.take(ctx); err != nil {
		return Listing{}, err
	}
	defer s.release()
	_, listing, err := s.ready(ctx)
	return listing, err
}

// Before is the command with which a server of this name was approved last, if
// that is another one; nil if there is none.
func (s *Server) Before() []string { return s.opts.Approvals.Before(s.spec) }

// Approve records that the user approved these of the server's tools.
func (s *Server) Approve(offers []Offer) error { return s.opts.Approvals.Approve(s.spec, offers) }

// Revoke takes back what was approved.
func (s *Server) Revoke() error { return s.opts.Approvals.Revoke(s.spec) }

// Tools are the tools that may be offered. reads is asked by the names of
// [ToolName] which of them change nothing, in the user's word.
func (s *Server) Tools(reads func(name string) bool) []tool.Tool {
	var tools []tool.Tool
	for _, offer := range s.State().Offers {
		tools = append(tools, newRemote(s, offer, reads(ToolName(s.spec.Name, offer.Name))))
	}
	return tools
}

// Close ends the server with all that it started, and returns when it has ended.
// It cannot be used any more.
func (s *Server) Close() {
	<-s.turn
	defer s.release()
	s.closed = true
	if s.conn != nil {
		s.conn.close(s.opts.Grace)
		s.conn = nil
	}
}

// take waits for the right to start the server and to see its list.
func (s *Server) take(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) release() { s.turn <- struct{}{} }

// ready starts the server, if it does not run, and lists its tools, if they are
// not known or may have changed. It tries once.
func (s *Server) ready(ctx context.Context) (*connection, Listing, error) {
	if s.closed {
		return nil, Listing{}, &StartError{Server: s.spec.Name, err: ErrClosed}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.StartTimeout, errSilent)
	defer cancel()
	hung, err := s.clear(ctx)
	if err != nil {
		return nil, Listing{}, err
	}
	listed := s.conn != nil && !s.conn.stale.Load()
	if listed {
		return s.conn, s.listing, nil
	}
	if s.conn == nil {
		conn, err := connect(ctx, s.spec, s.opts)
		if err != nil {
			return nil, Listing{}, err
		}
		s.conn = conn
		s.conn.instead.Store(hung)
	}
	listing, err := s.conn.list(ctx, s.spec)
	if err != nil {
		s.conn.close(0)
		s.conn = nil
		return nil, Listing{}, err
	}
	s.listing = listing
	// What cannot be kept is found out again at the next start.
	_ = s.opts.Approvals.Saw(s.spec, listing.Offers)
	return s.conn, listing, nil
}

// clear ends a server that cannot be used, and one that hangs. An error is the end of
// ctx.
func (s *Server) clear(ctx context.Context) (hung bool, err error) {
	if s.conn == nil {
		return false, nil
	}
	if s.conn.usable() && s.conn.owes.Swap(false) {
		answers, err := s.conn.answers(ctx, s.opts.PingTimeout)
		if err != nil {
			s.conn.owes.Store(true)
			return false, err
		}
		hung = !answers
	}
	if hung || !s.conn.usable() {
		s.conn.close(0)
		s.conn = nil
	}
	return hung, nil
}
