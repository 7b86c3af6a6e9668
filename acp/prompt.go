package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/turnloop"
)

// A turn is a prompt that runs.
type turn struct {
	done   chan struct{}
	cancel context.CancelCauseFunc // ends all of it
	asking context.CancelCauseFunc // ends the waiting question; optional

	mu        sync.Mutex
	steered   agent.Interruptible // nil until there is something to stop
	cancelled bool
}

func (s *session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// wait returns when the prompt has ended.
func (s *session) wait() {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t != nil {
		<-t.done
	}
}

// cancel stops the prompt that runs: its turn ends as it stands, with every call closed.
func (s *session) cancel() {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.cancelled {
		t.cancelled = true
		s.server.work.Go(t.stop)
	}
}

// stop ends the turn at the first moment at which it can be.
func (t *turn) stop() {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	command := turnloop.UserCommand{Kind: turnloop.CommandStop}
	for {
		t.mu.Lock()
		steered, asking := t.steered, t.asking
		t.mu.Unlock()
		switch {
		case asking != nil:
			asking(&command)
		case steered == nil: // the turn has no record yet
			t.cancel(&command)
		case steered.Running():
			steered.Interrupt(command)
		}
		select {
		case <-t.done:
			return
		case <-again.C:
		}
	}
}

// Running implements [agent.Frontend] for a turn.
func (t *turn) running(steered agent.Interruptible) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steered = steered
}

// stopped reports whether the client has cancelled the turn.
func (t *turn) stopped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cancelled
}

