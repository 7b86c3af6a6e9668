package agent

import (
	"cmp"

	"jp/conversation"
	"jp/tool/delegate"
	"jp/turnloop"
)

// report is what a child came to that gave no answer.
func (c *child) report(why string) delegate.Report {
	r := delegate.Report{Why: why, None: c.fresh, Usage: c.outcome.Usage, Files: []string{}}
	r.State = conversation.NewestState(c.stream.Events())
	for turn := range conversation.Turns(c.stream.Events()) {
		r.Calls, r.Files = len(turn.Ledger().Calls), writtenPaths(turn)
	}
	return r
}

// reportEnd is what the child's turn came to. One that waits for an answer has
// not come to its end.
func (c *child) reportEnd() (delegate.Report, error) {
	if c.delegation.presence.Command != nil && c.outcome.Status == turnloop.Stopped {
		return delegate.Report{}, c.delegation.presence.Command // was meant for the turn that the user sees
	}
	if c.outcome.Status == turnloop.Waiting {
		return delegate.Report{}, &turnloop.WaitingError{Inquiry: c.outcome.Waiting, In: cmp.Or(c.outcome.In, c.id)}
	}
	report := c.report("")
	if report.Why = c.whyNoAnswer(); report.Why != "" {
		return report, nil
	}
	if report.Answer = c.outcome.Message; report.Answer == "" {
		report.Answer = string(c.outcome.Data)
	}
	if c.outcome.Status == turnloop.Length {
		limit := "the output limit"
		if c.outcome.ContextFull {
			limit = "the model's context"
		}
		report.Answer += "\n\n[The answer was cut off by " + limit + ".]"
	}
	return report, nil
}

// whyNoAnswer is why a turn that is over has no answer, "" if it has one.
func (c *child) whyNoAnswer() string {
	switch {
	case c.stream.Tail().Discarded:
		return "its turn was taken back"
	case c.outcome.Status == turnloop.Refused:
		return "its model refused to answer"
	case c.outcome.By == conversation.ByBudget && c.outcome.Reason != "" && c.outcome.Reason != turnloop.ReasonTokens:
		return c.outcome.Reason
	case c.outcome.By == conversation.ByLimit && c.outcome.Reason != "" && c.outcome.Reason != turnloop.ReasonModelCalls:
		return c.outcome.Reason
	case c.outcome.Status == turnloop.Stopped:
		return map[conversation.Cause]string{
			conversation.ByBudget: "it used up its budget of tokens", conversation.ByLimit: "it reached the limit of model calls",
			conversation.ByUser: "the user stopped it",
		}[c.outcome.By]
	case c.outcome.Message == "" && len(c.outcome.Data) == 0:
		return "it ended without a word"
	}
	return ""
}

// writtenPaths are the files that a turn's tools changed, as they are named in
// the working tree.
func writtenPaths(t conversation.Turn) []string {
	paths := []string{}
	for _, quoted := range listedBy(t) {
		if path, err := conversation.UnquotePath(quoted); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
