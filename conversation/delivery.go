package conversation

import (
	"bytes"
	"encoding/json"
)

// A Delivery tells whether the model, too, may see the result of a tool call.
type Delivery string

// The deliveries.
const (
	Delivered Delivery = "delivered" // the result as it is
	Replaced  Delivery = "replaced"  // other words of the user's in its place
	Withheld  Delivery = "withheld"  // the model sees nothing, or nothing yet
)

// Delivery returns the delivery of the call's result, and the words of the user that replace it, if any. An
// open call's is withheld.
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
