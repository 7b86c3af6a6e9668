package blame

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/record/journal"
	"jp/tool"
	"jp/turnloop"
)

// A Decision is who let a tool call run, or refused it.
type Decision struct {
	Time         time.Time `json:"time"`
	Conversation string    `json:"conversation"`
	Seq          int       `json:"seq"`     // of the call
	Decided      int       `json:"decided"` // the event that has the decision
	Tool         string    `json:"tool"`
	Argument     string    `json:"argument"` // as far as a subject has it
	Outcome      string    `json:"outcome"`  // allowed, denied, delivered, withheld, or unasked
	Who          string    `json:"who"`      // user, rule, mode, hook, policy, config, model, record, or tool, which runs unattended
	Rule         string    `json:"rule"`     // the rule, mode or policy, or the hook's reason; "" without one
	Text         string    `json:"text"`     // who it was, in words
	Signed       bool      `json:"signed"`   // by this user's key
	Turn         int       `json:"-"`

	commit string
}

// Decisions are those in the events of a conversation. permit says how another agent allowed a call of a
// record, nil for a conversation of jp's own.
func Decisions(name string, events []*conversation.Event, permit func(call string) string) (all []*Decision) {
	ledger := conversation.NewLedger()
	asked, made := map[int]*conversation.Inquiry{}, map[*conversation.ToolCall][]*Decision{}
	add := func(e *conversation.Event, call *conversation.ToolCall, d Decision) {
		d.Time, d.Conversation, d.Turn, d.Signed, d.commit = e.Time, name, e.Turn, e.Signed, e.Commit
		d.Seq, d.Decided, d.Tool = call.Event.Seq, e.Seq, call.Request.Name
		if d.Argument = strings.TrimSpace(strings.TrimPrefix(call.Event.Subject, "call "+d.Tool)); d.Argument == "" {
			d.Argument = telling(call.Request.Arguments)
		}
		made[call] = append(made[call], &d)
		if e.Was == nil { // a slice copied it, and its source has it
			all = append(all, &d)
		}
	}
	for _, e := range events {
		if e.Type() == conversation.TypeTurnStart {
			ledger = conversation.NewLedger()
			clear(asked)
		}
		ledger.Enter(e)
		switch b := e.Body.(type) {
		case *conversation.InquiryRequest:
			if call := ledger.ToolCall(b.For); call != nil {
				asked[e.Seq] = call.Inquiries[len(call.Inquiries)-1]
			}
		case *conversation.InquiryResponse:
			if q := asked[b.For]; q != nil && q.Response == b {
				if d, is := decision(e, q); is {
					add(e, q.Call, d)
				}
			}
		case *conversation.ToolCallResponse:
			call := ledger.ToolCall(b.For)
			if call == nil || call.Response != e {
				continue
			}
			began := e
			if call.Started != nil {
				began = call.Started
			}
			switch {
			case permit != nil && !e.Signed:
				add(began, call, Decision{Outcome: "allowed", Who: "record", Text: permit(b.ID)})
			case slices.ContainsFunc(made[call], func(d *Decision) bool { return d.Who != "hook" || d.Outcome == "denied" }):
			case ledger.Approved.Allows(call.Request.Name) && call.Started != nil:
				add(began, call, Decision{Outcome: "allowed", Who: "user", Rule: "-y", Text: inAdvance})
			case e.Closed() == "" && !notRun(e, call):
				add(began, call, Decision{Outcome: "unasked", Who: "tool", Text: unattended})
			}
			if call.Edited() != nil { // the result names what ran
				for _, d := range made[call] {
					ran := strings.TrimSuffix(e.Subject, ": "+effect(e, call))
					d.Argument = strings.TrimSpace(strings.TrimPrefix(ran, d.Tool))
				}
			}
		}
	}
	return all
}

// effect is what the subject of a call's result says behind the call.
func effect(e *conversation.Event, call *conversation.ToolCall) string {
	return tool.EffectIn(e.Subject, strings.TrimPrefix(call.Event.Subject, "call "))
}

// notRun reports whether jp closed a call without a run, such as that of a tool that is off.
func notRun(e *conversation.Event, call *conversation.ToolCall) bool {
	return call.Started == nil && call.Result.IsError && strings.HasPrefix(effect(e, call), "not run: ")
}

