package main

import (
	"encoding/json"
	"fmt"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A jsonlOutput writes one JSON object per line.
type jsonlOutput struct {
	env     *env
	partial bool
	run     runInfo
	started bool
	again   bool // a turn is gone on with
	gone    bool // into the background
}

// Begin implements [output].
func (j *jsonlOutput) Begin(r runInfo) { j.run = r }

// Resumed implements [output].
func (j *jsonlOutput) Resumed(string, *conversation.IncompleteTurn) { j.again = true }

func (j *jsonlOutput) line(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fmt.Fprintf(j.env.stderr, "Error: a line cannot be written: %v\n", err)
		return
	}
	fmt.Fprintf(j.env.results(), "%s\n", text)
}

// Recorded writes the events, each of which is durable.
func (j *jsonlOutput) Recorded(events []*conversation.Event) {
	if j.run.detach {
		return
	}
	j.start(events[0].Turn)
	for _, e := range events {
		if text, err := conversation.ViewJSON(e, j.run.known(), false); err == nil {
			fmt.Fprintf(j.env.results(), "%s\n", text)
		}
	}
}

// start writes the first line, once.
func (j *jsonlOutput) start(turn int) {
	if j.started {
		return
	}
	j.started = true
	var source any
	if f := j.run.forkedFrom; f != nil {
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
	}{"started", jsonVersion, id, turn, ref, j.run.recorded, j.run.fresh || source != nil, source, j.again, j.run.model, j.run.dir})
}

// name is the conversation's id and ref; neither is there where nobody else will know it.
func (j *jsonlOutput) name() (id, ref any) {
	if known := j.run.known(); known != "" {
		return known, refOf(known)
	}
	return nil, nil
}

// Streamed writes text that is not durable yet, if it was asked for. It is the first
// that happens in a turn that is gone on with where there is nothing to record before
// the model answers.
func (j *jsonlOutput) Streamed(d turnloop.Delta) {
	if !j.partial {
		return
	}
	if j.run.turn > 0 {
		j.start(j.run.turn)
	}
	j.line(struct {
		Type string            `json:"type"`
		Seq  int               `json:"seq"`
		Part conversation.Part `json:"part"`
		At   int               `json:"at"`
		Text string            `json:"text"`
	}{"delta", d.Seq, d.Part, d.At, d.Text})
}

// Noticed says it on stderr.
func (j *jsonlOutput) Noticed(text string) {
	if !j.env.quiet {
		fmt.Fprintln(j.env.stderr, safetext.Clean(text))
	}
}

// Detached is the one line of a query that goes on in the background.
func (j *jsonlOutput) Detached(d detachedJSON) {
	j.line(d)
	j.gone = true
}

// Ended writes the result, always the last line. A command that only discards
// says that instead.
func (j *jsonlOutput) Ended(e ending) {
	j.env.ended = true
	switch {
	case j.gone && e.err == nil:
	case e.discard && e.err == nil:
		j.line(changed("discard", e.id))
	default:
		j.result(e.outcome, e.id, e.err)
	}
}

// result writes what a turn came to; id is "" where no conversation was found.
func (j *jsonlOutput) result(o turnloop.Outcome, id conversation.ID, err error) {
	result := map[string]any{
		"type": "result", "status": o.Status, "exit": 0, "message": nil, "data": nil, "usage": o.Usage,
		"conversation": nil, "turn": nil,
	}
	switch {
	case o.Status == "" && err == nil: // there was nothing to go on with
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
		f := failureOf(err).typedFor(j.env)
		result["exit"], result["error"] = f.exit, f.object()
	}
	j.line(result)
}
