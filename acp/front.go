package acp

import (
	"context"
	"encoding/json"
	"fmt"

	"jp/agent"
	"jp/agent/repo"
	"jp/conversation"
	"jp/turnloop"
)

// A front is the front end of one run of a session.
type front struct {
	agent.Headless
	session *session
	turn    *turn
	updates *updates
	ended   agent.Ending
}

// Output implements [agent.Frontend].
func (f *front) Output(agent.OutputOptions) agent.Output { return output{agent.NoOutput{}, f} }

// Running implements [agent.Frontend].
func (f *front) Running(steered agent.Interruptible, _ bool) { f.turn.running(steered) }

// Abort implements [agent.Frontend].
func (f *front) Abort(signal string) { f.turn.cancel(&turnloop.Interrupt{Signal: signal}) }

// User implements [agent.Frontend]. The client is always asked; one that cannot ask leaves the question to
// the policy.
func (f *front) User() agent.User { return &user{front: f} }

// An output makes updates of a run.
type output struct {
	agent.NoOutput
	front *front
}

// Streamed implements [turnloop.Observer].
func (o output) Streamed(d turnloop.Delta) { o.front.updates.streamed(d) }

// Recorded implements [turnloop.Observer].
func (o output) Recorded(events []*conversation.Event) { o.front.updates.recorded(events, true) }

// Noticed implements [turnloop.Observer].
func (o output) Noticed(text string) { o.front.session.notice("info", text) }

// Working implements [turnloop.Observer].
func (o output) Working(a turnloop.Activity) { o.front.updates.working(a) }

// Ended implements [agent.Output].
func (o output) Ended(e agent.Ending) { o.front.ended = e }

func (s *session) update(u any) {
	_ = s.server.conn.notify("session/update", notification{SessionID: string(s.id), Update: u}) // a client that is gone does not need it
}

// notice tells the user something outside of the conversation. A client without notices gets each warning
// once, as a text.
func (s *session) notice(severity, text string) {
	switch {
	case text != "" && s.server.can("session", "notices"):
		s.update(noticeUpdate{Kind: "notice", Severity: severity, Title: text})
		return
	case severity == "warning" && s.warns(text):
		s.update(chunk{
			Kind: "agent_message_chunk", Content: contentBlock{Type: "text", Text: text + "\n\n"}, MessageID: fmt.Sprintf("notice-%d", s.server.Host.Now().UnixNano()), Meta: noticed,
		})
	}
	s.server.log("%s: %s", s.id.Short(), text)
}

// warns reports whether this warning is new in the session.
func (s *session) warns(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	told := s.warned[text]
	s.warned[text] = true
	return !told
}

// tellUsage tells the client the use of the model's context, and the cost of the conversation.
func (s *session) tellUsage(ctx context.Context, r *repo.Repo, e agent.Ending) {
	if e.Window <= 0 || e.ID == "" {
		return
	}
	u := usageUpdate{Kind: "usage_update", Used: e.Tokens, Size: e.Window}
	if info, err := r.Store.Info(context.WithoutCancel(ctx), s.id); err == nil && info.Summary.Usage != nil && info.Summary.Usage.CostUSD != "" {
		u.Cost = &cost{Amount: json.Number(info.Summary.Usage.CostUSD), Currency: "USD"}
	}
	s.update(u)
}
