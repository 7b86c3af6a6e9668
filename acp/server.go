package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"jp/agent/models"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/version"
	"jp/turnloop"
)

// Options say how a server works.
type Options struct {
	Host *repo.Host // the system and the folder in which jp was started
	Log  io.Writer  // gets texts that editors do not show; optional
	// Offers are the editor's choices with which jp asks less than by default: "network",
	// and names of modes.
	Offers []string
	// TrustMCP starts the MCP servers that the editor names. Otherwise jp starts those of them that the
	// user approved.
	TrustMCP bool
}

type server struct {
	Options
	conn   *conn
	work   sync.WaitGroup // requests that run
	madeUp atomic.Int64   // calls that were made up for questions

	mu       sync.Mutex
	client   any                 // its capabilities
	ready    bool                // the client has introduced itself
	sessions map[string]*session // that are open
	listed   map[string]string   // folders of those that the client has seen in a list
}

// Serve talks to the client at the other end of in and out until in ends, or ctx does. It interrupts the
// turns that run then, whose events are recorded. When in ends, it answers each request that it has read.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	c := &conn{out: out, gone: make(chan struct{}), ended: make(chan struct{}), waiting: map[string]chan message{}, running: map[string]context.CancelCauseFunc{}}
	s := &server{Options: o, conn: c, sessions: map[string]*session{}, listed: map[string]string{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(ctx, newFrames(in))
	}()
	var err error
	select {
	case <-read:
		s.hangUp()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	close(s.conn.ended)
	s.work.Wait()
	return err
}

// gone ends a turn whose client is.
func gone() error {
	return &turnloop.Interrupt{Signal: "SIGHUP", Cause: "the editor closed the connection"}
}

// hangUp interrupts the running turns: the client that answers their questions is gone.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, open := range s.sessions {
		open.mu.Lock()
		if open.turn != nil {
			open.turn.cancel(gone())
		}
		open.mu.Unlock()
	}
}

// read takes messages until the input ends.
func (s *server) read(ctx context.Context, in *frames) {
	for {
		m, err := in.next()
		var wrong *rpcError
		switch {
		case errors.As(err, &wrong) && m.response: // an answer to a response would be taken for one to a request of the same id
			s.conn.answered(message{ID: m.ID, Error: wrong})
		case errors.As(err, &wrong):
			s.conn.respond(m.ID, nil, wrong)
		case err != nil:
			return
		case m.Method == "":
			s.conn.answered(m)
		case m.ID == nil:
			// It returns before the next message is read, so that a cancellation counts for all requests before it.
			switch m.Method {
			case "session/cancel":
				var p sessionRequest
				if decode(m.Params, &p) == nil {
					if open := s.session(p.SessionID); open != nil {
						open.cancel()
					}
				}
			case "$/cancel_request":
				s.conn.cancelRequest(m.Params)
			}
		default:
			s.requested(ctx, m)
		}
	}
}

// A handler answers a request. The work before it returns the rest is done before the next message is read.
type handler func(s *server, ctx context.Context, params json.RawMessage) (rest func() (any, error), err error)

// handlers serve the client's requests, by method.
var handlers = map[string]handler{
	"initialize":                at((*server).initialize),
	"authenticate":              later((*server).authenticate),
	"session/new":               later((*server).newSession),
	"session/load":              later((*server).loadSession),
	"session/resume":            later((*server).resumeSession),
	"session/list":              later((*server).listSessions),
	"session/close":             later((*server).closeSession),
	"session/delete":            later((*server).deleteSession),
	"session/set_mode":          later((*server).setMode),
	"session/set_config_option": later((*server).setConfig),
	"session/prompt":            (*server).prompt,
	"_jp/fork":                  later((*server).forkSession),
}

// later is a handler that works beside other requests.
func later[P any](do func(*server, context.Context, P) (any, error)) handler {
	return func(s *server, ctx context.Context, params json.RawMessage) (func() (any, error), error) {
		var p P
		if err := decode(params, &p); err != nil {
			return nil, invalid("the parameters do not fit the protocol: %s", misfit(err))
		}
		return func() (any, error) { return do(s, ctx, p) }, nil
	}
}

// at is a handler that is done before the next message is read.
func at[P any](do func(*server, context.Context, P) (any, error)) handler {
	return func(s *server, ctx context.Context, params json.RawMessage) (func() (any, error), error) {
		var p P
		if err := decode(params, &p); err != nil {
			return nil, invalid("the parameters do not fit the protocol: %s", misfit(err))
		}
		result, err := do(s, ctx, p)
		return func() (any, error) { return result, err }, nil
	}
}

// requested begins to answer a request.
func (s *server) requested(ctx context.Context, m message) {
	handle, known := handlers[m.Method]
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	switch {
	case !known:
		s.conn.respond(m.ID, nil, &rpcError{Code: codeNoMethod, Message: fmt.Sprintf("jp has no method %q", m.Method)})
		return
	case !ready && m.Method != "initialize":
		s.conn.respond(m.ID, nil, &rpcError{Code: codeInvalidRequest, Message: "initialize comes first"})
		return
	}
	ctx, done, wrong := s.conn.begin(ctx, m.ID)
	if wrong != nil {
		s.conn.respond(m.ID, nil, wrong)
		return
	}
	rest, err := handle(s, ctx, m.Params)
	s.work.Go(func() {
		defer done()
		var result any
		if err == nil {
			result, err = s.guarded(rest)
		}
		if err != nil && errors.Is(context.Cause(ctx), errWithdrawn) {
			err = &rpcError{Code: codeCancelled, Message: errWithdrawn.Error()}
		}
		after, follows := result.(followed)
		if follows {
			result = after.result
		}
		s.conn.respond(m.ID, result, s.failure(err))
		if follows && err == nil {
			after.then()
		}
	})
}

