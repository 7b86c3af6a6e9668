package ui

import (
	"encoding/json"
	"fmt"

	"jp/agent"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A JsonlOutput writes one JSON object per line.
type JsonlOutput struct {
	Env     *Env
	partial bool
	run     agent.RunInfo
	started bool
	again   bool // a turn is resumed
	gone    bool // into the background
}

// Begin implements [output].
func (j *JsonlOutput) Begin(r agent.RunInfo) { j.run = r }

// Resumed implements [output].
func (j *JsonlOutput) Resumed(string, *conversation.IncompleteTurn) { j.again = true }

func (j *JsonlOutput) line(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fmt.Fprintf(j.Env.Stderr, "Error: a line cannot be written: %v\n", err)
		return
	}
	fmt.Fprintf(j.Env.Results(), "%s\n", text)
}

// Recorded writes the events, each of which is durable.
func (j *JsonlOutput) Recorded(events []*conversation.Event) {
	if j.run.Detach {
		return
	}
	j.start(events[0].Turn)
	for _, e := range events {
		if text, err := conversation.ViewJSON(e, j.run.Known(), false); err == nil {
			fmt.Fprintf(j.Env.Results(), "%s\n", text)
		}
	}
}

// start writes the first line, once.
func (j *JsonlOutput) start(turn int) {
	if j.started {
		return
	}
	j.started = true
	var source any
	if f := j.run.ForkedFrom; f != nil {
		source = f
	}
	id, ref := j.name()
	j.line(struct {
		Type         string `json:"type"`
		JSON         int    `json:"json"`
		Conversation any    `json:"conversation"`
		Turn         int    `json:"turn"`
		Ref          any    `json:"ref"`
		Recorded     bool   `json:"recorded"`
		New          bool   `json:"new"`
		ForkedFrom   any    `json:"forked_from"`
		Resumed      bool   `json:"resumed"`
		Model        string `json:"model"`
		CWD          string `json:"cwd"`
	}{"started", JsonVersion, id, turn, ref, j.run.Recorded, j.run.Fresh || source != nil, source, j.again, j.run.Model, j.run.Dir})
}

// name is the conversation's id and ref; both are absent if no other process will know it.
func (j *JsonlOutput) name() (id, ref any) {
	if known := j.run.Known(); known != "" {
		return known, repo.RefOf(known)
	}
	return nil, nil
}

// Streamed writes text that is not durable yet, if it was asked for. It can be the first output of a
// resumed turn, if nothing is recorded before the model answers.
func (j *JsonlOutput) Streamed(d turnloop.Delta) {
	if !j.partial {
		return
	}
	if j.run.Turn > 0 {
		j.start(j.run.Turn)
	}
	j.line(struct {
		Type string            `json:"type"`
		Seq  int               `json:"seq"`
		Part conversation.Part `json:"part"`
		At   int               `json:"at"`
		Text string            `json:"text"`
	}{"delta", d.Seq, d.Part, d.At, d.Text})
}

// Noticed prints a notice on stderr.
func (j *JsonlOutput) Noticed(text string) {
	if !j.Env.Quiet {
		fmt.Fprintln(j.Env.Messages(), safetext.Clean(text))
	}
}

// Working shows nothing: programs get durable output only.
func (j *JsonlOutput) Working(turnloop.Activity) {}

// Detached is the one line of a query that goes on in the background.
func (j *JsonlOutput) Detached(d agent.DetachedJSON) {
	j.line(d)
	j.gone = true
}

// Ended writes the result, always the last line. A command that only discards writes its own result
// instead.
func (j *JsonlOutput) Ended(e agent.Ending) {
	j.Env.Ended = true
	switch {
	case j.gone && e.Err == nil:
	case e.Discard && e.Err == nil:
		j.line(Changed("discard", e.ID))
	default:
		j.Result(e.Outcome, e.ID, e.Err)
	}
}

// Result writes a turn's outcome; id is "" if no conversation was found.
func (j *JsonlOutput) Result(o turnloop.Outcome, id conversation.ID, err error) {
	result := map[string]any{
		"type": "result", "status": o.Status, "exit": 0, "message": nil, "data": nil, "usage": o.Usage,
		"conversation": nil, "turn": nil,
	}
	switch {
	case o.Status == "" && err == nil: // no turn to resume
		result["status"] = turnloop.Complete
	case o.Status == "":
		result["status"] = turnloop.Incomplete
	}
	if id != "" {
		result["conversation"] = id
	}
	if o.Turn > 0 {
		result["turn"] = o.Turn
	}
	if o.Message != "" {
		result["message"] = o.Message
	}
	if len(o.Data) > 0 {
		result["data"] = json.RawMessage(o.Data)
	}
	if err != nil {
		f := TypedFor(repo.ProblemOf(err), j.Env)
		result["exit"], result["error"] = f.Exit, problemObject(f)
	}
	j.line(result)
}
