package turnloop

import (
	"encoding/json"
	"slices"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// A Policy decides a question while the user is absent.
type Policy string

// The policies.
const (
	PolicyAuto     Policy = "auto"     // allow, deliver, let the model answer
	PolicyDefaults Policy = "defaults" // take defaults, else fail
	PolicyDeny     Policy = "deny"     // fail
	PolicyQueue    Policy = "queue"    // wait for somebody
	PolicyDefer    Policy = "defer"    // leave the turn as it is
)

// Waits reports whether a question can be left open, to be answered later.
func (p Policy) Waits() bool { return p == PolicyQueue || p == PolicyDefer }

// reason names the policy in the record of a decision.
func (p Policy) reason() string { return "policy " + string(p) }

// A Route is the way in which a question is decided.
type Route int

// The routes.
const (
	RouteAsk     Route = iota // put it to the client
	RouteYes                  // approve the run, or deliver the result
	RouteDefault              // take the question's default
	RouteModel                // let the model answer
	RouteFail                 // an error response; the turn goes on
	RouteWait                 // wait for an answer
	RouteDefer                // leave it open and end
)

// RouteQuestion decides who answers a question of a kind: the client if there
// is one, else the policy.
func RouteQuestion(kind conversation.InquiryKind, client bool, policy Policy, exclusive, hasDefault bool) Route {
	switch {
	case client:
		return RouteAsk
	case policy == PolicyQueue:
		return RouteWait
	case policy == PolicyAuto && exclusive, policy == PolicyDeny:
		return RouteFail
	case policy == PolicyAuto:
		if kind == conversation.KindToolQuestion {
			return RouteModel
		}
		return RouteYes
	case policy == PolicyDefaults:
		switch {
		case kind == conversation.KindDeliverResult:
			return RouteYes
		case kind == conversation.KindToolQuestion && hasDefault:
			return RouteDefault
		}
		return RouteFail
	}
	return RouteDefer
}

// A Grant is the user's allow rules: prefixes of commands that run in the workspace's
// root. Elsewhere the same words are another program, or the same one with other
// settings. It applies only to tools whose calls name a command.
type Grant [][]string

// A Verdict is an answer to a permission that was found without asking.
type Verdict struct {
	Choice string // conversation.AnswerRun or AnswerSkip
	By     conversation.Cause
	Reason string
}

// Settle decides whether a permission needs no question. In this order: a tool that must never run, one that
// needs no permission, an allow rule, and a yes for the rest of the turn. Only the first settles an exclusive
// tool.
func (g Grant) Settle(def *tool.Definition, arguments json.RawMessage, ledger *conversation.Ledger) (Verdict, bool) {
	switch {
	case def.Run == tool.Skip:
		return Verdict{Choice: conversation.AnswerSkip, By: conversation.ByConfig, Reason: "the tool is switched off"}, true
	case def.Exclusive:
		return Verdict{}, false
	case def.Run == tool.Unattended:
		return Verdict{Choice: conversation.AnswerRun, By: conversation.ByConfig}, true
	}
	if rule := g.rule(arguments); def.Argv && rule != nil {
		return Verdict{Choice: conversation.AnswerRun, By: conversation.ByConfig, Reason: "allow rule: " + strings.Join(rule, " ")}, true
	}
	if remembered(def.Name, ledger) {
		return Verdict{Choice: conversation.AnswerRun, By: conversation.ByUser, Reason: reasonTurn}, true
	}
	return Verdict{}, false
}

// rule is the allowed prefix of an argv that runs in the root, compared word by word,
// or nil.
func (g Grant) rule(arguments json.RawMessage) []string {
	var argv []string
	given := asJSON(arguments)
	if json.Unmarshal(given["argv"], &argv) != nil || !inRoot(given) {
		return nil
	}
	for _, prefix := range g {
		if len(prefix) > 0 && len(argv) >= len(prefix) && slices.Equal(argv[:len(prefix)], prefix) {
			return prefix
		}
	}
	return nil
}

// Allowable is the command of a call that an allow rule may cover, else nil.
func Allowable(def *tool.Definition, arguments json.RawMessage) (argv []string) {
	given := asJSON(arguments)
	if def == nil || !def.Argv || def.Exclusive || !inRoot(given) || json.Unmarshal(given["argv"], &argv) != nil {
		return nil
	}
	return argv
}

// HasInput reports whether arguments give the program something to read. A rule does not cover that.
func HasInput(arguments json.RawMessage) bool {
	for name, value := range asJSON(arguments) {
		if strings.EqualFold(name, "stdin") && string(value) != `""` && string(value) != "null" {
			return true
		}
	}
	return false
}

// inRoot reports whether arguments leave a program in the workspace's root. A tool
// may read a name in any case, so that each spelling of cwd counts, and another one
// of argv would be another command.
func inRoot(arguments map[string]json.RawMessage) bool {
	for name, value := range arguments {
		switch {
		case strings.EqualFold(name, "cwd"):
			var cwd string
			if json.Unmarshal(value, &cwd) != nil || cwd != "" && cwd != "." {
				return false
			}
		case name != "argv" && strings.EqualFold(name, "argv"):
			return false
		}
	}
	return true
}

// remembered reports whether the user said yes to the tool for the whole turn.
func remembered(name string, ledger *conversation.Ledger) bool {
	for _, call := range ledger.ToolCalls {
		q := call.Permission()
		if call.Request.Name == name && !ledger.Foreign(call) && q != nil && q.Response != nil &&
			q.Response.By == conversation.ByUser && q.Response.Choice() == conversation.AnswerRunTurn {
			return true
		}
	}
	return false
}

// rememberedAnswer is an earlier answer to the same question of the same tool that
// holds for the whole turn, or nil.
func rememberedAnswer(inquiry *conversation.Inquiry, ledger *conversation.Ledger) *conversation.InquiryResponse {
	for _, call := range ledger.ToolCalls {
		if call.Request.Name != inquiry.Call.Request.Name || ledger.Foreign(call) {
			continue
		}
		for _, q := range call.Inquiries {
			if q.Response != nil && q.Response.Remember && q.Response.Outcome == conversation.OutcomeAnswered && q.Request.Kind == inquiry.Request.Kind &&
				q.Request.QuestionID == inquiry.Request.QuestionID {
				return q.Response
			}
		}
	}
	return nil
}

// Reasons recorded with a yes that no person gave to this very question.
const (
	reasonAdvance = "approved in advance"
	reasonTurn    = "for this turn"
)

// ModeOf is the mode that allowed a call without a question, or "".
func ModeOf(b *conversation.InquiryResponse) string {
	switch b.Reason {
	case "allow rule: mode auto":
		return "auto"
	case "allow rule: profile edits":
		return "edits"
	}
	return ""
}
