package turnloop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// permit finds out whether a call may run, and records the answer.
func (l *Loop) permit(ctx context.Context, call *conversation.ToolCall) error {
	def := lookup(l.opts.Tools.Registry, call.Request.Name)
	subject := subjectOf(l.opts.Tools.Registry, def.Name, call.Arguments())
	t := l.stream.CurrentTurn()
	seq := t.Next()
	response, settled := l.approvals.decided(def, call)
	exclusive := def.Exclusive
	foreseen, foresees := l.approvals.foresee(def, call)
	if settled && allowed(&response) && foresees && def.Questions[foreseen.ID].Exclusive && l.opts.reachable(true) {
		settled, exclusive = false, true // the tool would ask a person anyway, and with less to choose from
	}
	if !settled {
		if err := l.opts.fault(l.stream.Tail(), def, call); err != nil {
			return l.refuse(ctx, call, textNotRun+l.opts.Secrets.Redact(err.Error()))
		}
	}
	var files []conversation.NamedFile
	if !settled || response.Reason == ReasonAlso { // a yes of a person is one to these files
		files = l.opts.digests(l.opts.about(def, call))
	}
	request := conversation.InquiryRequest{
		For: call.Event.Seq, Kind: conversation.KindRunTool, QuestionID: "run", Attempt: 1,
		Question: runQuestion(line(def.Name, subject), byHook(call), l.approvals.whyStale(call), def.Offline), Exclusive: exclusive, Files: files,
	}
	if !settled && foresees {
		request.Covers = []string{foreseen.ID}
		request.Question.Text += " " + foreseen.Words
	}
	t.AddInquiryRequest(request, conversation.WithSubject("ask: run "+line(def.Name, subject)+"?"))
	if settled {
		response.For = seq
		t.AddInquiryResponse(response)
		return l.build(ctx, t)
	}
	if err := l.build(ctx, t); err != nil {
		return err
	}
	return l.put(ctx, l.stream.Tail().InquiryAt(seq))
}

// fault is the error that a call would end with now, after any answer of a person. It is known if only calls that read
// run before this one.
func (o *Options) fault(ledger *conversation.Ledger, def *tool.Definition, call *conversation.ToolCall) error {
	if def.Fault == nil || !o.reachable(def.Exclusive) {
		return nil
	}
	for _, before := range ledger.Open() {
		if before == call {
			break
		}
		if d := lookup(o.Tools.Registry, before.Request.Name); d != nil && d.Effect != tool.Reads {
			return nil
		}
	}
	arguments, _, err := o.inputs(def, call)
	if err != nil {
		return err
	}
	return def.Fault(arguments)
}

// reachable reports whether a person would be asked, now or later, if a call may run.
func (o *Options) reachable(exclusive bool) bool {
	switch RouteQuestion(conversation.KindRunTool, o.User.client(), o.User.Policy, exclusive, false) {
	case RouteAsk, RouteWait, RouteDefer:
		return true
	}
	return false
}

// client reports whether somebody is there to be asked.
func (u *UserOptions) client() bool { return u.Prompter != nil && u.Prompter.Present() }

func runQuestion(what string, hooked bool, stale string, offline bool) conversation.Question {
	q := conversation.Question{Text: "Run " + what + "?", AnswerType: conversation.AnswerType{Type: "select"}}
	if hooked {
		q.Text += " A hook changed its arguments."
	}
	q.Text += stale
	for _, o := range [][2]string{
		{conversation.AnswerSkip, "do not run it"}, {conversation.AnswerRun, "run it"},
		{conversation.AnswerRunTurn, "run it, and this tool for the rest of the turn"}, {conversation.AnswerEdit, "run it with other arguments"},
	} {
		q.AnswerType.Options = append(q.AnswerType.Options, conversation.Option{Value: word(o[0]), Description: o[1]})
	}
	if offline {
		q.AnswerType.Options = append(q.AnswerType.Options, conversation.Option{Value: word(conversation.AnswerRunNetwork), Description: "run it, this once with the network"})
	}
	return q
}

