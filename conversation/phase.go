package conversation

// A Phase is the step of a turn at which the loop is, or has to begin again.
type Phase string

// The phases of a turn.
const (
	PhaseIdle       Phase = "idle"       // nothing to do: there is no turn, or it is empty
	PhaseStreaming  Phase = "streaming"  // send everything new to the model
	PhaseExecuting  Phase = "executing"  // ask, run tools, or ask for delivery
	PhaseDelegating Phase = "delegating" // a child conversation is at work
	PhaseComplete   Phase = "complete"
)

// A Status is the state of a conversation that no process runs, as readers see it.
type Status string

// The states, from the structure of the last turn.
const (
	StatusIdle     Status = ""
	StatusInput    Status = "input"          // a question waits for an answer
	StatusTools    Status = "tool_execution" // tool calls have no response
	StatusFollowUp Status = "follow_up"      // tools have answered, and the model has not
	StatusResponse Status = "llm_response"   // the request has no answer of the model
)

// delegateTool is the name of the tool that runs a child conversation.
const delegateTool = "delegate"

// Phase is the step at which the loop has to go on. It is total: every sequence of events has exactly one.
func (l *Ledger) Phase() Phase {
	switch {
	case l.size == 0 || l.Empty() && !l.stopped:
		return PhaseIdle
	case l.Complete():
		return PhaseComplete
	case l.Undelivered() != nil:
		return PhaseExecuting
	}
	open := l.Open()
	switch {
	case len(open) == 0:
		return PhaseStreaming
	case open[0].Request.Name == delegateTool:
		return PhaseDelegating
	}
	return PhaseExecuting
}

// Status is the turn's state as readers see it.
func (l *Ledger) Status() Status {
	switch l.Phase() {
	case PhaseIdle, PhaseComplete:
		return StatusIdle
	}
	switch {
	case len(l.Live()) > 0 || l.Undelivered() != nil:
		return StatusInput
	case len(l.Open()) > 0:
		return StatusTools
	case l.lastResult > max(l.lastRequest, l.lastAnswer):
		return StatusFollowUp
	}
	return StatusResponse
}
