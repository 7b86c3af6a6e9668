package wirecheck

import "encoding/json"

// A Thinking is a Claude model's rule for a request's thinking.
type Thinking int

// The zero value is a model that takes each form of the thinking parameter.
const (
	ThinkingAny      Thinking = iota // disabled, enabled with a budget, or adaptive
	ThinkingNone                     // the model does not think and refuses the parameter
	ThinkingManual                   // disabled, or enabled with a budget
	ThinkingAdaptive                 // disabled or adaptive
	ThinkingAlways                   // adaptive, also by default; refuses a forced tool
)

// A Capability describes the abilities of the target of a request and, for rules that a body alone cannot
// show, the history. The zero value is the strict common case, without the rules that need history.
type Capability struct {
	Anthropic AnthropicModel
	Chat      ChatDialect
	Responses ResponsesModel
	Gemini    GeminiModel

	// Received is the reasoning that this target sent and can read again, oldest first and without the
	// answers that are no longer part of the conversation. Leave out reasoning of another model family,
	// account or endpoint. Anthropic: thinking and redacted_thinking blocks (A8, A11). Chat: the
	// reasoning_details arrays (C7). Responses: all output items of answers that were not cut off (R2, R4,
	// R6). Gemini: parts with a signature (G5). Nil leaves these rules out; an empty list says that there was
	// none.
	Received []json.RawMessage

	// Given are the ids of the tool calls that this endpoint gave and that are still part of the
	// conversation, oldest first. An id that is printable and has at most 64 characters goes back as it was.
	// Any other call's id is made.
	Given []string

	// Turn is the first request of the turn that this request continues. The parts that must stay the same
	// within a turn are compared with it, if both are for one model (A10, R9).
	Turn []byte

	// Malformed are the ids of calls whose arguments were not a JSON object; they must be sent as {} (P8).
	Malformed []string

	// Data are the structured answers that the history holds; each must be in
	// the body as assistant text, in canonical JSON (P8).
	Data []json.RawMessage

	// Refused are texts or ids of a turn that ended in a refusal; they must be absent from the body (A13; P1
	// in the other APIs).
	Refused []string
}

// An AnthropicModel is the input of the Messages API rules.
type AnthropicModel struct {
	Thinking Thinking

	// FixedSampling: the model refuses temperature, top_p and top_k also without thinking.
	FixedSampling bool

	// MidSystem: the model takes role system between messages (A12).
	MidSystem bool

	// Drop: the request has the binding header with drop_block and the model
	// knows it, so a block whose prefix has changed is dropped instead of refused.
	Drop bool

	// Producers holds for a thinking block's signature, or a redacted block's
	// data, the request whose answer the block was part of (A11).
	Producers map[string][]byte

	// Paused is the content list of an answer that stopped with pause_turn and
	// that this request lets continue (A14).
	Paused json.RawMessage
}

// A UserAfterTool is how an endpoint wants user text that follows tool results.
type UserAfterTool int

// The zero value is the form of the original API.
const (
	UserAllowed UserAfterTool = iota // a user message behind the tool messages
	UserFolded                       // part of the last tool message
	UserBridged                      // a user message behind an assistant message
)

// A ReasoningBack is which assistant messages carry reasoning_content.
type ReasoningBack int

// The zero value forbids the field: the original API does not know it.
const (
	ReasoningNever     ReasoningBack = iota
	ReasoningToolTurns               // those that call tools; elsewhere it may stand
	ReasoningAllowed                 // it may stand with each
	ReasoningAll                     // all, unless the request turns thinking off
)

// A ChatDialect is how an endpoint differs from OpenAI's Chat Completions.
type ChatDialect struct {
	UserAfterTool     UserAfterTool
	ReasoningBack     ReasoningBack
	AlnumIDs          bool   // call ids are nine letters or digits
	NumberedIDs       bool   // call ids are functions.NAME:NUMBER
	ImagesInTool      bool   // tool messages may hold image parts
	ReasoningDetails  bool   // assistant messages may hold reasoning_details
	ExtraContent      bool   // calls and messages may hold extra_content
	EmptyContent      bool   // a message with tool calls alone has the content "", not null
	ParallelToolCalls bool   // parallel_tool_calls may be set beside tools
	ManyTools         bool   // any number of tools may be defined
	TypeInBranches    bool   // schemas of tools: a type stands in the branches of anyOf instead of beside it
	GeminiTools       bool   // schemas of tools: only keywords that Gemini reads
	MaxTokens         string // the one name of the output limit; empty allows either

	// ToolNames is Ollama's own API: calls lack ids, arguments are objects,
	// and a result says tool_name and stands at the place of its call.
	ToolNames bool
}

// A ResponsesModel is the input of the Responses API rules.
type ResponsesModel struct {
	NoReasoning bool // the model does not reason and refuses to include reasoning
	Phase       bool // the model gives each assistant message a phase

	// CutOff are the call ids of responses that ended incomplete (R8).
	CutOff []string
}

// A GeminiModel is the input of the generateContent rules.
type GeminiModel struct {
	Major           int  // generation of the model, as in 2 for 2.5; 0 means 3
	ResponseParts   bool // functionResponse may hold parts with media
	SchemaWithTools bool // a response schema may stand beside function declarations
}
