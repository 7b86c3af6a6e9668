package turnloop

import (
	"errors"
	"time"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
)

// Limits bound a turn. Zero fields have defaults.
type Limits struct {
	ModelCalls  int           // default 200
	ToolOutput  int           // bytes of a result that the model is sent; default 32 KiB
	ToolTimeout time.Duration // for tools without their own; default 10 minutes, negative: unlimited
	SameCalls   int           // how often the model may make the same call with the same result in a row, if it takes no time; default 3, negative: unlimited
	Tokens      int           // in and out, of all models that the turn asks; default unlimited
}

// ReasonModelCalls is the reason of a turn that ended at Limits.ModelCalls.
const ReasonModelCalls = "it reached the limit of model calls (limits.model_calls)"

// ReasonTokens is the reason of a turn that ended at Limits.Tokens.
const ReasonTokens = "it used up its budget of tokens (limits.tokens)"

// maxQuestions is how many questions the tool of one call may ask.
const maxQuestions = 32

func (l Limits) orDefault() Limits {
	if l.ModelCalls == 0 {
		l.ModelCalls = 200
	}
	if l.SameCalls == 0 {
		l.SameCalls = 3
	}
	if l.ToolOutput == 0 {
		l.ToolOutput = 32 << 10
	}
	if l.ToolTimeout == 0 {
		l.ToolTimeout = 10 * time.Minute
	}
	return l
}

// timeLimit is the time after which jp ends a run of a tool, 0 for never.
func (l Limits) timeLimit(def *tool.Definition) time.Duration {
	switch {
	case def.Resumes || def.Timed:
		return 0
	case def.Timeout > 0:
		return def.Timeout
	}
	return max(l.ToolTimeout, 0)
}

var errSpent = errors.New("the turn's budget of tokens is used up")

// spent reports whether the turn has used up its tokens. The cost of a call is known only at its end, so a
// turn can use more than its limit.
func (l Limits) spent(stream *conversation.Stream) bool {
	return l.Tokens > 0 && usedTokens(stream) >= l.Tokens
}

// usedTokens are the tokens of the turn, in and out: of its model calls, its side
// requests, and the models that its tools asked.
func usedTokens(stream *conversation.Stream) int {
	usage := SpentBy(stream)
	return usage.Input + usage.Output
}

// SpentBy is the total usage so far of a conversation's newest turn.
func SpentBy(stream *conversation.Stream) conversation.Usage {
	return outcomeOf(newestTurn(stream)).Usage
}

// overBudget is the reason if a model was not asked because of its cost, else "".
func overBudget(err error) string {
	var refused *provider.Error
	if errors.As(err, &refused) && refused.Class == provider.ClassBudget {
		return refused.Message
	}
	return ""
}

// budget is how many tokens the turn may still use, 0 if there is no limit.
func (l Limits) budget(stream *conversation.Stream) int {
	if l.Tokens <= 0 {
		return 0
	}
	return max(1, l.Tokens-usedTokens(stream))
}
