package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// A user is the person at the client.
type user struct {
	front  *front
	silent string // the commit of the question that the client left without an answer last
}

// An answer is one option of a question.
type answer struct {
	option permissionOption
	value  turnloop.Answer
	why    bool           // the user is asked for a reason
	rule   *turnloop.Rule // that the answer adds; optional
}

// errSilent reports that the client gave no valid answer.
var errSilent = errors.New("the client gave no answer")

// choose lets the user take one of some options of a call. It gives the index of the option. It is errSilent
// if the user took none, and the end of the turn if the client has cancelled that. If the call was made up
// for the question, the client is told that it is over.
func (u *user) choose(ctx context.Context, call toolCall, madeUp bool, options []permissionOption) (at int, err error) {
	ctx, done := u.front.turn.asks(ctx)
	defer done()
	if madeUp {
		defer func() {
			over := toolCall{Kind: "tool_call_update", ToolCallID: call.ToolCallID, Status: "completed", Meta: noticed}
			if err != nil {
				over.Status = "failed"
			}
			u.front.session.update(over)
		}()
	}
	var response permissionResponse
	err = u.front.session.server.conn.call(ctx, "session/request_permission", permissionRequest{
		SessionID: string(u.front.session.id), ToolCall: call, Options: options,
	}, &response)
	var refused *rpcError
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, errGone):
		return 0, gone()
	case errors.As(err, &refused):
		u.front.session.server.log("the client answers no question: %v", refused)
		return 0, errSilent
	case err != nil:
		return 0, errSilent
	}
	switch response.Outcome.Outcome {
	case "cancelled":
		return 0, &turnloop.UserCommand{Kind: turnloop.CommandStop}
	case "selected":
		at := slices.IndexFunc(options, func(o permissionOption) bool { return o.OptionID == response.Outcome.OptionID })
		if at >= 0 {
			return at, nil
		}
	}
	u.front.session.server.log("the client answers with %q, which was not offered", response.Outcome.OptionID)
	return 0, errSilent
}

// asks lets the client's cancellation end a question.
func (t *turn) asks(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = cancel
	return ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.asking = nil
		cancel(nil)
	}
}

// write lets the user write a line, if the client has a form for it.
func (u *user) write(ctx context.Context, call, text string) (string, error) {
	if !u.writes() {
		return "", errSilent
	}
	ctx, done := u.front.turn.asks(ctx)
	defer done()
	var response elicitationResponse
	err := u.front.session.server.conn.call(ctx, "elicitation/create", elicitationRequest{
		SessionID: string(u.front.session.id), ToolCallID: call, Mode: "form", Message: text,
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{"text"}, "properties": map[string]any{"text": map[string]any{"type": "string", "title": "Answer"}},
		},
	}, &response)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, errGone):
		return "", gone()
	case err != nil:
		return "", errSilent
	}
	said, _ := response.Content["text"].(string)
	if response.Action != "accept" || strings.TrimSpace(said) == "" {
		return "", errSilent
	}
	return said, nil
}

// writes reports whether the client has forms.
func (u *user) writes() bool { return u.front.session.server.can("elicitation", "form") }

func said(value any) turnloop.Answer {
	text, _ := json.Marshal(value) // a word or a truth value can always be written
	return turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: text}
}

var declined = turnloop.Answer{Outcome: conversation.OutcomeDeclined}

// Ask implements [agent.User].
func (u *user) Ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	if q.Inquiry.Event.Commit == u.silent {
		return turnloop.Answer{}, u.await(ctx)
	}
	call, madeUp := u.call(q)
	request := q.Inquiry.Request
	if request.Kind == conversation.KindToolQuestion && request.Question.AnswerType.Type == "text" {
		text, err := u.write(ctx, call.ToolCallID, request.Question.Text)
		return said(text), u.noAnswer(q, err)
	}
	answers := u.answers(ctx, q)
	options := make([]permissionOption, len(answers))
	for i, a := range answers {
		options[i] = a.option
		options[i].OptionID = fmt.Sprintf("%d", i)
	}
	at, err := u.choose(ctx, call, madeUp, options)
	if err != nil {
		return turnloop.Answer{}, u.noAnswer(q, err)
	}
	given := answers[at]
	if given.why {
		given.value.Reason, err = u.write(ctx, call.ToolCallID, "Why not?")
		if errors.Is(err, errSilent) { // it is a denial without a reason
			err = nil
		}
	}
	if given.rule != nil && err == nil {
		u.allow(*given.rule)
	}
	return given.value, u.noAnswer(q, err)
}