// followed is a result behind which the client is told more.
type followed struct {
	result any
	then   func()
}

// guarded keeps a panic of one request from ending the others.
func (s *server) guarded(do func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log("%v\n%s", p, debug.Stack())
			err = fmt.Errorf("jp failed: %v", p)
		}
	}()
	return do()
}

// log writes a text that editors do not show.
func (s *server) log(format string, args ...any) {
	if s.Log != nil {
		fmt.Fprintf(s.Log, format+"\n", args...)
	}
}

func invalid(format string, args ...any) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// failure is an error as the client gets it: with the commands that help.
func (s *server) failure(err error) *rpcError {
	var ready *rpcError
	if err == nil || errors.As(err, &ready) {
		return ready
	}
	p := repo.ProblemOf(err)
	f := &rpcError{Code: codeInternal, Message: p.Message}
	switch p.Code {
	case "auth":
		f.Code = codeAuth
	case "not_found":
		f.Code = codeNotFound
	case "usage", "config":
		f.Code = codeInvalidParams
	}
	for _, line := range p.Details {
		f.Message += "\n" + line
	}
	type hint struct {
		Command string       `json:"command"`
		Text    string       `json:"text"`
		Action  *action.Data `json:"action,omitempty"`
	}
	hints := []hint{}
	for _, h := range p.Hints {
		f.Message += "\n  " + h.Action.String() + "   " + h.Text
		hints = append(hints, hint{h.Action.String(), h.Text, h.Action.Data()})
	}
	f.Data = map[string]any{"code": p.Code, "conversation": p.Conversation, "hints": hints}
	return f
}

// can reports whether the client has a capability: an object or true at the end of a path. One of another form counts as
// missing, as the protocol's schema says.
func (s *server) can(path ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.client
	for _, key := range path {
		object, is := at.(map[string]any)
		if !is {
			return false
		}
		at = object[key]
	}
	_, object := at.(map[string]any)
	return object || at == true
}

func (s *server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// initialize exchanges the capabilities of client and server.
func (s *server) initialize(_ context.Context, p initializeRequest) (any, error) {
	s.mu.Lock()
	s.client, s.ready = p.ClientCapabilities, true
	s.mu.Unlock()
	r := initializeResponse{
		ProtocolVersion: protocolVersion,
		AgentInfo:       implementation{Name: "jp", Title: "jp", Version: version.Get().Version},
		AgentCapabilities: agentCapabilities{
			LoadSession:        true,
			PromptCapabilities: promptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    mcpCapabilities{HTTP: true},
			SessionCapabilities: map[string]any{
				"list": struct{}{}, "resume": struct{}{}, "close": struct{}{}, "delete": struct{}{},
			},
		},
		AuthMethods: []authMethod{{
			ID: "key", Name: "Set the key of a provider",
			Description: "jp reads keys from its environment, such as ANTHROPIC_API_KEY, from the program in providers.NAME.key_command, or from jp login. This checks that there is one.",
		}},
	}
	if s.can("_meta", "_jp/fork") {
		r.AgentCapabilities.Meta = meta{"_jp/fork": true}
	}
	return r, nil
}

// authenticate checks that there is a key for the model that is configured.
func (s *server) authenticate(ctx context.Context, p authenticateRequest) (any, error) {
	if p.MethodID != "key" {
		return nil, invalid("there is no method %q to authenticate; there is \"key\"", p.MethodID)
	}
	host := *s.host(s.Host.Dir, nil)
	r, err := repo.FindSettings(ctx, &host)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	model := r.Config.ResolveModel(r.Config.Model)
	if model == "" {
		model, err = models.ProvidersOf(r).UsualModel(ctx, &host)
	}
	if err == nil {
		_, err = models.OpenModel(ctx, &host, r, model)
	}
	if err != nil {
		failed := s.failure(err)
		failed.Code = codeAuth
		return nil, failed
	}
	return struct{}{}, nil
}

// host is the system as a session sees it.
func (s *server) host(dir string, cfg []string) *repo.Host {
	note := func(line string) { s.log("%s", line) }
	return &repo.Host{
		Environ: append(append([]string{}, s.Host.Environ...), "JP_SESSION=acp"), Dir: dir, Now: s.Host.Now, Random: s.Host.Random, Wait: s.Host.Wait,
		Cfg: append(append([]string{}, s.Host.Cfg...), cfg...), Notify: note, Alarm: note,
	}
}

// idOf is the conversation that a session stands for.
func idOf(session string) (conversation.ID, error) {
	id, err := conversation.ParseID(session)
	if err != nil {
		return "", &rpcError{Code: codeNotFound, Message: fmt.Sprintf("there is no session %q", session)}
	}
	return id, nil
}
