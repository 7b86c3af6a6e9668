package conversation

import "encoding/json"

// An InquiryKind is the subject of a question.
type InquiryKind string

// The kinds of inquiry.
const (
	KindRunTool       InquiryKind = "run_tool"       // may this tool run?
	KindDeliverResult InquiryKind = "deliver_result" // may the model see the result?
	KindToolQuestion  InquiryKind = "tool_question"  // the tool itself asks
	KindHook          InquiryKind = "hook"           // the decision of the user's command before the tool
)

// A Question is a question to a person or hook. Default is optional.
type Question struct {
	Text       string
	AnswerType AnswerType
	Default    raw
}

// An AnswerType describes the valid answers.
type AnswerType struct {
	Type    string   `json:"type"` // "boolean", "text" or "select"
	Options []Option `json:"options,omitempty"`
}

// An Option is one of the answers to choose from.
type Option struct {
	Value       json.RawMessage `json:"value"`
	Description string          `json:"description,omitempty"`
}

// Answers to a run_tool inquiry.
const (
	AnswerRun     = "run"
	AnswerRunTurn = "run_turn" // and every further run of this tool in this turn
	AnswerSkip    = "skip"
	// AnswerRunNetwork runs a program of the sandbox, this once with the network.
	AnswerRunNetwork = "run_network"
	AnswerEdit       = "edit" // run with the arguments of the response
)

// Answers to a deliver_result inquiry.
const (
	AnswerDeliver  = "deliver"
	AnswerWithhold = "withhold"
)

// AnswerPass answers a hook inquiry: it has no objection, which still needs a yes.
// Its other answers are AnswerSkip and AnswerEdit.
const AnswerPass = "pass"

// InquiryRequest is a question to the user, the model or a hook.
type InquiryRequest struct {
	For        int // seq of the tool call request
	Kind       InquiryKind
	QuestionID string
	Attempt    int
	Question   Question
	Exclusive  bool // only a person may answer
	Files      []NamedFile
	Covers     []string // ids of the tool's own questions that a person's yes answers with yes
}

// A NamedFile is a file that a call names, as it was at the time of the question. The digest is a code of the
// content, "" if the file was absent.
type NamedFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest,omitempty"`
}

// Type implements [Body].
func (*InquiryRequest) Type() Type { return TypeInquiryRequest }

func (b *InquiryRequest) fields(c codec) {
	c.seq("for", &b.For)
	c.str("kind", (*string)(&b.Kind))
	c.str("question_id", &b.QuestionID)
	c.num("attempt", &b.Attempt)
	c.question("question", &b.Question)
	c.flag("exclusive", &b.Exclusive)
	c.value("files", &b.Files)
	c.value("covers", &b.Covers)
}

// An Outcome is how an inquiry ended.
type Outcome string

// The outcomes. Only an answered one has an Answer.
const (
	OutcomeAnswered  Outcome = "answered"
	OutcomeDeclined  Outcome = "declined"
	OutcomeCancelled Outcome = "cancelled"
	OutcomeFailed    Outcome = "failed"
)

// InquiryResponse is the end of an inquiry.
type InquiryResponse struct {
	For       int // seq of the inquiry request
	Outcome   Outcome
	Answer    raw
	Reason    string
	Arguments raw // edited arguments
	By        Cause
	Remember  bool // the answer holds for the rest of the turn
	Usage     *Usage
}

// Type implements [Body].
func (*InquiryResponse) Type() Type { return TypeInquiryResponse }

func (b *InquiryResponse) fields(c codec) {
	c.seq("for", &b.For)
	c.str("outcome", (*string)(&b.Outcome))
	c.jsonText("answer", (*rawJSON)(&b.Answer))
	c.str("reason", &b.Reason)
	c.raw("arguments", &b.Arguments)
	c.str("by", (*string)(&b.By))
	c.flag("remember", &b.Remember)
	c.value("usage", &b.Usage)
}

// Refuses reports whether the answer is a no.
func (b *InquiryResponse) Refuses() bool {
	return b.Choice() == AnswerSkip || string(b.Answer) == "false"
}

// Choice is the answer as a plain word, "" where it is none.
func (b *InquiryResponse) Choice() string {
	var word string
	if json.Unmarshal(b.Answer, &word) != nil {
		return ""
	}
	return word
}
