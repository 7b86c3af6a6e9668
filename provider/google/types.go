package google

import "encoding/json"

// The parts of a request beside the contents: the fields of the Gemini API that jp uses, in the order in
// which they are sent.

type part struct {
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	Text             string            `json:"text,omitempty"`
}

type blob struct {
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

type functionResponse struct {
	Parts    []returnedFile    `json:"parts,omitempty"`
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name,omitempty"`
	Response map[string]string `json:"response,omitempty"`
}

type returnedFile struct {
	InlineData *blob `json:"inlineData,omitempty"`
}

type functionDeclaration struct {
	Description string          `json:"description,omitempty"`
	Name        string          `json:"name,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolSet struct {
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations,omitempty"`
}

type toolConfig struct {
	FunctionCalling functionCalling `json:"functionCallingConfig"`
}

type functionCalling struct {
	Mode string `json:"mode"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	Budget          *int32 `json:"thinkingBudget,omitempty"`
	Level           string `json:"thinkingLevel,omitempty"`
}

// modeNone forbids function calls.
const modeNone = "NONE"

// The reasons for which an answer ends that mean something to jp. Any other
// means that something was filtered.
const (
	finishUnspecified    = "FINISH_REASON_UNSPECIFIED"
	finishStop           = "STOP"
	finishMaxTokens      = "MAX_TOKENS"
	finishContinuation   = "CONTINUATION"
	finishMalformedCall  = "MALFORMED_FUNCTION_CALL"
	finishUnexpectedCall = "UNEXPECTED_TOOL_CALL"
	finishTooManyCalls   = "TOO_MANY_TOOL_CALLS"

	blockedUnspecified = "BLOCKED_REASON_UNSPECIFIED"
)
