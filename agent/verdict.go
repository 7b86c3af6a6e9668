package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
	"jp/turnloop"
	"jp/usage"
)

// verdict makes an exit code of how the turn ended.
func (e *turn) verdict(ctx context.Context, err error) error {
	if err != nil {
		var control *turnloop.ControlFilesError
		if errors.As(err, &control) {
			return e.target.stoppedByControlFiles(control)
		}
		f := repo.ProblemOf(err)
		var journal *turnloop.JournalError
		if errors.As(err, &journal) {
			f.Hints = append(f.Hints, e.run.repo.Find().RefBack(ctx, e.target.id)...)
		}
		if e.outcome.Turn > 0 && f.Code != "interrupted" {
			f.About(e.target.id)
		}
		if f.Code == "interrupted" && e.outcome.Turn > 0 && e.outcome.Status == turnloop.Incomplete && !e.run.opts.unrecorded() {
			f.About(e.target.id).Details = append(f.Details, fmt.Sprintf("Turn %d is incomplete; nothing is lost.", e.outcome.Turn))
			f.Hint(action.Continue(e.target.id.Short()), "resumes it")
		}
		var failed *turnloop.ProviderError
		if errors.As(err, &failed) && e.outcome.Turn > 0 {
			e.addRecoveryHints(ctx, f, err)
		}
		return f
	}
	switch e.outcome.Status {
	case turnloop.Waiting:
		return e.waiting()
	case turnloop.Complete, turnloop.Length:
		if e.outcome.Unfit != nil && e.outcome.Status == turnloop.Length {
			return problem.New(problem.ExitFailed, "provider", "the answer was cut off before it satisfied the schema.").About(e.target.id)
		}
		if e.outcome.Unfit != nil {
			return problem.New(problem.ExitFailed, "provider", "the answer does not satisfy the schema: %v.", e.outcome.Unfit).About(e.target.id)
		}
		if e.outcome.Empty {
			return e.emptyAnswer()
		}
	case turnloop.Refused:
		return problem.New(problem.ExitFailed, "provider", "the model refused to answer; the turn is over.").About(e.target.id)
	case turnloop.Stopped:
		if failing := e.outcome.Failing; failing != nil {
			return e.target.stoppedFor(failing)
		}
		if e.outcome.By == conversation.ByLimit && e.outcome.Reason != "" && e.outcome.Reason != turnloop.ReasonModelCalls {
			return problem.New(problem.ExitFailed, "interrupted", "jp stopped the turn: %s", problem.OneLine(e.outcome.Reason)).About(e.target.id).
				Hint(action.Ask, "go on in a new turn, with words of yours").
				Hint(action.AskSameCalls, "go on in a turn with another limit; 0 is none")
		}
		if e.outcome.By == conversation.ByLimit {
			return problem.New(problem.ExitFailed, "interrupted", "the turn was stopped: it reached the limit of model calls (limits.model_calls).").About(e.target.id).
				Hint(action.AskMoreCalls, "go on in a turn with another limit")
		}
		if reason := e.outcome.Reason; e.outcome.By == conversation.ByBudget && reason != turnloop.ReasonTokens {
			f := problem.New(problem.ExitFailed, "interrupted", "jp stopped the turn: %s.", problem.OneLine(reason)).About(e.target.id)
			if strings.Contains(reason, usage.DayKey) {
				return f.Hint(action.AskMoreCostDay, "go on in a turn with another limit; 0 is none")
			}
			return f.Hint(action.AskMoreCost, "go on in a turn with another limit; 0 is none")
		}
		if e.outcome.By == conversation.ByBudget {
			return problem.New(problem.ExitFailed, "interrupted", "the turn was stopped: it used up its budget of tokens (limits.tokens).").About(e.target.id).
				Hint(action.AskMoreTokens, "go on in a turn with another budget; 0 is none")
		}
	}
	return nil
}

// waiting is the error of a turn that waits: for what, and for whom.
func (e *turn) waiting() error {
	w, who := e.outcome.Waiting, string(e.target.id)
	if e.outcome.In != "" {
		who = fmt.Sprintf("%s, which works for %s,", e.outcome.In, e.target.id)
	}
	asked := e.res.presence != nil && e.res.presence.HasUser()
	why := map[bool]string{true: "the user gave none", false: "no user is there to ask"}[asked]
	f := problem.New(problem.ExitDecision, "incomplete_turn", "Conversation %s waits for an answer, and %s (policy %s).", who, why, e.run.policy()).About(e.target.id)
	if e.run.policy() == turnloop.PolicyQueue && e.res.presence.Published() {
		if !asked {
			why = "there is no terminal to ask at"
		}
		f.Message = fmt.Sprintf("Conversation %s waits for an answer: %s, and no answer came within %s (policy.timeout).", who, why, conversation.Ago(e.res.presence.Limit()))
	}
	f.Details = append(f.Details, repo.AskedWords(w.Call.Request.Name, "", w.Request.Question.Text))
	i := attach.InquiryOf(cmp.Or(e.outcome.In, e.target.id), w)
	f.Hint(repo.AnswerCommand(i), repo.AnswerWords(i)+": answers it, from any shell")
	f.Hint(action.Continue(e.target.id.Short()), "asks again")
	if w.Request.Kind == conversation.KindRunTool && !w.Request.Exclusive {
		f.Hint(action.ContinueApproved(e.target.id.Short()), "goes on and runs all tools of the turn unasked")
	}
	return f.Hint(action.Print(string(e.target.id)), "how far it came")
}
