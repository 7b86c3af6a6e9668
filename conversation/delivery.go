package conversation

import (
	"bytes"
	"encoding/json"
)

// A Delivery is whether the model, too, may see what a tool call came to.
type Delivery string

// The deliveries.
const (
	Delivered Delivery = "delivered" // the result as it is
	Replaced  Delivery = "replaced"  // other words of the user's in its place
	Withheld  Delivery = "withheld"  // nothing, or nothing yet
)

// Delivery says what became of the call's result, and the words that stand in
// its place where the user replaced it. An open call's is withheld.
func (t *ToolCall) Delivery() (how Delivery, words string) {
	switch {
	case t.Result == nil:
		return Withheld, ""
	case !t.Result.Held:
		return Delivered, ""
	}
	q := t.Inquiry(KindDeliverResult)
	if q == nil || q.Response == nil || q.Response.Outcome != OutcomeAnswered {
		return Withheld, ""
	}
	switch choice := q.Response.Choice(); {
	case choice == AnswerEdit:
		return Replaced, q.Response.replacement()
	case choice == AnswerDeliver, string(bytes.TrimSpace(q.Response.Answer)) == "true":
		return Delivered, ""
	}
	return Withheld, ""
}

// replacement is the text of an answer "edit": the string in its arguments,
// else its reason.
func (b *InquiryResponse) replacement() string {
	var text string
	if len(b.Arguments) > 0 && json.Unmarshal(b.Arguments, &text) == nil {
		return text
	}
	return b.Reason
}
