package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"jp/tool"
)

// A Server is one server of the configuration. It runs from its first use on.
// Several goroutines may use it.
type Server struct {
	spec Spec
	opts Options
	turn chan struct{} // holds one token; its holder may use the fields below

	conn    *connection // nil if the server is stopped
	listing ToolList    // of the connection
	closed  bool

	accepted atomic.Pointer[Files] // with which the user lets it start
}

// NewServer returns a server, still stopped.
func NewServer(s Spec, o Options) *Server {
	server := &Server{spec: s, opts: o.orDefault(), turn: make(chan struct{}, 1)}
	server.turn <- struct{}{}
	return server
}

// Spec is the configuration of the server.
func (s *Server) Spec() Spec { return s.spec }

// A State is the knowledge about a server without starting it.
type State struct {
	Approved bool         // something was approved for this command and environment
	Offers   []ToolInfo   // approved, and unchanged as far as jp has seen
	Changes  []Change     // to the approved tools, in the last list
	Files    []FileChange // differences from the approved files of its command; with one, the server offers no tools
}

// Approved are the tools that the user approved for this command. The server may list others now.
func (s *Server) Approved() []ToolInfo {
	offers, _, _ := s.opts.Approvals.Approved(s.spec)
	return offers
}

// State reads the approvals and the last list.
func (s *Server) State() State {
	approved, files, ok := s.opts.Approvals.Approved(s.spec)
	state := State{Approved: ok, Offers: approved, Files: s.Files().changes(files)}
	seen, otherwise := s.opts.Approvals.LastListed(s.spec)
	if len(state.Files) > 0 {
		state.Offers = nil
	}
	if !ok || !otherwise {
		return state
	}
	state.Changes = Changes(approved, seen)
	state.Offers = slices.DeleteFunc(slices.Clone(state.Offers), func(o ToolInfo) bool {
		is, found := ToolList{Offers: seen}.find(o.Name)
		return !found || !is.equal(o)
	})
	return state
}

// List starts the server, if necessary, and returns its list. The error is a [*StartError], or the cause of
// ctx.
func (s *Server) List(ctx context.Context) (ToolList, error) {
	if err := s.acquire(ctx); err != nil {
		return ToolList{}, err
	}
	defer s.release()
	_, listing, err := s.ready(ctx)
	return listing, err
}

// Before is the command with which a server of this name was approved last, if it is another one, else nil.
func (s *Server) Before() []string { return s.opts.Approvals.Before(s.spec) }

// Files are the files of the repository that the server's command line names, as they
// are now.
func (s *Server) Files() Files { return s.opts.Approvals.Files(s.spec) }

// Accept records that the user lets the server start with these files of the repository.
// It holds for this value of Server.
func (s *Server) Accept(files Files) { s.accepted.Store(&files) }

// Startable reports whether the server may start: the files of the repository that its
// command line names are those that the user approved or accepted.
func (s *Server) Startable() bool {
	files := s.Files()
	if accepted := s.accepted.Load(); accepted != nil && maps.Equal(*accepted, files) {
		return true
	}
	_, approved, _ := s.opts.Approvals.Approved(s.spec)
	return maps.Equal(approved, files)
}

// Approve records that the user approved these of the server's tools, with the files that
// they accepted or approved before.
func (s *Server) Approve(offers []ToolInfo) error {
	files := s.accepted.Load()
	if files == nil {
		_, approved, _ := s.opts.Approvals.Approved(s.spec)
		files = &approved
	}
	return s.opts.Approvals.Approve(s.spec, *files, offers)
}

// Revoke takes back the approval.
func (s *Server) Revoke() error { return s.opts.Approvals.Revoke(s.spec) }

// Tools are the tools that may be offered. reads tells, by the name of [ToolName], whether the user declared
// a tool to be read-only.
func (s *Server) Tools(reads func(name string) bool) []tool.Tool {
	var tools []tool.Tool
	_, files, _ := s.opts.Approvals.Approved(s.spec)
	for _, offer := range s.State().Offers {
		tool := newRemote(s, offer, reads(ToolName(s.spec.Name, offer.Name)))
		tool.def.Approval = s.approval(files, offer)
		tools = append(tools, tool)
	}
	return tools
}

// approval is a code of the user's approval of a tool: how the server is started, with which files, and how
// it describes the tool.
func (s *Server) approval(files Files, o ToolInfo) string {
	text, err := canonical([]any{s.spec, files, o})
	if err != nil {
		return ""
	}
	return hashOf(text)
}

// Close ends the server with all that it started, and returns when it has ended. After that the server is
// unusable.
func (s *Server) Close() {
	<-s.turn
	defer s.release()
	s.closed = true
	if s.conn != nil {
		s.conn.close(s.opts.Grace)
		s.conn = nil
	}
}

// acquire waits for the right to start the server and to see its list.
func (s *Server) acquire(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) release() { s.turn <- struct{}{} }

// ready starts the server if necessary, and lists its tools if they are unknown or may have changed. It tries
// once.
func (s *Server) ready(ctx context.Context) (*connection, ToolList, error) {
	if s.closed {
		return nil, ToolList{}, &StartError{Server: s.spec.Name, err: ErrClosed}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.StartTimeout, errSilent)
	defer cancel()
	hung, err := s.clear(ctx)
	if err != nil {
		return nil, ToolList{}, err
	}
	listed := s.conn != nil && !s.conn.stale.Load()
	if listed {
		return s.conn, s.listing, nil
	}
	known := s.conn != nil
	if !known {
		if !s.Startable() {
			return nil, ToolList{}, &StartError{Server: s.spec.Name, err: s.unapproved()}
		}
		conn, err := connect(ctx, s.spec, s.opts)
		if err != nil {
			return nil, ToolList{}, err
		}
		s.conn = conn
		s.conn.instead.Store(hung)
	}
	listing, err := s.conn.list(ctx, s.spec, s.opts)
	if err != nil {
		s.conn.close(0)
		s.conn = nil
		if known && sessionEnded(err) {
			return s.ready(ctx)
		}
		return nil, ToolList{}, err
	}
	s.listing = listing
	// If writing fails, the next start finds out again.
	_ = s.opts.Approvals.Saw(s.spec, listing.Offers)
	_ = s.opts.Approvals.SawPrompts(s.spec, listing.Prompts)
	return s.conn, listing, nil
}

// clear ends a server that hangs or is unusable. An error is the end of ctx.
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

// unapproved names the files that keep the server from starting.
func (s *Server) unapproved() error {
	var names []string
	for _, change := range s.State().Files {
		names = append(names, words(change.Name)+" is "+change.What)
	}
	return fmt.Errorf("%w: %s (jp trust --mcp %s)", ErrFiles, strings.Join(names, ", "), words(s.spec.Name))
}
