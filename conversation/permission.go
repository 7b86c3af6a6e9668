package conversation

import "slices"

// Hook is the question to the user's command before the tool about the call, or nil. A cancelled one has no
// decision, and does not count.
func (t *ToolCall) Hook() *Inquiry {
	for _, q := range slices.Backward(t.Inquiries) {
		if q.byHook() {
			return q
		}
	}
	return nil
}

// Permission is the newest question whether the call may run, or nil. One that was put before the hook saw
// the call is void: the hook may have changed the call.
func (t *ToolCall) Permission() *Inquiry {
	for _, q := range slices.Backward(t.Inquiries) {
		switch {
		case q.Request.Kind == KindRunTool:
			return q
		case q.byHook():
			return nil
		}
	}
	return nil
}

// byHook reports whether the inquiry is a hook's to answer, and was not cancelled.
func (q *Inquiry) byHook() bool {
	return q.Request.Kind == KindHook && (q.Response == nil || q.Response.Outcome != OutcomeCancelled)
}

// Edited is the inquiry whose answer has the arguments of the tool's run, nil if they are the model's. A
// person's edit counts before a hook's.
func (t *ToolCall) Edited() *Inquiry {
	if q := t.Permission(); q != nil && q.Response != nil && len(q.Response.Arguments) > 0 {
		return q
	}
	if q := t.Hook(); q != nil && q.Response != nil && q.Response.Choice() == AnswerEdit && len(q.Response.Arguments) > 0 {
		return q
	}
	return nil
}

// Arguments are those of the tool's run: the model's, or the edit of a hook or the user.
func (t *ToolCall) Arguments() raw {
	if q := t.Edited(); q != nil {
		return q.Response.Arguments
	}
	return t.Request.Arguments
}