func deliveryQuestion(call *conversation.ToolCall, def *tool.Definition) conversation.InquiryRequest {
	q := conversation.InquiryRequest{
		For: call.Event.Seq, Kind: conversation.KindDeliverResult, QuestionID: "deliver", Attempt: 1,
		Question: conversation.Question{
			Text: "Deliver the result of " + call.Request.Name + "?", AnswerType: conversation.AnswerType{Type: "select"},
		},
		Exclusive: def != nil && def.Exclusive,
	}
	for _, o := range []string{conversation.AnswerDeliver, conversation.AnswerWithhold, conversation.AnswerEdit} {
		q.Question.AnswerType.Options = append(q.Question.AnswerType.Options, conversation.Option{Value: word(o)})
	}
	return q
}

// askAgain puts a question that is already on record, unless it has been settled
// meanwhile: the user may have approved the turn when going on with it.
func (l *Loop) askAgain(ctx context.Context, q *conversation.Inquiry) error {
	switch q.Request.Kind {
	case conversation.KindToolQuestion:
		return l.settleQuestion(ctx, q)
	case conversation.KindRunTool:
		if response, settled := l.approvals.settledSince(q); settled {
			return l.answer(ctx, q, response)
		}
	}
	return l.put(ctx, q)
}

// settleQuestion answers a tool's own question from the configuration or an earlier answer, or else puts it.
func (l *Loop) settleQuestion(ctx context.Context, q *conversation.Inquiry) error {
	var to tool.QuestionTo
	if def := lookup(l.opts.Tools.Registry, q.Call.Request.Name); def != nil {
		to = def.Questions[q.Request.QuestionID]
	}
	if len(to.Answer) > 0 && !q.Request.Exclusive {
		unfit := q.Request.Question.AnswerType.Accepts(to.Answer)
		if unfit == nil {
			return l.answer(ctx, q, conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: to.Answer, By: conversation.ByConfig})
		}
		l.opts.Observer.Noticed(fmt.Sprintf("tools.%s.questions.%s.answer is not used: %v", q.Call.Request.Name, q.Request.QuestionID, unfit))
	}
	earlier := rememberedAnswer(q, l.stream.Tail())
	if earlier != nil && !q.Request.Exclusive && q.Request.Question.AnswerType.Accepts(earlier.Answer) == nil {
		return l.answer(ctx, q, conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: earlier.Answer, By: earlier.By})
	}
	if to.Assistant && !q.Request.Exclusive {
		return l.modelAnswers(ctx, q)
	}
	return l.put(ctx, q)
}

// put asks the client, or follows the policy. If the client leaves without an answer, the policy decides.
func (l *Loop) put(ctx context.Context, q *conversation.Inquiry) error {
	client := l.opts.User.client()
	for {
		var err error
		route := RouteQuestion(q.Request.Kind, client, l.opts.User.Policy, q.Request.Exclusive, len(q.Request.Question.Default) > 0)
		l.hooks.flush()
		if route == RouteAsk || route == RouteWait || route == RouteDefer {
			question := QuestionAbout(l.stream.Tail(), q)
			question.Subject = subjectOf(l.opts.Tools.Registry, q.Call.Request.Name, q.Call.Arguments())
			l.hooks.waiting(ctx, question)
		}
		switch route {
		case RouteAsk:
			if err = l.askPeople(ctx, q, l.opts.User.Prompter.Ask); errors.Is(err, ErrNoAnswer) {
				client = false
				continue
			}
		case RouteYes:
			err = l.answer(ctx, q, yes(q.Request.Kind, l.opts.User.Policy))
		case RouteDefault:
			err = l.answer(ctx, q, conversation.InquiryResponse{
				Outcome: conversation.OutcomeAnswered, Answer: q.Request.Question.Default, By: conversation.ByPolicy, Reason: l.opts.User.Policy.reason(),
			})
		case RouteModel:
			err = l.modelAnswers(ctx, q)
		case RouteFail: // a failed permission closes its call, a failed delivery withholds the result
			err = l.answer(ctx, q, conversation.InquiryResponse{
				Outcome: conversation.OutcomeFailed, By: conversation.ByPolicy, Reason: l.opts.User.Policy.reason(),
			})
		case RouteWait:
			if err = ErrNoAnswer; l.opts.User.Prompter != nil {
				err = l.askPeople(ctx, q, l.opts.User.Prompter.Await)
			}
		case RouteDefer:
			err = ErrNoAnswer
		}
		if errors.Is(err, ErrNoAnswer) {
			l.waiting = q
			return errWaiting
		}
		return err
	}
}