// prompt begins a turn. The turn counts as running before the next message is read, so that a
// cancellation right behind it finds it.
func (s *server) prompt(ctx context.Context, params json.RawMessage) (func() (any, error), error) {
	var p promptRequest
	if err := decode(params, &p); err != nil {
		return nil, invalid("the parameters do not fit the protocol: %s", misfit(err))
	}
	open := s.session(p.SessionID)
	if open == nil {
		return nil, s.notOpen(p.SessionID)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := &turn{done: make(chan struct{}), cancel: cancel}
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.turn != nil {
		cancel(nil)
		return nil, &rpcError{Code: codeInvalidRequest, Message: "a prompt runs in this session: session/cancel ends it"}
	}
	open.turn = t
	return func() (any, error) {
		defer func() {
			open.mu.Lock()
			open.turn = nil
			open.mu.Unlock()
			close(t.done)
			cancel(nil)
		}()
		return open.ask(ctx, t, p.Prompt)
	}, nil
}

// ask runs a turn.
func (s *session) ask(ctx context.Context, t *turn, prompt []contentBlock) (any, error) {
	c := s.chosen()
	var cfg []string
	if c.effort != "" {
		cfg = append(cfg, "parameters.reasoning="+c.effort)
	}
	if c.changed {
		cfg = append(cfg, map[bool]string{true: "sandbox.network=true", false: "sandbox.network=false"}[c.network])
	}
	r, err := s.server.open(ctx, s.dir, cfg)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.WarnOfMistake(); err != nil {
		return nil, err
	}
	front := &front{session: s, turn: t, updates: newUpdates(s, r)}
	if len(prompt) > 0 && prompt[0].Type == "text" {
		if c, words := commandOf(prompt[0].Text); c != nil && len(prompt) == 1 {
			return s.command(ctx, front, c, words)
		}
		if agent.AcceptsPlan(prompt[0].Text) && len(prompt) == 1 {
			s.mu.Lock()
			planned := s.choices.mode == config.ProfilePlan
			if planned {
				s.choices.mode = modeDefault
			}
			s.mu.Unlock()
			if planned {
				s.update(modeUpdate{Kind: "current_mode_update", CurrentModeID: modeDefault})
			}
		}
	}
	request, err := s.request(ctx, r, prompt)
	if err != nil {
		return nil, err
	}
	err = agent.Ask(ctx, r, request, front)
	if request.Target.New && front.ended.ID != "" {
		_ = live.ForgetSession(r.StateDir(), s.id) // the conversation is found first
	}
	front.updates.keep()
	s.tellUsage(ctx, r, front.ended)
	s.tellChanged(r) // a server that ran may have others by now
	stop := stopReason(front.ended, t.stopped())
	if stop == "" {
		if err == nil {
			err = fmt.Errorf("the turn did not end")
		}
		return nil, err
	}
	return promptResponse{StopReason: stop}, nil
}

// stopReason is why a turn ended, "" if it did not.
func stopReason(e agent.Ending, cancelled bool) string {
	switch status := e.Outcome.Status; {
	case cancelled:
		return "cancelled"
	case status == turnloop.Complete:
		return "end_turn"
	case status == turnloop.Length:
		return "max_tokens"
	case status == turnloop.Refused:
		return "refusal"
	case status != turnloop.Stopped:
		return ""
	case e.Outcome.By == conversation.ByBudget:
		return "max_tokens"
	case e.Outcome.By == conversation.ByLimit:
		return "max_turn_requests"
	}
	return "cancelled"
}

// base is the common part of the session's runs.
func (s *session) base(r *repo.Repo) agent.Request {
	o := agent.Request{
		Target: agent.Target{ID: string(s.id)},
		Show:   agent.ShowOptions{KeepStreamed: true},
		Tools:  agent.ToolChoice{Servers: s.servers(r, func(why string) { s.notice("warning", why) }), Buffers: func(ctx context.Context, path string) (string, bool) { return s.buffer(ctx, r.At.TopLevel, path) }},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Turn.Model = s.choices.model
	if s.choices.mode != modeDefault {
		o.Turn.Profiles = []string{s.choices.mode}
	}
	s.modes, s.began = &agent.ModeChange{}, s.choices.mode
	o.Turn.Modes, o.Turn.History = s.modes, &s.history
	return o
}

// request converts a prompt to a request.
func (s *session) request(ctx context.Context, r *repo.Repo, prompt []contentBlock) (agent.Request, error) {
	o := s.base(r)
	if _, err := r.Store.Head(ctx, s.id); err != nil {
		if repo.ProblemOf(err).Code != "not_found" {
			return o, err
		}
		o.Target.ID, o.Target.New, o.Target.NewID = "", true, s.id
	}
	var text []string
	for i, block := range prompt {
		switch block.Type {
		case "text":
			text = append(text, block.Text)
		case "resource_link":
			if i > 0 && prompt[i-1].Type == "resource_link" {
				text = append(text, " ")
			}
			// The model reads a link with its own tools, which check the path.
			text = append(text, "`"+s.named(r, block.URI)+"`")
		case "image":
			if err := give(&o, fmt.Sprintf("image-%d", i+1), block.Data, block.URI); err != nil {
				return o, err
			}
		case "resource":
			if block.Resource == nil {
				return o, invalid("block %d of the prompt has no resource", i+1)
			}
			name := s.named(r, block.Resource.URI)
			if block.Resource.Blob != "" {
				if err := give(&o, name, block.Resource.Blob, ""); err != nil {
					return o, err
				}
				continue
			}
			f, err := contextfiles.NewAttachment(name, []byte(block.Resource.Text))
			if err != nil {
				return o, err
			}
			o.Input.Given = append(o.Input.Given, f)
		default:
			return o, invalid("block %d of the prompt has the type %q, which jp does not take", i+1, block.Type)
		}
	}
	all := strings.TrimSpace(strings.Join(text, ""))
	if name, words := skillOf(r, all); name != "" {
		o.Input.Skills, all = []string{name}, words
		if all == "" {
			all = "Use the skill " + name + "."
		}
	}
	toolset.AddServers(r, o.Tools.Servers)
	o.Input.Prompt = serverPromptOf(r, all)
	o.Input.Text = []string{all}
	if o.Input.Text[0] == "" && len(o.Input.Given) == 0 {
		return o, invalid("the prompt is empty")
	}
	if o.Input.Text[0] == "" {
		o.Input.Text[0] = "See the attachments."
	}
	return o, nil
}

// give adds the base64 content of a block.
func give(o *agent.Request, name, data, uri string) error {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return invalid("%s is not in base64: %v", name, err)
	}
	if uri != "" {
		name = path.Base(uri)
	}
	f, err := contextfiles.NewAttachment(name, raw)
	if err == nil {
		o.Input.Given = append(o.Input.Given, f)
	}
	return err
}

// named is a name for a URI's target: a path below the working tree if the target is a file in it.
func (s *session) named(r *repo.Repo, uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	if rel, err := filepath.Rel(r.At.TopLevel, filepath.FromSlash(u.Path)); err == nil && filepath.IsLocal(rel) {
		if u.Fragment != "" {
			return filepath.ToSlash(rel) + "#" + u.Fragment
		}
		return filepath.ToSlash(rel)
	}
	return u.Path
}
