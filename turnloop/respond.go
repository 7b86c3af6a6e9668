package turnloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// textUnknown is the message to the model about a call of unknown outcome.
const textUnknown = "The outcome of this call is unknown: it was started, and no result of it is on record here. " +
	"Look at what is there before you repeat it."

// respond records the result of a call. after is the state of the files, nil for a tool
// that only reads.
func (l *Loop) respond(ctx context.Context, done finishedRun, after *SnapshotResult) error {
	t := l.stream.CurrentTurn()
	seq := l.addResponse(t, done, after)
	if l.opts.Input.Touched != nil && done.err == nil && !done.result.IsError {
		named, _ := l.opts.named(done.call)
		if paths := slices.Concat(named, done.result.Found); len(paths) > 0 {
			if given := l.opts.Input.Touched(context.WithoutCancel(ctx), l.stream.Events(), paths, seq); given != nil {
				t.AddRecord(given)
			}
		}
	}
	return l.build(ctx, t)
}

// addResponse adds the result of a call, and the question about its delivery if it is
// held. It returns the seq of the response.
func (l *Loop) addResponse(t *conversation.TurnBuilder, done finishedRun, after *SnapshotResult) (seq int) {
	content := done.result.Content
	if done.err != nil {
		content = []byte("The tool could not be run to its end: " + done.err.Error())
		if done.idle {
			content = []byte("The tool was not run: " + done.err.Error())
		}
		done.result = tool.Result{IsError: true}
	}
	said, head := string(content), ""
	if after != nil {
		head = l.files.refsMoved(after)
	}
	if head != "" {
		content = fmt.Appendf(slices.Clip(content), "\n[%s]", head)
	}
	_, canRead := l.opts.Tools.Registry.Lookup(tool.EventRead)
	out := outputOf(done.call.Request.Name, content, done.result.Truncated, l.opts.Limits.ToolOutput, l.opts.Secrets.RedactOutput, t.Next()+len(done.result.Records), canRead)
	response := conversation.ToolCallResponse{
		For: done.call.Event.Seq, ID: done.call.Request.ID, Name: done.call.Request.Name,
		Content: out.sent, IsError: done.result.IsError, Truncated: out.whole, DurationMS: done.took.Milliseconds(),
		Cancelled: done.cancelled, Usage: done.result.Usage,
		Held: done.def.Result != "" && done.def.Result != tool.Unattended,
	}
	what := effect(done.result, said)
	switch {
	case done.cancelled:
		what = "cancelled"
	case out.cut && !done.result.IsError:
		what += ", " + size(l.opts.Limits.ToolOutput) + " sent"
	}
	if head != "" {
		what += ", " + head
	}
	with := append(out.rest, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, done.call, what)))
	for _, a := range done.result.Attachments {
		response.Attachments = append(response.Attachments, conversation.Attachment{Name: a.Name, MediaType: a.MediaType})
		with = append(with, conversation.WithPayload(conversation.Payload{Name: a.Name, MediaType: a.MediaType, Data: a.Data}))
	}
	if after != nil {
		response.Changed, response.LeftOut = after.Changes, listedLeftOut(after.LeftOut)
		response.Changed = response.Changed[:fitting(response.Changed, func(c conversation.FileChange) string { return c.Path })]
		if done.beside {
			for _, c := range response.Changed {
				response.Shared = append(response.Shared, c.Path)
			}
		}
		listed := fitting(after.Unrecorded, func(path string) string { return path })
		response.Unrecorded, response.UnrecordedMore = after.Unrecorded[:listed], len(after.Unrecorded)-listed
		with = append(with, conversation.WithTree(after.Tree, after.Objects...), conversation.WithGit(l.files.moved(after.Git)))
	}
	for _, record := range done.result.Records {
		t.AddRecord(record)
	}
	seq = t.Next()
	t.AddToolCallResponse(response, with...)
	if response.Held {
		seq := t.Next()
		t.AddInquiryRequest(deliveryQuestion(done.call, done.def))
		if done.def.Result == tool.Skip { // the configuration has answered it
			t.AddInquiryResponse(conversation.InquiryResponse{
				For: seq, Outcome: conversation.OutcomeAnswered, Answer: word(conversation.AnswerWithhold), By: conversation.ByConfig,
			})
		}
	}
	return seq
}

// size is a number of bytes in words.
func size(bytes int) string {
	if bytes%1024 == 0 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return conversation.Count(bytes, "byte")
}