// decision reads the answer to a question about a call, if it decides about the call.
func decision(e *conversation.Event, q *conversation.Inquiry) (d Decision, is bool) {
	b, kind := q.Response, q.Request.Kind
	d = Decision{Outcome: "allowed", Who: string(b.By), Rule: b.Reason, Text: Permit(e, b)}
	rule, ruled := strings.CutPrefix(b.Reason, "allow rule: ")
	switch mode := turnloop.ModeOf(b); {
	case kind == conversation.KindHook && (b.Choice() == conversation.AnswerPass || b.Outcome != conversation.OutcomeAnswered),
		kind == conversation.KindToolQuestion && (b.By != conversation.ByUser || q.Request.Question.AnswerType.Type != "boolean"),
		b.Outcome == conversation.OutcomeCancelled:
		return d, false
	case kind == conversation.KindHook:
		d.Who, d.Text = "hook", strings.TrimSuffix("hook: "+b.Reason, ": ")
		if len(b.Arguments) > 0 {
			d.Text = "hook: edited it"
		}
	case mode != "":
		d.Who, d.Rule = "mode", mode
	case ruled && b.By == conversation.ByConfig:
		d.Who, d.Rule = "rule", rule
	case b.Outcome != conversation.OutcomeAnswered:
		d.Outcome, d.Text = "denied", "declined: "+b.Reason
	}
	if b.Refuses() || b.Choice() == conversation.AnswerWithhold {
		d.Outcome = "denied"
	}
	if kind == conversation.KindDeliverResult {
		d.Outcome = map[string]string{"allowed": "delivered", "denied": "withheld"}[d.Outcome]
	}
	return d, true
}

// Permit says who allowed or denied a call.
func Permit(e *conversation.Event, b *conversation.InquiryResponse) string {
	who, reason := e.Author, strings.Join(strings.Fields(b.Reason), " ")
	if who == "" {
		who = "user"
	}
	switch user := b.By == conversation.ByUser; {
	case b.Outcome != conversation.OutcomeAnswered:
		return "not answered"
	case user && b.Refuses() && reason != "":
		return who + " said no: " + reason
	case user && b.Refuses():
		return who + " said no"
	case b.Choice() == conversation.AnswerSkip && reason == "":
		return "not allowed"
	case b.Choice() == conversation.AnswerSkip:
		return reason
	case user && len(b.Arguments) > 0:
		return who + " edited it"
	case user && b.Choice() == conversation.AnswerRunNetwork:
		return who + " allowed it, with network"
	case user:
		return who + " said yes"
	case turnloop.ModeOf(b) != "":
		return "mode " + turnloop.ModeOf(b)
	case strings.HasPrefix(b.Reason, "allow rule: "):
		return "always allowed"
	case reason == "":
		return "allowed by " + string(b.By)
	}
	return reason
}

// PermitsOf tells how another agent allowed the calls of its session, as far as jp recorded it. It is nil for
// a conversation of jp's own.
func PermitsOf(r *repo.Repo, events []*conversation.Event) func(call string) string {
	first, ok := events[0].Body.(*conversation.Metadata)
	agent := ""
	if ok {
		agent = first.Labels[conversation.LabelImportedFrom]
	}
	if agent == "" {
		return nil
	}
	s, err := journal.In(r.Paths.StateDir, r.Standings().KnownWorkspaceID()).Read(agent, first.Labels["session"])
	return func(call string) string {
		permit := "by the rules of " + agent
		if err == nil {
			if m := s.Of(journal.Before, call); m != nil && m.Mode != "" {
				permit += ", in its permission mode " + m.Mode
			}
		}
		return permit
	}
}

// Audit has the decisions of all conversations since a time, the oldest first, or of those with some names.
// Forks share the decisions before them. left is told of what is unreadable.
func Audit(ctx context.Context, r *repo.Repo, names []string, since time.Time, left func(conversation.Info, error)) ([]*Decision, error) {
	all, seen := []*Decision{}, map[string]bool{}
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived, conversation.ScopeRemotes} {
		infos, err := r.Store.List(ctx, scope)
		if err != nil {
			return nil, fmt.Errorf("list the conversations: %w", err)
		}
		for _, i := range infos {
			if names != nil && !slices.Contains(names, i.Name()) || i.Err == nil && i.Summary.LastEventAt.Before(since) {
				continue
			}
			events, err := r.Store.LoadOutline(ctx, i.Head)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				left(i, repo.AboutInfo(err, i))
			}
			if len(events) == 0 {
				continue
			}
			for _, d := range Decisions(i.Name(), events, PermitsOf(r, events)) {
				if !d.Time.Before(since) && !seen[d.commit] {
					all, seen[d.commit] = append(all, d), true
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Decision) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// Command is the command line that a call ran, of jp's tools and of other agents', "" for a tool that runs none.
func Command(arguments json.RawMessage) string {
	var a struct {
		Argv         []string
		Command, Cmd any
	}
	_ = json.Unmarshal(arguments, &a) // another tool's arguments have other fields
	switch c := cmp.Or(a.Command, a.Cmd).(type) {
	case string:
		return c
	case []any:
		for _, word := range c {
			a.Argv = append(a.Argv, fmt.Sprint(word))
		}
	}
	return strings.Join(a.Argv, " ")
}

// mostTold is how many bytes of arguments stand for a call whose subject has none.
const mostTold = 120

// telling are the most telling arguments of a call of another agent.
func telling(arguments json.RawMessage) string {
	var a struct {
		File     string `json:"file_path"`
		FilePath string `json:"filePath"`
		Path     string
	}
	_ = json.Unmarshal(arguments, &a) // another tool's arguments have other fields
	text := cmp.Or(Command(arguments), a.File, a.FilePath, a.Path, string(arguments))
	return strings.ToValidUTF8(text[:min(mostTold, len(text))], "")
}
