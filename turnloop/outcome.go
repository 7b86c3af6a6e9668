package turnloop

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
)

// A Status tells how a turn ended, or that it has not.
type Status string

// The ends of a turn.
const (
	Complete   Status = "complete"
	Stopped    Status = "stopped"
	Refused    Status = "refused"
	Length     Status = "length"
	Waiting    Status = "waiting"    // a question waits for an answer
	Incomplete Status = "incomplete" // it can be resumed
)

// An Outcome is how a turn ended.
type Outcome struct {
	Status  Status
	Turn    int
	Message string          // text of the answer
	Data    json.RawMessage // the structured answer, if one was asked for
	Empty   bool            // the model was asked again, or cut off, without a word
	Unfit   error           // why the answer does not satisfy the schema that was asked for
	Usage   conversation.Usage
	Failing *Failing              // for Stopped: the tool calls that ended the turn, nil for another cause
	Waiting *conversation.Inquiry // for Waiting
	In      conversation.ID       // for Waiting: the delegate's conversation that the question is in, "" for the own
	By      conversation.Cause    // for Stopped
	Reason  string                // for Stopped: why, "" if the user stopped it
	// ContextFull says, for Length, that the answer filled the model's context rather than its own limit.
	ContextFull bool
}

func newestTurn(stream *conversation.Stream) []*conversation.Event {
	return conversation.NewestTurn(stream.Events()).Events
}

func outcomeOf(events []*conversation.Event) Outcome {
	o := Outcome{Status: Complete}
	ledger := conversation.LedgerOf(events)
	for _, e := range events {
		o.Turn = e.Turn
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			o.spend(b.Usage)
		case *conversation.ToolCallRequest:
			o.spend(b.Usage)
		case *conversation.InquiryResponse:
			o.spend(b.Usage)
		case *conversation.ToolCallResponse:
			o.spend(b.Usage)
		case *conversation.Compaction:
			o.spend(b.Usage)
		case *conversation.TurnStopped:
			o.Status, o.By, o.Reason = Stopped, b.By, b.Reason
		}
	}
	if o.By == conversation.ByLimit {
		o.Failing = failing(ledger)
	}
	call := ledger.LastCall()
	if call == nil {
		return o
	}
	o.Message, o.Data = quoted(call)
	if schema := (conversation.Turn{Events: events}).Schema(); len(schema) > 0 && call.Answer() {
		o.Data, o.Unfit = structured(schema, call)
	}
	if o.Status == Complete {
		switch {
		case call.Finish.Refused():
			o.Status = Refused
		case call.Finish.Truncated():
			o.Status, o.ContextFull = Length, call.Finish == conversation.FinishContext
		}
	}
	ended := o.Status == Complete || o.Status == Length
	o.Empty = ended && call.Answer() && o.Message == "" && len(o.Data) == 0 && o.Unfit == nil
	return o
}

// quoted is the text and the data of a call.
func quoted(call *conversation.ModelCall) (message string, data []byte) {
	var texts []string
	for _, e := range call.Events {
		b, ok := e.Body.(*conversation.ChatResponse)
		switch {
		case !ok || strings.TrimSpace(b.Text) == "":
		case b.Part == conversation.PartMessage:
			texts = append(texts, b.Text)
		case b.Part == conversation.PartData:
			data = []byte(b.Text)
		}
	}
	return strings.Join(texts, "\n\n"), data
}

func (o *Outcome) spend(u *conversation.Usage) {
	if u == nil {
		return
	}
	o.Usage.Input += u.Input
	o.Usage.Output += u.Output
	o.Usage.CacheRead += u.CacheRead
	o.Usage.CostUSD = conversation.AddDecimals(o.Usage.CostUSD, u.CostUSD)
}

func summedUp(events []*conversation.Event) bool {
	return slices.ContainsFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeTurnDone })
}

// filesChanged are the files that a turn's tools changed, in order.
func filesChanged(events []*conversation.Event) []string {
	files := map[string]bool{}
	for _, e := range events {
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			for _, c := range b.Changed {
				files[c.Path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}
