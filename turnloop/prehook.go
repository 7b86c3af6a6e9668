package turnloop

import (
	"fmt"

	"jp/conversation"
	"jp/tool"
)

// hookIsDue reports whether the hook before tools still has to decide on a call. A started
// call is past the hook, and a recorded decision holds.
func (v View) hookIsDue(call *conversation.ToolCall, first bool) bool {
	q := call.Hook()
	if q != nil {
		return q.Live()
	}
	return v.Hooked && call.Started == nil && (first || !asksBeforeRun(v.Tools(call.Request.Name)))
}

// asksBeforeRun reports whether a tool asks just before it runs, apart from the rest of its batch.
func asksBeforeRun(def *tool.Definition) bool { return def.Exclusive && def.Effect == tool.Changes }

// deniedByHook is the message to the model about a call that a hook denied, or "". An unknown
// recorded answer of a hook denies.
func deniedByHook(call *conversation.ToolCall) string {
	q := call.Hook()
	if q == nil || q.Response == nil {
		return ""
	}
	choice, edited := q.Response.Choice(), len(q.Response.Arguments) > 0
	if q.Response.Outcome == conversation.OutcomeAnswered && (choice == conversation.AnswerPass || choice == conversation.AnswerEdit && edited) {
		return ""
	}
	text := textNotRun + "a hook of the user denied it."
	if q.Response.Reason != "" {
		text += " Reason: " + q.Response.Reason
	}
	return text
}

// byHook reports whether a call has the arguments that a hook gave it.
func byHook(call *conversation.ToolCall) bool {
	q := call.Edited()
	return q != nil && q.Request.Kind == conversation.KindHook
}

// hookResponse is the record of a hook's decision about a call. If the hook failed, or the tool rejects its
// arguments, the decision is to deny.
func hookResponse(def *tool.Definition, ruling HookDecision, err error) conversation.InquiryResponse {
	response := conversation.InquiryResponse{
		Outcome: conversation.OutcomeAnswered, Answer: word(conversation.AnswerSkip), Reason: ruling.Reason, By: conversation.ByConfig,
	}
	switch {
	case err != nil:
		response.Reason = fmt.Sprintf("hook failed: %v", err)
	case ruling.Denied:
	case len(ruling.Arguments) == 0:
		response.Answer = word(conversation.AnswerPass)
	case len(ruling.Arguments) > conversation.MaxEdited:
		response.Reason = fmt.Sprintf("the hook's arguments take more than %d bytes", conversation.MaxEdited)
	case asJSON(ruling.Arguments) == nil:
		response.Reason = "the hook's arguments are not a JSON object"
	default:
		if _, err := tool.Check(def, ruling.Arguments); err != nil {
			response.Reason = fmt.Sprintf("the hook's arguments are wrong: %v", err)
			break
		}
		response.Answer, response.Arguments = word(conversation.AnswerEdit), ruling.Arguments
	}
	return response
}

// addHookQuestion adds the question to the hook, and returns its seq. A waiting permission predates the hook:
// it is cancelled, and jp asks again.
func addHookQuestion(tools *tool.Registry, t *conversation.TurnBuilder, call *conversation.ToolCall) int {
	cancelQuestions(t, call)
	seq := t.Next()
	what := line(call.Request.Name, subjectOf(tools, call.Request.Name, call.Arguments()))
	q := conversation.Question{Text: "What does the tool-pre hook say to " + what + "?", AnswerType: conversation.AnswerType{Type: "select"}}
	for _, answer := range []string{conversation.AnswerPass, conversation.AnswerSkip, conversation.AnswerEdit} {
		q.AnswerType.Options = append(q.AnswerType.Options, conversation.Option{Value: word(answer)})
	}
	t.AddInquiryRequest(conversation.InquiryRequest{
		For: call.Event.Seq, Kind: conversation.KindHook, QuestionID: string(PointToolPre), Attempt: 1, Question: q,
	}, conversation.WithSubject("ask the tool-pre hook: "+what+"?"))
	return seq
}

// cancelQuestions ends the live questions of a call that is closed without their answers: its tool is gone,
// or takes other arguments.
func cancelQuestions(t *conversation.TurnBuilder, call *conversation.ToolCall) {
	for _, q := range call.Inquiries {
		if q.Live() {
			t.AddInquiryResponse(conversation.InquiryResponse{
				For: q.Event.Seq, Outcome: conversation.OutcomeCancelled, By: conversation.ByConfig,
			})
		}
	}
}
