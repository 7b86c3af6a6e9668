package conversation

import (
	"encoding/json"
	"reflect"
)

// A Type is the kind of an event.
type Type string

// The types of event.
const (
	TypeTurnStart        Type = "turn_start"
	TypePrompt           Type = "prompt"
	TypeNote             Type = "note"
	TypeChatRequest      Type = "chat_request"
	TypeChatResponse     Type = "chat_response"
	TypeToolCallRequest  Type = "tool_call_request"
	TypeToolStarted      Type = "tool_started"
	TypeToolCallResponse Type = "tool_call_response"
	TypeInquiryRequest   Type = "inquiry_request"
	TypeInquiryResponse  Type = "inquiry_response"
	TypeConfigDelta      Type = "config_delta"
	TypeMetadata         Type = "metadata"
	TypeForkOrigin       Type = "fork_origin"
	TypeWorkspace        Type = "workspace"
	TypeTurnDiscarded    Type = "turn_discarded"
	TypeTurnStopped      Type = "turn_stopped"
	TypeTurnInterrupted  Type = "turn_interrupted"
	TypeResumed          Type = "resumed"
	TypeRestored         Type = "restored"
	TypeState            Type = "state"
	TypeTurnDone         Type = "turn_done"
	TypeWithheld         Type = "withheld"
	TypeInstructions     Type = "instructions"
	TypeCompaction       Type = "compaction"
	TypeCompactionUndone Type = "compaction_undone"
)

// A Body is the content of an event of one type.
type Body interface {
	Type() Type
	// fields visits every field once, under the name that it is stored by.
	fields(c codec)
}

// newBody makes an empty body of a known type, nil for an unknown one.
func newBody(t Type) Body {
	switch t {
	case TypeTurnStart:
		return new(TurnStart)
	case TypePrompt:
		return new(Prompt)
	case TypeNote:
		return new(Note)
	case TypeChatRequest:
		return new(ChatRequest)
	case TypeChatResponse:
		return new(ChatResponse)
	case TypeToolCallRequest:
		return new(ToolCallRequest)
	case TypeToolStarted:
		return new(ToolStarted)
	case TypeToolCallResponse:
		return new(ToolCallResponse)
	case TypeInquiryRequest:
		return new(InquiryRequest)
	case TypeInquiryResponse:
		return new(InquiryResponse)
	}
	return newRecord(t)
}

// newRecord makes an empty body of one of jp's own kinds.
func newRecord(t Type) Body {
	switch t {
	case TypeConfigDelta:
		return new(ConfigDelta)
	case TypeMetadata:
		return new(Metadata)
	case TypeForkOrigin:
		return new(ForkOrigin)
	case TypeWorkspace:
		return new(Workspace)
	case TypeTurnDiscarded:
		return new(TurnDiscarded)
	case TypeTurnStopped:
		return new(TurnStopped)
	case TypeTurnInterrupted:
		return new(TurnInterrupted)
	case TypeResumed:
		return new(Resumed)
	case TypeRestored:
		return new(Restored)
	case TypeState:
		return new(WorkState)
	case TypeTurnDone:
		return new(TurnDone)
	case TypeWithheld:
		return new(Withholding)
	case TypeInstructions:
		return new(Instructions)
	case TypeCompaction:
		return new(Compaction)
	case TypeCompactionUndone:
		return new(CompactionUndone)
	}
	return nil
}

// cloneBody copies a body one level deep.
func cloneBody(b Body) Body {
	v := reflect.New(reflect.TypeOf(b).Elem())
	v.Elem().Set(reflect.ValueOf(b).Elem())
	return v.Interface().(Body)
}

// Protocol reports whether events of the type are part of the dialogue between
// user, model and tools. Other types never decide whether a turn is complete.
func (t Type) Protocol() bool {
	switch t {
	case TypeTurnStart, TypeChatRequest, TypeChatResponse, TypeToolCallRequest, TypeToolCallResponse,
		TypeInquiryRequest, TypeInquiryResponse, TypeTurnStopped:
		return true
	}
	return false
}

// Internal reports whether events of the type are bookkeeping that people see
// only when they ask for it.
func (t Type) Internal() bool {
	switch t {
	case TypePrompt, TypeNote, TypeToolStarted, TypeConfigDelta, TypeState, TypeMetadata, TypeForkOrigin,
		TypeTurnDone, TypeTurnInterrupted, TypeInstructions:
		return true
	}
	return false
}

// ChangesFiles reports whether events of the type, besides a conversation's
// first event, may have another tree than the event before them.
func (t Type) ChangesFiles() bool {
	switch t {
	case TypeWorkspace, TypeToolCallResponse, TypeRestored, TypeResumed:
		return true
	}
	return false
}

// Places reports whether the place in events of the type is the conversation's place from then on.
func (t Type) Places() bool {
	switch t {
	case TypeTurnStart, TypeForkOrigin, TypeResumed, TypeToolStarted:
		return true
	}
	return false
}

// Unknown is an event of a type that only a newer jp knows.
type Unknown struct {
	Name Type
	text string
}

// Type is the name under which the event was stored.
func (u *Unknown) Type() Type { return u.Name }

func (u *Unknown) fields(c codec) { c.text("text", &u.text) }

// A Finish is why a model call ended.
type Finish string

// The reasons.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishLength    Finish = "length"
	FinishContext   Finish = "context" // the answer filled the rest of the model's context
	FinishRefusal   Finish = "refusal"
	FinishFiltered  Finish = "filtered"
	FinishPause     Finish = "pause"
)

// Refused reports whether the model, or a filter of its provider, declined to answer: the turn is over, and
// its events up to there are never sent again.
func (f Finish) Refused() bool { return f == FinishRefusal || f == FinishFiltered }

// Truncated reports whether a limit of length ended the call in its midst.
func (f Finish) Truncated() bool { return f == FinishLength || f == FinishContext }

// Usage is the consumption of a model call. Money is a decimal number as text.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	// CacheWriteHour is the part of CacheWrite that is kept for an hour, which costs more. Its price is part
	// of the cost. It is not recorded.
	CacheWriteHour int    `json:"-"`
	CostUSD        string `json:"cost_usd,omitempty"`
	DurationMS     int64  `json:"duration_ms,omitempty"`
}

// CallEnd is the end of a model call, in its last event. Without a Finish the call was cut off.
type CallEnd struct {
	Finish Finish
	Usage  *Usage
	Prefix string // hash of the call's input
	// Fallback names the intended model if another one answered. It is set in the first call of it in the
	// turn. Optional.
	Fallback *Fallback
}

// A Fallback is why another model answered than the one that was asked first.
type Fallback struct {
	Model  string `json:"model"` // that was asked first
	Reason string `json:"reason"`
}

func (e *CallEnd) fields(c codec) {
	c.str("finish", (*string)(&e.Finish))
	c.value("usage", &e.Usage)
	c.str("prefix", &e.Prefix)
	c.value("fallback", &e.Fallback)
}

// A Cause names who decided something.
type Cause string

// The causes.
const (
	ByUser   Cause = "user"
	ByModel  Cause = "model"
	ByPolicy Cause = "policy"
	ByConfig Cause = "config"
	ByLimit  Cause = "limit"
	ByBudget Cause = "budget"
	BySignal Cause = "signal"
	ByError  Cause = "error"
)

// raw is a JSON value that is kept as it was written.
type raw = json.RawMessage
