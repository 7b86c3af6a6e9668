package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
)

// A session is a conversation that the client has open. A new one becomes a conversation with its
// first prompt.
type session struct {
	server *server
	id     conversation.ID
	dir    string // its folder
	mcp    []mcpServer

	mu      sync.Mutex
	choices choices
	modes   *agent.ModeChange // of the newest run; nil before the first
	began   string            // the mode that it began in
	turn    *turn             // the running turn; optional
	told    []command         // that the client knows; nil before the first message
	open    *openCalls
	warned  map[string]bool // warnings that were given
	history agent.HistoryCache
}

// open checks the folder of a session, and opens the repository there.
func (s *server) open(ctx context.Context, dir string, cfg []string) (*repo.Repo, error) {
	if !filepath.IsAbs(dir) {
		return nil, invalid("the cwd %q is not absolute", dir)
	}
	r, err := repo.Find(ctx, s.host(filepath.Clean(dir), cfg))
	if err != nil {
		return nil, err
	}
	if r.At.TopLevel == "" {
		return nil, errors.Join(invalid("%s has no working tree; jp works in one", dir), r.Close())
	}
	return r, nil
}

// keep registers a session as open, and returns the client's choices.
func (s *server) keep(r *repo.Repo, id conversation.ID, p openRequest) *session {
	open := &session{server: s, id: id, dir: filepath.Clean(p.CWD), mcp: p.MCPServers, choices: choices{mode: modeDefault, network: r.Config.Sandbox.Network}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.sessions[string(id)]; was != nil {
		open.turn = was.turn
	}
	s.sessions[string(id)] = open
	return open
}

func (s *server) newSession(ctx context.Context, p openRequest) (any, error) {
	r, err := s.open(ctx, p.CWD, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	id, err := conversation.NewID(s.Host.Now(), s.Host.Random)
	if err != nil {
		return nil, err
	}
	if err := live.NoteSession(r.StateDir(), id, s.Host.Now()); err != nil {
		s.log("%s: no other jp acp can open this session before its first prompt: %v", id.Short(), err)
	}
	open := s.keep(r, id, p)
	answer := open.opened(r)
	answer.SessionID = string(id)
	return followed{answer, func() { open.tellCommands(ctx) }}, nil
}

// view reads a session's conversation.
func (s *server) view(ctx context.Context, r *repo.Repo, p openRequest) (*repo.View, error) {
	id, err := idOf(p.SessionID)
	if err != nil {
		return nil, err
	}
	if open := s.session(p.SessionID); open != nil && open.running() {
		return nil, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("a prompt runs in the session %s", id)}
	}
	return r.Find().View(ctx, r.Env, string(id))
}

func (s *server) loadSession(ctx context.Context, p openRequest) (any, error) {
	return s.reopen(ctx, p, true)
}

func (s *server) resumeSession(ctx context.Context, p openRequest) (any, error) {
	return s.reopen(ctx, p, false)
}

// reopen opens an existing session, and replays it to the client on request.
func (s *server) reopen(ctx context.Context, p openRequest, replay bool) (any, error) {
	r, err := s.open(ctx, p.CWD, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	v, err := s.view(ctx, r, p)
	if id, wrong := conversation.ParseID(p.SessionID); err != nil && wrong == nil && repo.ProblemOf(err).Code == "not_found" && live.SessionNoted(r.StateDir(), id) {
		open := s.keep(r, id, p)
		return followed{open.opened(r), func() { open.tellCommands(ctx) }}, nil
	}
	if err != nil {
		return nil, err
	}
	open := s.keep(r, v.ID, p)
	if replay {
		open.replay(ctx, r, v)
	} else {
		open.notes(r, v, true)
	}
	return followed{open.opened(r), func() { open.tellCommands(ctx) }}, nil
}

// forkSession makes a conversation that shares the events of another one.
func (s *server) forkSession(ctx context.Context, p openRequest) (any, error) {
	r, err := s.open(ctx, p.CWD, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cut := fork.ForkCut{Alone: true}
	if p.Event != nil {
		cut.Until = fmt.Sprint(*p.Event)
	}
	id, err := idOf(p.SessionID)
	if err != nil {
		return nil, err
	}
	v, err := cut.View(ctx, r, string(id))
	if err != nil {
		return nil, err
	}
	made, err := fork.New(v, cut)
	if err != nil {
		return nil, err
	}
	place, err := snapshot.Here(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := made.Create(ctx, place); err != nil {
		return nil, err
	}
	answer := s.keep(r, made.ID, p).opened(r)
	answer.SessionID = string(made.ID)
	return answer, nil
}

// pageSize is how many sessions one answer lists.
const pageSize = 50

// listSessions lists the conversations of the repository at a folder, the newest first.
func (s *server) listSessions(ctx context.Context, p listRequest) (any, error) {
	dir := p.CWD
	if dir == "" {
		dir, _ = filepath.Abs(s.Host.Dir)
	}
	r, err := s.open(ctx, dir, nil)
	if err != nil && p.CWD == "" { // jp was started elsewhere, and the client names no folder
		return listResponse{Sessions: []sessionInfo{}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	infos, err := r.Store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return nil, err
	}
	infos = slices.DeleteFunc(infos, func(i conversation.Info) bool { return i.Err != nil || i.Summary.Parent != "" })
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	if p.Cursor != "" {
		at := slices.IndexFunc(infos, func(i conversation.Info) bool { return string(i.ID) == p.Cursor })
		if at < 0 {
			return nil, invalid("there is no page at the cursor %q", p.Cursor)
		}
		infos = infos[at:]
	}
	answer := listResponse{Sessions: []sessionInfo{}}
	for i, info := range infos {
		if i == pageSize {
			answer.NextCursor = string(info.ID)
			break
		}
		s.mu.Lock()
		s.listed[string(info.ID)] = r.At.TopLevel
		s.mu.Unlock()
		answer.Sessions = append(answer.Sessions, sessionInfo{
			SessionID: string(info.ID), CWD: r.At.TopLevel, Title: info.Summary.Title, UpdatedAt: info.Summary.LastEventAt.UTC().Format(time.RFC3339),
		})
	}
	return answer, nil
}

// closeSession ends the run of a session, and forgets it. Its conversation stays.
func (s *server) closeSession(_ context.Context, p sessionRequest) (any, error) {
	open := s.session(p.SessionID)
	if open == nil {
		return nil, s.notOpen(p.SessionID)
	}
	open.cancel()
	open.wait()
	s.mu.Lock()
	delete(s.sessions, p.SessionID)
	s.mu.Unlock()
	return struct{}{}, nil
}

func (s *server) notOpen(id string) *rpcError {
	return &rpcError{Code: codeNotFound, Message: fmt.Sprintf("the session %q is not open: session/load opens it", id)}
}

// deleteSession deletes a conversation. One that is gone already is deleted.
func (s *server) deleteSession(ctx context.Context, p sessionRequest) (any, error) {
	id, err := idOf(p.SessionID)
	if err != nil {
		return nil, err
	}
	dir, _ := filepath.Abs(s.Host.Dir)
	s.mu.Lock()
	if at := s.listed[p.SessionID]; at != "" {
		dir = at
	}
	s.mu.Unlock()
	if open := s.session(p.SessionID); open != nil {
		dir = open.dir
		open.cancel()
		open.wait()
	}
	r, err := s.open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := r.Store.Head(ctx, id); err == nil { // else it never had a prompt
		if err := agent.Delete(ctx, r, id); err != nil {
			return nil, err
		}
	}
	_ = live.ForgetSession(r.StateDir(), id) // it opens an empty session at most
	s.mu.Lock()
	delete(s.sessions, p.SessionID)
	s.mu.Unlock()
	return struct{}{}, nil
}
