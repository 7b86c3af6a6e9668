package repo

import (
	"context"
	"errors"
	"slices"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore"
	"jp/process"
	"jp/tool"
)

// A Summary is a conversation as ls, show and status give it to programs. Unknown values are null, and always
// present.
type Summary struct {
	ID          string            `json:"id"` // REMOTE/ID of one that was fetched
	ShortID     string            `json:"short_id"`
	Title       *string           `json:"title"`
	TitleSource *string           `json:"title_source"` // user, model or request
	Remote      *string           `json:"remote"`
	Ref         string            `json:"ref"`
	Head        conversation.Head `json:"head"`
	Model       *string           `json:"model"`
	Events      int               `json:"events_count"`
	Turns       int               `json:"turns_count"`
	Created     time.Time         `json:"created_at"`
	LastEvent   *time.Time        `json:"last_event_at"`
	Archived    *time.Time        `json:"archived_at"`
	Expires     *time.Time        `json:"expires_at"`
	Pinned      *time.Time        `json:"pinned_at"`
	Labels      map[string]string `json:"labels"`
	Parent      *conversation.ID  `json:"parent"`
	ForkedFrom  *ForkedFrom       `json:"forked_from"`
	Local       bool              `json:"local"`
	Usage       Usage             `json:"usage"`
	Status      Status            `json:"status"`
	Error       *string           `json:"error"` // why it is unreadable

	Branch   string `json:"-"` // of the tree, before the id
	Uprooted bool   `json:"-"` // its source is left out of the list
	Unsure   bool   `json:"-"` // it is unknown whether it is local
	Err      error  `json:"-"`

	Standing conversation.Standing `json:"-"` // as far as its newest events tell
}

// Owner is the owner of a read-only conversation: "someone else's", "of another repository" of this user, or the
// agent whose session jp recorded here. It is "" for one that may act, or if unknown.
func (r Standings) Owner(l Summary) string {
	switch {
	case l.Local || l.Unsure || l.Standing == conversation.StandingRolledBack:
		return ""
	case l.Standing == conversation.StandingElsewhere:
		return "of another repository"
	}
	if w, ok := r.Recording(conversation.ID(l.ID)); ok {
		return w.Format
	}
	return "someone else's"
}

type ForkedFrom struct {
	ID  conversation.ID `json:"id"`
	Seq int             `json:"seq"`
}

// An Usage is the sum of a conversation's model calls.
type Usage struct {
	Input   int     `json:"input"` // tokens
	Output  int     `json:"output"`
	CostUSD *string `json:"cost_usd"` // a decimal number
}

// A Status is a conversation's activity, or the event that it waits for.
type Status struct {
	State         string   `json:"state"` // idle, running, waiting_for_input or interrupted
	Pending       *string  `json:"pending"`
	Tool          *string  `json:"tool"`
	Question      *string  `json:"question"`
	Inquiry       *Inquiry `json:"inquiry"`
	PID           *int     `json:"pid"`
	OrphanedTools int      `json:"outlived"` // tools that still run though the process has ended
	Attached      bool     `json:"attached"`
	Reason        *string  `json:"reason"` // of an interrupted turn that an error ended
}

type Inquiry struct {
	Conversation conversation.ID          `json:"conversation"` // of the question: this one, or that of a delegate
	Seq          int                      `json:"seq"`
	Kind         conversation.InquiryKind `json:"kind"`
	Tool         string                   `json:"tool"`
	Text         string                   `json:"text"`
	AnswerType   *conversation.AnswerType `json:"answer_type"`
	Default      any                      `json:"default"`
	Exclusive    bool                     `json:"exclusive"`
}

// recorded describes a conversation by its newest event, apart from its present activity and whether it may
// act.
func recorded(i conversation.Info) Summary {
	l := Summary{
		ID: i.Name(), ShortID: i.ID.Short(), Remote: Given(i.Remote), Ref: i.Ref, Head: i.Head, Labels: map[string]string{},
		Err: i.Err,
	}
	if i.Remote != "" {
		l.ShortID = i.Remote + "/" + l.ShortID
	}
	if i.Err != nil {
		l.Error = Given(i.Err.Error())
		l.Created = i.ID.Created()
		l.Status.State = "idle"
		return l
	}
	s := i.Summary
	l.Title, l.TitleSource, l.Model, l.Events, l.Turns = Given(s.Title), Given(s.TitleSource), Given(s.Model), s.Events, s.Turns
	l.Created, l.LastEvent, l.Archived, l.Expires, l.Pinned = s.Created, &s.LastEventAt, s.ArchivedAt, s.ExpiresAt, s.PinnedAt
	l.Parent = Given(s.Parent)
	if len(s.Labels) > 0 {
		l.Labels = s.Labels
	}
	if s.Fork != nil {
		l.ForkedFrom = &ForkedFrom{s.Fork.Conversation, s.Fork.Seq}
	}
	if u := s.Usage; u != nil {
		l.Usage = Usage{u.Input, u.Output, Given(u.CostUSD)}
	}
	return l
}

