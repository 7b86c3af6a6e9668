package agent

import (
	"cmp"

	"jp/conversation"
	"jp/tool/work"
	"jp/turnloop"
)

// report is the report of a child without an answer.
func (c *child) report(why string) work.Report {
	r := work.Report{Why: why, None: c.target.fresh, Usage: c.turn.outcome.Usage, Files: []string{}}
	r.State = conversation.NewestState(c.history.stream.Events())
	if turn := conversation.NewestTurn(c.history.stream.Events()); len(turn.Events) > 0 {
		r.Calls, r.Files = len(turn.Ledger().Calls), writtenPaths(turn)
	}
	return r
}

// reportEnd is the result of the child's turn. A turn that waits for an answer has no result yet.
func (c *child) reportEnd() (work.Report, error) {
	if c.run.delegation.presence.Command != nil && c.turn.outcome.Status == turnloop.Stopped {
		return work.Report{}, c.run.delegation.presence.Command // was meant for the turn that the user sees
	}
	if c.turn.outcome.Status == turnloop.Waiting {
		return work.Report{}, &turnloop.WaitingError{Inquiry: c.turn.outcome.Waiting, In: cmp.Or(c.turn.outcome.In, c.target.id)}
	}
	report := c.report("")
	if report.Why = c.whyNoAnswer(); report.Why != "" {
		return report, nil
	}
	if report.Answer = c.turn.outcome.Message; report.Answer == "" {
		report.Answer = string(c.turn.outcome.Data)
	}
	if c.turn.outcome.Status == turnloop.Length {
		limit := "the output limit"
		if c.turn.outcome.ContextFull {
			limit = "the model's context"
		}
		report.Answer += "\n\n[The answer was cut off by " + limit + ".]"
	}
	return report, nil
}

// whyNoAnswer is the reason why an ended turn has no answer, "" if it has one.
func (c *child) whyNoAnswer() string {
	switch {
	case c.history.stream.Tail().Discarded:
		return "its turn was taken back"
	case c.turn.outcome.Status == turnloop.Refused:
		return "its model refused to answer"
	case c.turn.outcome.By == conversation.ByBudget && c.turn.outcome.Reason != "" && c.turn.outcome.Reason != turnloop.ReasonTokens:
		return c.turn.outcome.Reason
	case c.turn.outcome.By == conversation.ByLimit && c.turn.outcome.Reason != "" && c.turn.outcome.Reason != turnloop.ReasonModelCalls:
		return c.turn.outcome.Reason
	case c.turn.outcome.Status == turnloop.Stopped:
		return map[conversation.Cause]string{
			conversation.ByBudget: "it used up its budget of tokens", conversation.ByLimit: "it reached the limit of model calls",
			conversation.ByUser: "the user stopped it",
		}[c.turn.outcome.By]
	case c.turn.outcome.Message == "" && len(c.turn.outcome.Data) == 0:
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
