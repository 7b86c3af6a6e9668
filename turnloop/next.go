package turnloop

import (
	"encoding/json"

	"jp/conversation"
	"jp/tool"
)

// An Act is the kind of the driver's next step.
type Act int

// The acts.
const (
	ActDone    Act = iota // the turn is complete
	ActModel              // send everything new to the model
	ActAsk                // ask a live question again
	ActPermit             // find out whether a call may run
	ActDeliver            // find out whether a held result is delivered
	ActRefuse             // give the calls an error response: they never run
	ActRun                // run the calls, side by side if there are several
	ActUnknown            // a call started earlier and has no response
	ActHook               // ask the hook before tools about a call
)

// An Action is an act and its subject.
type Action struct {
	Act     Act
	Calls   []*conversation.ToolCall
	Inquiry *conversation.Inquiry
	Reason  string // for ActRefuse: the message to the model
}

// A Lookup finds the definition of a tool, nil if there is no such tool.
type Lookup func(name string) *tool.Definition

// A View is all that Next decides from.
type View struct {
	Ledger *conversation.Ledger
	Tools  Lookup
	Again  map[int]bool // calls, by seq, that the user wants run again though their outcome is unknown
	Hooked bool         // a command of the user has its say before a tool runs
	// Restriction is the user's present restriction.
	Restriction Restriction
	// NoTool adds to the message to the model about an unknown tool. Optional.
	NoTool func(name string) string
	// Stale reports whether the files of a call have changed since a person allowed it. Nil: never.
	Stale func(call *conversation.ToolCall) bool
	// Reader reports whether a call of a tool that may change something only reads. Nil: never.
	Reader func(call *conversation.ToolCall) bool
	// Behind reports whether a call names a file that one of the calls before it may change. Nil: never.
	Behind func(call *conversation.ToolCall, before []*conversation.ToolCall) bool
	// Check validates arguments against a tool's schema: a text for the model,
	// "" if they are right. Nil accepts all.
	Check func(def *tool.Definition, arguments json.RawMessage) string
}

// Texts that the model gets in place of a result.
const (
	textNotRun     = "The tool was not run: "
	textMalformed  = textNotRun + "its arguments are not a valid JSON object. You wrote: "
	textCutOff     = textNotRun + "your answer was cut off by the output limit. Ask again, with less."
	textFull       = textNotRun + "your answer filled the model's context window before it was whole."
	textRepeated   = textNotRun + "your answer has this call twice. The result of the first one stands for both."
	textRefused    = textNotRun + "the answer that asked for it was refused."
	textForeign    = textNotRun + "someone else's model asked for it. Ask again, if it is still wanted."
	textBeside     = textNotRun + "the user asks beside the conversation. Answer from what you know."
	textPlanMode   = "Plan mode: not run. In this mode only tools that read are run."
	textNoSuchTool = "There is no tool named "
	textAllTools   = " The tools are: "
)

// Next is the next action of a turn. It is total: every sequence of events has
// exactly one.
func Next(v View) Action {
	switch v.Ledger.Phase() {
	case conversation.PhaseIdle, conversation.PhaseComplete:
		return Action{Act: ActDone}
	case conversation.PhaseStreaming:
		if live := v.Ledger.Live(); len(live) > 0 { // asked twice, answered once
			return Action{Act: ActAsk, Inquiry: live[0], Calls: []*conversation.ToolCall{live[0].Call}}
		}
		return Action{Act: ActModel}
	}
	if held := v.Ledger.Undelivered(); held != nil {
		if q := held.Inquiry(conversation.KindDeliverResult); q != nil && q.Live() {
			return Action{Act: ActAsk, Inquiry: q, Calls: []*conversation.ToolCall{held}}
		}
		return Action{Act: ActDeliver, Calls: []*conversation.ToolCall{held}}
	}
	return v.nextCall(v.Ledger.Open())
}

// nextCall decides about the open calls. Refusals come first.
// Then the hook before tools sees each call of the batch, in request order.
// Read-only calls at the front that need no permission run at once, side by
// side. Then come all permissions of the batch, in request order, and
// the calls run in that order: read-only ones side by side, a changing one alone.
func (v View) nextCall(open []*conversation.ToolCall) Action {
	for _, call := range open {
		if reason := v.refusal(call); reason != "" && !v.unknown(call) {
			return Action{Act: ActRefuse, Calls: []*conversation.ToolCall{call}, Reason: reason}
		}
	}
	for _, call := range open {
		if v.unknown(call) {
			return Action{Act: ActUnknown, Calls: []*conversation.ToolCall{call}}
		}
	}
	for i, call := range open {
		if v.hookIsDue(call, i == 0) {
			return Action{Act: ActHook, Calls: []*conversation.ToolCall{call}}
		}
	}
	if n := v.ready(open); n > 0 {
		return Action{Act: ActRun, Calls: open[:n]}
	}
	for i, call := range open {
		action, needed := v.permission(call, i == 0)
		if later := action.Act == ActPermit && i > 0 && v.Behind != nil && v.Behind(call, open[:i]); needed && !later {
			return action
		}
	}
	return Action{Act: ActRun, Calls: open[:1]} // a changing one
}