// List describes a conversation: its newest event, its present activity, and whether it may act.
func (r States) List(ctx context.Context, i conversation.Info) Summary {
	if i.Err != nil {
		return recorded(i)
	}
	l := r.judged(ctx, i)
	l.Status = r.status(ctx, i)
	if l.Status.PID == nil && l.Status.State != "idle" && i.Remote == "" { // its process may have gone on after i was read, and ended
		if now, err := r.repo.Store.Info(ctx, i.ID); err == nil && now.Ref == i.Ref && now.Head != i.Head {
			return r.repo.States().List(ctx, now)
		}
	}
	return l
}

// judged is [recorded] with whether the conversation may act.
func (r States) judged(ctx context.Context, i conversation.Info) Summary {
	l := recorded(i)
	l.Standing, l.Unsure = r.standing(ctx, i)
	l.Local = l.Standing == conversation.StandingOwn
	if l.Local && i.Remote == "" {
		standing, err := r.repo.Store.Standing(ctx, i.ID, i.Head, []*conversation.Event{i.Tip})
		if err == nil && standing == conversation.StandingRolledBack {
			l.Local, l.Standing = false, standing
		}
	}
	return l
}

// Given is a text for JSON, or null if empty.
func Given[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}

// Plain is the text of a value for JSON, "" for null.
func Plain(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Active is the time of the conversation's newest event, or the zero time if unknown.
func (l Summary) Active() time.Time {
	if l.LastEvent == nil {
		return time.Time{}
	}
	return *l.LastEvent
}

// standing is that of a conversation by its newest events, behind those that anybody may add to a foreign one.
// For one that was fetched from a remote, the repository does not matter. It is unsure if the decisive events
// were not fetched.
func (r States) standing(ctx context.Context, i conversation.Info) (s conversation.Standing, unsure bool) {
	newest, signed, unsure := r.signed(ctx, i)
	if !signed {
		return conversation.StandingForeign, unsure
	}
	if i.Remote != "" {
		return conversation.StandingOwn, unsure
	}
	repo, err := r.repo.Standings().listedName()
	if err != nil {
		return conversation.StandingForeign, unsure
	}
	s = conversation.StandingOf(newest, conversation.Home{Repo: repo, ID: i.ID})
	if s == conversation.StandingOwn && conversation.ElsewhereOf(newest, repo) != "" { // it is a fork, and not adopted
		s = conversation.StandingElsewhere
	}
	return s, unsure
}

// signed reports whether this user's jp wrote a conversation, here or elsewhere, and the events that prove
// it.
func (r States) signed(ctx context.Context, i conversation.Info) (newest []*conversation.Event, signed, unsure bool) {
	signed = conversation.LocalTip(i.Tip, func(yield func(*conversation.Event, error) bool) {
		for e, err := range r.repo.Store.Backward(ctx, i.Head) {
			unsure = errors.Is(err, gitstore.ErrShallow)
			if err == nil {
				newest = append(newest, e)
			}
			if !yield(e, err) {
				return
			}
		}
	})
	if len(newest) == 0 {
		newest = append(newest, i.Tip)
	}
	slices.Reverse(newest)
	return newest, signed, unsure
}

// status merges the events' status with whether a process holds the conversation.
func (r States) status(ctx context.Context, i conversation.Info) Status {
	s := Status{State: "idle"}
	switch i.Summary.Status {
	case conversation.StatusIdle:
	case conversation.StatusInput:
		s.State = "waiting_for_input"
	default:
		s.State = "interrupted"
	}
	if i.Summary.Status != conversation.StatusIdle {
		pending := string(i.Summary.Status)
		s.Pending = &pending
	}
	if q := i.Summary.Inquiry; q != nil {
		s.Tool, s.Question = &q.Tool, &q.Text
		s.Inquiry = r.inquiry(ctx, i, q)
	} else if len(i.Summary.Open) > 0 {
		s.Tool = &i.Summary.Open[0].Name
	}
	if i.Remote == "" && s.State == "interrupted" { // a fetched one may have its delegates elsewhere
		if q := r.AsksFor(ctx, i.ID, r.delegations(ctx, i), MaxLevels); q != nil {
			s.askedBelow(q, r.inquiry(ctx, q.In, &q.Inquiry))
		}
	}
	if b := interruption(i.Tip); b != nil && s.State == "interrupted" && b.Reason != "" {
		s.Reason = &b.Reason
	}
	if i.Remote != "" {
		return s
	}
	if r.held == nil || r.held[i.ID] {
		if holder, held := r.repo.Locks.Held(i.ID); held {
			s.heldBy(holder, r.entryOf(i.ID, holder))
			return s
		}
	}
	if s.State == "interrupted" && r.repo.Standings().Recorder(i.ID) != "" {
		s.State, s.Reason = "running", nil
		return s
	}
	s.OrphanedTools = len(r.ToolsLeft(i))
	return s
}

// interruption is the interruption in a newest event, or nil.
func interruption(tip *conversation.Event) *conversation.TurnInterrupted {
	if tip == nil {
		return nil
	}
	b, _ := tip.Body.(*conversation.TurnInterrupted)
	return b
}

// heldBy adds the holder of the conversation. Only the holder knows whether it waits: a question that was
// open before may be answered in a moment.
func (s *Status) heldBy(holder process.Holder, e process.Entry) {
	s.PID, s.Attached = &holder.PID, e.Attached
	if s.State != "waiting_for_input" {
		s.State, s.Reason = "running", nil
	} else if e.Status == process.StatusRunning {
		s.State, s.Question, s.Inquiry = "running", nil, nil
	}
}

// inquiry reads the whole of a waiting question.
func (r States) inquiry(ctx context.Context, i conversation.Info, q *conversation.WaitingInquiry) *Inquiry {
	j := &Inquiry{Conversation: i.ID, Seq: q.Seq, Kind: q.Kind, Tool: q.Tool, Text: q.Text}
	for e, err := range r.repo.Store.Backward(ctx, i.Head) {
		if err != nil || e.Seq < q.Seq {
			break
		}
		if b, ok := e.Body.(*conversation.InquiryRequest); ok && e.Seq == q.Seq {
			j.Text, j.AnswerType, j.Exclusive = b.Question.Text, &b.Question.AnswerType, b.Exclusive
			if len(b.Question.Default) > 0 {
				j.Default = b.Question.Default
			}
			break
		}
	}
	return j
}

// Word says a status in one word, as --status takes it.
func (s Status) Word() string {
	if s.State == "waiting_for_input" {
		return "waiting"
	}
	return s.State
}

// Words says a status in text.
func (s Status) Words() string {
	text := s.Brief()
	if s.State == "waiting_for_input" && s.PID != nil && s.Inquiry != nil {
		text = "waiting-for-input (" + map[conversation.InquiryKind]string{conversation.KindDeliverResult: "result of "}[s.Inquiry.Kind] + s.tool() + ")"
	}
	if s.PID != nil {
		text += " (pid " + problem.Itoa(*s.PID) + ")"
	}
	if s.OrphanedTools > 0 {
		text += ", with " + conversation.Count(s.OrphanedTools, "tool") + " still running"
	}
	if s.Attached {
		text += ", attached"
	}
	return text
}

// Brief is a status in text, without the process.
func (s Status) Brief() string {
	switch s.State {
	case "running":
		return "running"
	case "waiting_for_input":
		return "waiting-for-input (" + s.tool() + ")"
	case "interrupted":
		return "interrupted (" + map[string]string{
			"tool_execution": "pending tool execution", "follow_up": "pending follow-up", "llm_response": "pending LLM response",
		}[*s.Pending] + ")"
	}
	return "idle"
}

// tool is the tool that the status waits for, in words for people, or "".
func (s Status) tool() string { return tool.Verbs(Plain(s.Tool)) }

// The States of conversations are their activities and waits.
type States struct {
	repo *Repo
	held map[conversation.ID]bool // by process, of all; nil before the first look
}

func (r *Repo) States() States { return States{repo: r} }

// Title is a conversation's title, or "".
func Title(l Summary) string { return Plain(l.Title) }

func RefOf(id conversation.ID) string { return "refs/jp/conversations/" + string(id) }
