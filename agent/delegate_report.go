package agent

import (
	"cmp"
	"errors"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/tool/delegate"
	"jp/turnloop"
)

// A refusedTask is one that will not be gone on with.
type refusedTask struct{ why string }

func (r *refusedTask) Error() string { return r.why }

// refusal is why a child cannot work at all, "" where it can, or could later.
func refusal(err error) string {
	var r *refusedTask
	var f *problem.Error
	var denied *turnloop.DeniedError
	switch {
	case errors.As(err, &r):
		return r.why
	case errors.As(err, &denied):
		return problem.OneLine(denied.Error())
	case errors.As(err, &f) && (f.Exit == problem.ExitUsage || f.Code == "untrusted" || f.Code == "damaged"):
		return strings.TrimSuffix(problem.OneLine(f.Message), ".")
	}
	return ""
}

// report is what a child came to that gave no answer.
func (q *query) report(why string) delegate.Report {
	r := delegate.Report{Why: why, None: q.fresh, Usage: q.outcome.Usage, Files: []string{}}
	if q.stream == nil {
		return r
	}
	r.State = conversation.NewestState(q.stream.Events())
	for turn := range conversation.Turns(q.stream.Events()) {
		r.Calls, r.Files = len(turn.Ledger().Calls), writtenPaths(turn)
	}
	return r
}

// reportEnd is what the child's turn came to. One that waits for an answer has
// not come to its end.
func (q *query) reportEnd() (delegate.Report, error) {
	if q.delegate.Command != nil && q.outcome.Status == turnloop.Stopped {
		return delegate.Report{}, q.delegate.Command // was meant for the turn that the user sees
	}
	if q.outcome.Status == turnloop.Waiting {
		return delegate.Report{}, &turnloop.WaitingError{Inquiry: q.outcome.Waiting, In: cmp.Or(q.outcome.In, q.id)}
	}
	report := q.report("")
	if report.Why = q.whyNoAnswer(); report.Why != "" {
		return report, nil
	}
	if report.Answer = q.outcome.Message; report.Answer == "" {
		report.Answer = string(q.outcome.Data)
	}
	if q.outcome.Status == turnloop.Length {
		limit := "the output limit"
		if q.outcome.ContextFull {
			limit = "the model's context"
		}
		report.Answer += "\n\n[The answer was cut off by " + limit + ".]"
	}
	return report, nil
}

// whyNoAnswer is why a turn that is over has no answer, "" if it has one.
func (q *query) whyNoAnswer() string {
	switch {
	case q.stream.Tail().Discarded:
		return "its turn was taken back"
	case q.outcome.Status == turnloop.Refused:
		return "its model refused to answer"
	case q.outcome.Failing != nil:
		return q.outcome.Failing.Error()
	case q.outcome.Status == turnloop.Stopped:
		return map[conversation.Cause]string{
			conversation.ByBudget: "it used up its budget of tokens", conversation.ByLimit: "it reached the limit of model calls",
			conversation.ByUser: "the user stopped it",
		}[q.outcome.By]
	case q.outcome.Message == "" && len(q.outcome.Data) == 0:
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
