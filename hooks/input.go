package hooks

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"jp/conversation"
)

// A Point is a moment of a turn.
type Point string

// The points, as the configuration names them.
const (
	TurnStart       Point = "turn-start"
	ToolPre         Point = "tool-pre"
	ToolPost        Point = "tool-post"
	WaitingForInput Point = "waiting-for-input"
	TurnEnd         Point = "turn-end"
)

// Version is that of the objects that hooks get.
const Version = 1

// An Input is a hook's standard input, as one line of JSON.
type Input struct {
	Version      int             `json:"v"`
	Point        Point           `json:"point"`
	Conversation conversation.ID `json:"conversation"`
	Recorded     bool            `json:"recorded"` // the turn is recorded in Conversation
	Turn         int             `json:"turn"`
	Workspace    string          `json:"workspace"` // the folder in which the hook runs
	Model        string          `json:"model"`
	Request      string          `json:"request,omitempty"` // at TurnStart: the user's request
	Tool         *Tool           `json:"tool,omitempty"`    // at ToolPre and ToolPost
	Result       *Result         `json:"result,omitempty"`  // at ToolPost
	Inquiry      *Inquiry        `json:"inquiry,omitempty"` // at WaitingForInput
	End          *End            `json:"end,omitempty"`     // at TurnEnd
}

// A Tool is a call of one, with the arguments that it runs with.
type Tool struct {
	Seq       int             `json:"seq"` // of the event that asks for it
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Subject   string          `json:"subject"` // the part of the arguments that says most
	Effect    string          `json:"effect"`  // "reads" or "changes"
}

// A Result is the result of a tool.
type Result struct {
	Content    string   `json:"content"` // cut at ContentLimit
	Cut        bool     `json:"cut"`
	IsError    bool     `json:"is_error"`
	Changed    []string `json:"changed"` // files
	DurationMS int64    `json:"duration_ms"`
}

// An Inquiry is a question that waits for a user.
type Inquiry struct {
	Seq        int                     `json:"seq"`
	Kind       string                  `json:"kind"` // run_tool, deliver_result or tool_question
	Tool       string                  `json:"tool"`
	Subject    string                  `json:"subject"`
	Text       string                  `json:"text"`
	AnswerType conversation.AnswerType `json:"answer_type"`
	Answer     string                  `json:"answer"` // the command that answers it
}

// An End is the end of a turn, or of its run in this process.
type End struct {
	Status  string          `json:"status"`  // complete, stopped, refused, length or incomplete
	Message string          `json:"message"` // cut at ContentLimit
	Data    json.RawMessage `json:"data"`    // null if the answer has no structure
	Usage   Usage           `json:"usage"`
	Files   []string        `json:"files"` // that its tools changed
}

// A Usage is the consumption of models.
type Usage struct {
	Input   int    `json:"input"`
	Output  int    `json:"output"`
	CostUSD string `json:"cost_usd"` // "" if unknown
}

// ContentLimit is how much of a text a hook gets, in bytes.
const ContentLimit = 64 << 10

// CutText is the beginning of a text, up to ContentLimit, and whether it is cut.
func CutText(text string) (string, bool) { return cut(text, ContentLimit) }

func cut(text string, end int) (string, bool) {
	if len(text) <= end {
		return text, false
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD"), true
}