// await keeps a question open that the client left without an answer, and that the policy lets wait: an answer from
// elsewhere still counts.
func (u *user) await(ctx context.Context) error {
	ctx, done := u.front.turn.asks(ctx)
	defer done()
	var late <-chan time.Time
	limit := u.front.updates.repo.Config.Policy.Timeout
	if limit > 0 {
		late = time.After(limit)
	}
	u.front.session.notice("warning", "The editor gave no answer. The question waits for one from elsewhere (jp answer).")
	select {
	case <-late:
		return turnloop.ErrNoAnswer
	case <-u.front.session.server.conn.gone:
		return gone()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// allow adds a rule to the user's own configuration for the repository, and tells the user. If that fails,
// the answer stays as it is.
func (u *user) allow(rule turnloop.Rule) {
	file, err := agent.Allow(u.front.updates.repo, rule)
	if err != nil {
		u.front.session.notice("warning", repo.ProblemOf(err).Message)
		return
	}
	u.front.session.notice("info", fmt.Sprintf("From now on %s without a question in this repository: %s.", rule.Runs(), safetext.Show(file)))
}

// noAnswer is an error as the turn has it: a question without an answer is left to the policy.
func (u *user) noAnswer(q turnloop.Question, err error) error {
	if errors.Is(err, errSilent) {
		u.silent = q.Inquiry.Event.Commit
		return turnloop.ErrNoAnswer
	}
	return err
}

// call is the subject of a question: a call that the client knows, or one that is made up for it.
func (u *user) call(q turnloop.Question) (_ toolCall, madeUp bool) {
	updates := u.front.updates
	updates.mu.Lock()
	defer updates.mu.Unlock()
	about := q.Inquiry.Call
	call := updates.call(about.Event, q.Arguments)
	if call.Status = "pending"; q.Inquiry.Request.Kind != conversation.KindRunTool {
		call.Title = tool.Asked(q.Inquiry.Request.Question.Text)
	} else {
		call.Content = updates.onDisk(about.Request.Name, q.Arguments, call.Content)
	}
	known := updates.calls[about.Event.Seq]
	if madeUp = known == nil || known.Commit != about.Event.Commit; madeUp {
		// It is of another conversation, which works for this one.
		call.ToolCallID = fmt.Sprintf("question-%d-%d", about.Event.Seq, u.front.session.server.madeUp.Add(1))
	}
	if q.Warning != "" {
		call.Content = append(call.Content, words("! "+q.Warning))
	}
	if detail := strings.TrimSpace(q.Detail); detail != "" {
		call.Content = append(call.Content, words(detail))
	}
	if q.Inquiry.Request.Kind == conversation.KindDeliverResult {
		call.Content = append(call.Content, words(q.Result))
	}
	return call, madeUp
}

// answers are the options of a question, the denial first. Only a rule lasts longer than the turn.
func (u *user) answers(ctx context.Context, q turnloop.Question) []answer {
	request := q.Inquiry.Request
	no := func(value turnloop.Answer, name string) answer {
		return answer{option: permissionOption{Name: name, Kind: "reject_once"}, value: value}
	}
	yes := func(value turnloop.Answer, name string) answer {
		return answer{option: permissionOption{Name: name, Kind: "allow_once"}, value: value}
	}
	var all []answer
	switch {
	case request.Kind == conversation.KindDeliverResult:
		return []answer{no(said(conversation.AnswerWithhold), "Withhold the result"), yes(said(conversation.AnswerDeliver), "Give it to the model")}
	case request.Kind != conversation.KindToolQuestion:
		all = append(all, no(said(conversation.AnswerSkip), "No"))
		if u.writes() {
			why := no(said(conversation.AnswerSkip), "No, and say why")
			why.why = true
			all = append(all, why)
		}
		all = append(all, yes(said(conversation.AnswerRun), "Yes, this once"))
		if q.Tool != nil && q.Tool.Offline {
			all = append(all, yes(said(conversation.AnswerRunNetwork), "Yes, this once with the network"))
		}
		if !request.Exclusive {
			all = append(all, yes(said(conversation.AnswerRunTurn), "Yes, and "+tool.Every(q.Inquiry.Call.Request.Name)+" this turn"))
		}
		if rule, ok := agent.Standing(ctx, u.front.updates.repo, q); ok {
			name := "Yes, and always " + rule.Shown()
			if rule.Kind == turnloop.RuleCommand {
				name = "Yes, and always what begins with: " + rule.Shown()
			}
			all = append(all, answer{option: permissionOption{Name: name, Kind: "allow_always"}, value: said(conversation.AnswerRun), rule: &rule})
		}
	case request.Question.AnswerType.Type == "boolean":
		all = append(all, no(said(false), "No"), yes(said(true), "Yes, this once"))
		if !request.Exclusive {
			always := said(true)
			always.Remember = true
			all = append(all, yes(always, "Yes, each time in this turn"))
		}
	default:
		all = append(all, no(declined, "No answer"))
		for _, o := range request.Question.AnswerType.Options {
			var name string
			if json.Unmarshal(o.Value, &name) != nil {
				name = string(o.Value)
			}
			if o.Description != "" && o.Description != name {
				name += " – " + o.Description
			}
			all = append(all, yes(turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: o.Value}, name))
		}
	}
	return all
}

// Decide implements [agent.User]: a question of jp's own, such as the fate of an interrupted turn. The option
// that leaves things as they are stands first.
func (u *user) Decide(ctx context.Context, d agent.UserDecision) (rune, error) {
	text := strings.TrimSpace(d.Text)
	title, _, _ := strings.Cut(text, "\n")
	call := toolCall{ToolCallID: fmt.Sprintf("decision-%s-%d", u.front.session.id.Short(), u.front.session.server.madeUp.Add(1)), Title: title, ToolKind: "other", Status: "pending"}
	if text != title {
		call.Content = []toolCallContent{words(text)}
	}
	options := []permissionOption{{OptionID: "0", Name: "Leave it as it is", Kind: "reject_once"}}
	keys := []rune{0}
	for _, c := range d.Choices {
		if c.Key == 'q' || c.Key == d.Editor || c.Key == d.Line && !u.writes() {
			continue
		}
		keys = append(keys, c.Key)
	}
	if risky := slices.Index(keys, d.Risky); d.Risky != 0 && risky >= 0 { // a client may take the first yes without its user
		keys = append(slices.Delete(keys, risky, risky+1), d.Risky)
	}
	for i, key := range keys[1:] {
		at := slices.IndexFunc(d.Choices, func(c agent.UserChoice) bool { return c.Key == key })
		options = append(options, permissionOption{OptionID: fmt.Sprint(i + 1), Name: d.Choices[at].Text, Kind: "allow_once"})
	}
	at, err := u.choose(ctx, call, true, options)
	var stop *turnloop.UserCommand
	switch {
	case errors.As(err, &stop):
		return 0, agent.ErrUserLeft
	case errors.Is(err, errSilent) || err == nil && at == 0:
		return 0, agent.ErrUserSilent
	}
	return keys[at], err
}

// Line implements [agent.User].
func (u *user) Line(ctx context.Context, _ conversation.ID, prompt string) (string, error) {
	text, err := u.write(ctx, "", prompt)
	var stop *turnloop.UserCommand
	switch {
	case errors.As(err, &stop):
		return "", agent.ErrUserLeft
	case errors.Is(err, errSilent):
		return "", agent.ErrUserSilent
	}
	return text, err
}

// Tell implements [agent.User].
func (u *user) Tell(line string) { u.front.session.notice("info", line) }

// Approve implements [agent.User]. Servers are approved at a terminal, which shows all of their offers. With
// --trust-client-mcp those of the client are approved as they are.
func (u *user) Approve(ctx context.Context, s *toolset.Server) error {
	if u.front.session.server.TrustMCP && slices.ContainsFunc(u.front.session.mcp, func(given mcpServer) bool {
		spec := s.Spec()
		return given.Name == spec.Name && given.URL == spec.URL && (spec.URL != "" || slices.Equal(append([]string{given.Command}, given.Args...), spec.Command))
	}) {
		s.Accept(s.Files())
		listing, err := s.List(ctx)
		if err == nil {
			err = s.Approve(listing.Offers)
		}
		return err
	}
	u.front.session.notice("warning", toolset.Unavailable(s.Spec().Name, s.State()))
	return nil
}

// Close implements [agent.User].
func (u *user) Close() {}
