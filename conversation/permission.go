package conversation

import "slices"

// Hook is what the user's command before the tool was asked about the call, nil
// if it was not. One that was cancelled said nothing, and does not count.
func (t *ToolCall) Hook() *Inquiry {
	for _, q := range slices.Backward(t.Inquiries) {
		if q.byHook() {
			return q
		}
	}
	return nil
}

// Permission is the newest question whether the call may run, nil if there is
// none. One that was put before the hook saw the call is void: the hook may have
// changed what it was about.
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

// Edited is the inquiry whose answer has the arguments that the tool runs with,
// nil where they are the model's. What a person made of them counts before what
// a hook did.
func (t *ToolCall) Edited() *Inquiry {
	if q := t.Permission(); q != nil && q.Response != nil && len(q.Response.Arguments) > 0 {
		return q
	}
	if q := t.Hook(); q != nil && q.Response != nil && q.Response.Choice() == AnswerEdit && len(q.Response.Arguments) > 0 {
		return q
	}
	return nil
}

// Arguments are what the tool runs with: the model's, or what a hook or the user
// made of them.
func (t *ToolCall) Arguments() raw {
	if q := t.Edited(); q != nil {
		return q.Response.Arguments
	}
	return t.Request.Arguments
}