func yes(kind conversation.InquiryKind, by Policy) conversation.InquiryResponse {
	choice := conversation.AnswerRun
	if kind == conversation.KindDeliverResult {
		choice = conversation.AnswerDeliver
	}
	return conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: word(choice), By: conversation.ByPolicy, Reason: by.reason()}
}

// askPeople puts a question in one of the ways of a Prompter, and records the
// answer.
func (l *Loop) askPeople(ctx context.Context, q *conversation.Inquiry, ask func(context.Context, Question) (Answer, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	question := QuestionAbout(l.stream.Tail(), q)
	question.Tool, question.Detail = lookup(l.opts.Tools.Registry, q.Call.Request.Name), l.details[q.Event.Seq]
	question.Subject = subjectOf(l.opts.Tools.Registry, q.Call.Request.Name, q.Call.Arguments())
	if t := question.Tool; t != nil && t.Warn != nil && q.Request.Kind == conversation.KindRunTool {
		question.Warning = t.Warn(q.Call.Arguments(), l.stream.Events())
	}
	if loss := l.losses.warnOfLoss(q); loss != "" && q.Request.Kind == conversation.KindRunTool {
		question.Warning = strings.TrimPrefix(question.Warning+"; "+loss, "; ")
	}
	question.Also = l.approvals.alongside(l.view(), q)
	a, err := ask(ctx, question)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if len(a.Also) > 0 && allowed(&conversation.InquiryResponse{Outcome: a.Outcome, Answer: a.Value}) {
		l.approvals.also = map[int]bool{}
		for _, call := range a.Also {
			l.approvals.also[call.Event.Seq] = true
		}
	}
	return l.answer(ctx, q, a.response())
}

// QuestionAbout builds the question to a person from an inquiry and the turn's events.
func QuestionAbout(l *conversation.Ledger, q *conversation.Inquiry) Question {
	question := Question{Inquiry: q, Arguments: q.Call.Arguments(), Hooked: byHook(q.Call)}
	for _, call := range l.ToolCalls {
		if p := call.Permission(); call.Open() && call.Started == nil && p != nil && p.Response != nil && p.Response.By == conversation.ByUser && allowed(p.Response) {
			question.Approved = append(question.Approved, call)
		}
		if call.Request.Call == q.Call.Request.Call {
			question.Batch++
			if call == q.Call {
				question.Position = question.Batch
			}
		}
	}
	if q.Call.Result != nil {
		question.Result = q.Call.Result.Content
	}
	return question
}

// response is the answer as it is recorded.
func (a Answer) response() conversation.InquiryResponse {
	response := conversation.InquiryResponse{Outcome: a.Outcome, Reason: a.Reason, By: conversation.ByUser}
	if a.Outcome == conversation.OutcomeAnswered {
		response.Answer, response.Arguments, response.Remember = a.Value, a.Arguments, a.Remember
	}
	return response
}

// Answer records a person's answer to a waiting question, and leaves the turn as it is.
func (l *Loop) Answer(ctx context.Context, q *conversation.Inquiry, a Answer) error {
	return l.answer(ctx, q, a.response())
}

// answer records the end of a question.
func (l *Loop) answer(ctx context.Context, q *conversation.Inquiry, response conversation.InquiryResponse) error {
	response.For = q.Event.Seq
	t := l.stream.CurrentTurn().AddInquiryResponse(response)
	if response.Outcome != conversation.OutcomeAnswered && q.Request.Kind == conversation.KindToolQuestion {
		t.AddToolCallResponse(conversation.ToolCallResponse{
			For: q.Call.Event.Seq, ID: q.Call.Request.ID, Name: q.Call.Request.Name, IsError: true,
			Content: "The tool asked a question that got no answer: " + q.Request.Question.Text,
		}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, q.Call, "no answer")))
	}
	return l.build(ctx, t)
}

// modelAnswers lets the model answer a tool's question, in a request of its own. Only
// the answer and its cost are recorded. Without a valid answer the question fails.
func (l *Loop) modelAnswers(ctx context.Context, q *conversation.Inquiry) error {
	response := conversation.InquiryResponse{Outcome: conversation.OutcomeFailed, By: conversation.ByModel}
	answer, usage, err := l.model.answer(ctx, q)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		response.Reason = err.Error()
	default:
		response.Outcome, response.Answer = conversation.OutcomeAnswered, answer
	}
	response.Usage = usage
	return l.answer(ctx, q, response)
}