// listedLeftOut shortens a list to the limit of an event. The last entry then counts
// the rest.
func listedLeftOut(all []conversation.SkippedPath) []conversation.SkippedPath {
	n := fitting(all, func(l conversation.SkippedPath) string { return l.Path + l.Why })
	if n == len(all) {
		return all
	}
	n = max(0, n-1)
	return append(all[:n:n], conversation.SkippedPath{Path: ".", Why: fmt.Sprintf("and %d more", len(all)-n)})
}

func (l *Loop) refuse(ctx context.Context, call *conversation.ToolCall, reason string) error {
	what := notRun(reason)
	if q := call.Permission(); q != nil && q.Response != nil && !allowed(q.Response) {
		what = "declined by " + string(q.Response.By)
	}
	if deniedByHook(call) != "" {
		what = "denied by a hook"
	}
	if p := call.Event.Payload(conversation.PayloadArguments); reason == textMalformed && p != nil {
		wrote := p.Data
		if wrote == nil {
			wrote, _, _ = l.opts.Conversation.Journal.Payload(ctx, *p)
		}
		const most = 2000
		if len(wrote) > most {
			wrote = append(wrote[:most:most], "…"...)
		}
		reason += strings.ToValidUTF8(string(wrote), "\uFFFD")
	}
	t := l.stream.CurrentTurn()
	cancelQuestions(t, call)
	t.AddToolCallResponse(conversation.ToolCallResponse{
		For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: reason, IsError: true,
	}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, call, what)))
	return l.build(ctx, t)
}

// resolve closes, or frees for another run, a call whose outcome is unknown.
func (l *Loop) resolve(ctx context.Context, call *conversation.ToolCall) error {
	found := Resolution{Text: textUnknown}
	if l.opts.User.Unknown != nil {
		var err error
		if found, err = l.opts.User.Unknown(ctx, call); err != nil {
			return err
		}
	}
	if found.Again {
		l.again[call.Event.Seq] = true
		return nil
	}
	what := "outcome unknown"
	if found.ByUser {
		what = "as the user says"
	}
	t := l.stream.CurrentTurn()
	if err := l.files.addLost(ctx, t, &l.opts, l.stream.Tail()); err != nil {
		return err
	}
	t.AddToolCallResponse(conversation.ToolCallResponse{
		For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: found.Text, IsError: !found.ByUser,
	}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, call, what)))
	if err := l.build(ctx, t); err != nil {
		return err
	}
	// Release the lock of the lost run. If another process holds it, a part of the run still lives.
	if _, unlock, err := l.tools.lock(call.Event.Seq); err == nil {
		unlock()
	}
	return nil
}

// recordQuestion makes a tool's question durable, to be asked in its turn. The
// tool runs again from the start once it is answered.
func (l *Loop) recordQuestion(ctx context.Context, done finishedRun) error {
	q := done.result.Question
	if done.err = unaskable(l.opts.Secrets.Redacts, done.call, q); done.err != nil {
		return l.respond(ctx, done, nil)
	}
	t := l.stream.CurrentTurn()
	l.details[t.Next()] = q.Detail
	t.AddInquiryRequest(conversation.InquiryRequest{
		For: done.call.Event.Seq, Kind: conversation.KindToolQuestion, QuestionID: q.ID, Attempt: attempt(done.call),
		Question: q.Question, Exclusive: done.def.Questions[q.ID].Exclusive,
	}, conversation.WithSubject("ask: "+done.call.Request.Name+": "+q.Text))
	return l.build(ctx, t)
}

// unaskable is why a tool's question is refused, or nil. Every call ends: the tool runs
// again after each answer, and finds the answer by the question's id.
func unaskable(redacts func(name, text string) bool, call *conversation.ToolCall, q *tool.Question) error {
	asked := 0
	for _, earlier := range call.Inquiries {
		if earlier.Request.Kind == conversation.KindToolQuestion {
			asked++
		}
	}
	_, answered := call.Answers()[q.ID]
	switch {
	case answered:
		return fmt.Errorf("it asked again what it was told: %s", q.Text)
	case asked >= maxQuestions:
		return fmt.Errorf("it has asked too many questions: %d is the most", maxQuestions)
	case redacts != nil && redacts("question_id", q.ID):
		return errors.New("the id of its question looks like a secret, which is not recorded; the tool has to give it another id")
	}
	return nil
}