// ready counts the calls at the front that only read and need no permission.
func (v View) ready(open []*conversation.ToolCall) int {
	for i, call := range open {
		if _, needed := v.permission(call, i == 0); needed || !v.reads(call) {
			return i
		}
	}
	return len(open)
}

// refusal is the reason why a call never runs, "" if it may.
func (v View) refusal(call *conversation.ToolCall) string {
	def, finish := v.Tools(call.Request.Name), v.finish(call)
	switch {
	case v.Ledger.Foreign(call):
		return textForeign
	case finish == conversation.FinishContext:
		return textFull
	case finish.Truncated(): // a cut-off answer has incomplete arguments, even if they parse
		return textCutOff
	case finish.Refused():
		return textRefused
	case call.Request.Malformed:
		return textMalformed
	case v.Ledger.Repeats(call):
		return textRepeated
	case v.Restriction.None:
		return textBeside
	case def == nil && v.NoTool != nil:
		return v.NoTool(call.Request.Name)
	case def == nil:
		return textNoSuchTool + string(word(call.Request.Name)) + "."
	case v.Restriction.ReadsOnly && def.Effect != tool.Reads && !(def.Resumes && call.Started != nil) && (v.Reader == nil || !v.Reader(call)):
		return textPlanMode
	case deniedByHook(call) != "":
		return deniedByHook(call)
	case v.Check != nil:
		return v.Check(def, call.Arguments())
	}
	return ""
}

// finish is how the model call ended that asked for the tool call.
func (v View) finish(call *conversation.ToolCall) conversation.Finish {
	for _, c := range v.Ledger.Calls {
		if c.Ordinal == call.Request.Call {
			return c.Finish
		}
	}
	return ""
}

// unknown reports whether an earlier run of the call has an unknown outcome.
func (v View) unknown(call *conversation.ToolCall) bool {
	if !call.Lost() || v.Again[call.Event.Seq] || v.Ledger.Foreign(call) {
		return false
	}
	for _, q := range call.Inquiries {
		if q.Live() {
			return false
		}
	}
	def := v.Tools(call.Request.Name)
	return def == nil || def.Effect == tool.Changes && !def.Idempotent && !def.Resumes
}

// permission is the next step towards the permission of a call, if one is missing. An exclusive changing tool
// asks just before it runs.
func (v View) permission(call *conversation.ToolCall, first bool) (Action, bool) {
	calls := []*conversation.ToolCall{call}
	for _, q := range call.Inquiries {
		if q.Live() {
			return Action{Act: ActAsk, Inquiry: q, Calls: calls}, true
		}
	}
	if q := call.Permission(); q != nil {
		if allowed(q.Response) {
			again := v.Stale != nil && (first || onlyReads(call)) && v.Stale(call)
			return Action{Act: ActPermit, Calls: calls}, again
		}
		return Action{Act: ActRefuse, Calls: calls, Reason: declined(q.Response)}, true
	}
	def := v.Tools(call.Request.Name)
	switch {
	case !v.Restriction.Asks && !def.Exclusive && def.Run != tool.Skip && v.Ledger.Approved.Allows(def.Name):
		return Action{}, false
	case !def.Exclusive && def.Run == tool.Unattended && def.Effect == tool.Reads:
		return Action{}, false
	case asksBeforeRun(def) && !first:
		return Action{}, false
	}
	return Action{Act: ActPermit, Calls: calls}, true
}

// allows reports whether a call may run without anything more.
func (v View) allows(call *conversation.ToolCall) bool {
	_, needed := v.permission(call, true)
	return !needed && v.refusal(call) == ""
}

// allowed reports whether an answer is a yes. Only the known words are a yes.
func allowed(b *conversation.InquiryResponse) bool {
	if b.Outcome != conversation.OutcomeAnswered {
		return false
	}
	switch b.Choice() {
	case conversation.AnswerRun, conversation.AnswerRunTurn, conversation.AnswerRunNetwork:
		return true
	case conversation.AnswerEdit:
		return len(b.Arguments) > 0
	}
	return false
}

// declined is the message to the model about a declined call.
func declined(b *conversation.InquiryResponse) string {
	text := textNotRun
	switch {
	case b.By == conversation.ByUser:
		text += "the user declined."
	case b.Outcome == conversation.OutcomeFailed:
		text += "it needs a permission, and no user is there to give it."
	default:
		text += "it is not allowed."
	}
	if b.Reason != "" {
		text += " Reason: " + b.Reason
	}
	return text
}

func (v View) reads(call *conversation.ToolCall) bool {
	return v.Tools(call.Request.Name).Effect == tool.Reads || onlyReads(call)
}
