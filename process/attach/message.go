package attach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"jp/conversation"
)

// Version is the protocol's version. Peers of another one cannot talk. Unknown fields and types within one
// are ignored.
const Version = 1

// A Message is one of the types below.
type Message interface{ kind() string }

// Messages of the server.
type (
	// Hello is the server's first word.
	Hello struct {
		V            int               `json:"v"`
		Conversation conversation.ID   `json:"conversation"`
		Head         conversation.Head `json:"head"` // the newest event
		Seq          int               `json:"seq"`  // its number, or -1
		PID          int               `json:"pid"`
		Attached     bool              `json:"attached"` // somebody is, by now
	}
	// Event says that an event is durable.
	Event struct {
		Seq     int               `json:"seq"`
		Commit  conversation.Head `json:"commit"`
		Event   conversation.Type `json:"event"`
		Subject string            `json:"subject"` // as git log shows it
	}
	// Delta is text that is not durable yet. An event replaces those of its seq, and text of another call
	// replaces all. If the first has At > 0, older text was dropped.
	Delta struct {
		Seq  int               `json:"seq"` // of the event that it will become
		Call int               `json:"call"`
		Part conversation.Part `json:"part"`
		At   int               `json:"at"` // byte offset in the part
		Text string            `json:"text"`
	}
	// Inquiry is a question that waits for an answer.
	Inquiry struct {
		Conversation conversation.ID          `json:"conversation"` // whose question it is: that of a delegate, perhaps
		Seq          int                      `json:"seq"`          // of the inquiry_request
		Kind         conversation.InquiryKind `json:"kind"`
		Tool         string                   `json:"tool"`
		Text         string                   `json:"text"`
		AnswerType   conversation.AnswerType  `json:"answer_type"`
		Default      json.RawMessage          `json:"default,omitempty"`
		Exclusive    bool                     `json:"exclusive"`
		Subject      string                   `json:"subject,omitempty"`  // the part of the arguments that says most
		Warning      string                   `json:"warning,omitempty"`  // notice for the person before the answer
		Detail       string                   `json:"detail,omitempty"`   // help for the answer
		Command      []string                 `json:"command,omitempty"`  // that each run of the tool starts, complete or absent
		LimitMS      int64                    `json:"limit_ms,omitempty"` // the time that the tool keeps to
	}
	// Answered reports that a question no longer waits.
	Answered struct {
		Conversation conversation.ID      `json:"conversation"`
		Seq          int                  `json:"seq"` // of the inquiry_request
		Outcome      conversation.Outcome `json:"outcome"`
		By           conversation.Cause   `json:"by"`
		Words        string               `json:"words"` // as git log shows it
	}
	// Refused reports that a message of the peer has no effect, and why.
	Refused struct {
		Seq    int    `json:"seq,omitempty"` // of the inquiry_request, for an answer
		Reason string `json:"reason"`
	}
	// Status describes the present step of the turn that can be interrupted.
	Status struct {
		Running bool   `json:"running"` // a turn is under way
		Doing   bool   `json:"doing"`   // something that can be interrupted
		Tool    string `json:"tool,omitempty"`
		Subject string `json:"subject,omitempty"`
		SinceMS int64  `json:"since_ms"`
		Waits   bool   `json:"waits"` // for another conversation that changes files
	}
	// Activity is something that the turn does and that takes time. It is to be shown and
	// replaced by the next one with its number. A peer that reads slowly misses some.
	Activity struct {
		Conversation conversation.ID   `json:"conversation"` // whose it is: a delegate's, perhaps
		Seq          int               `json:"seq"`          // of the tool call
		Call         int               `json:"call"`
		Name         string            `json:"name,omitempty"` // of the tool; "" for the model
		Argument     string            `json:"argument,omitempty"`
		Hook         string            `json:"hook,omitempty"` // that runs before the tool
		SinceMS      int64             `json:"since_ms"`
		Waits        bool              `json:"waits,omitempty"`    // for another conversation that changes files
		Part         conversation.Part `json:"part,omitempty"`     // part that the model writes
		Writing      string            `json:"writing,omitempty"`  // the tool whose call it writes
		Tokens       int               `json:"tokens,omitempty"`   // that it has written, as an estimate
		Context      int               `json:"context,omitempty"`  // tokens that it was sent, as an estimate
		Window       int               `json:"window,omitempty"`   // tokens that it can read
		Tail         string            `json:"tail,omitempty"`     // the last line of the output, or of the reasoning
		Progress     string            `json:"progress,omitempty"` // how far the tool says it is
		Over         bool              `json:"over,omitempty"`     // it has ended
	}
	// Notice is a line for the user, such as a retry.
	Notice struct {
		Text string `json:"text"`
	}
	// Queued says that a message is kept for the turn.
	Queued struct {
		Waiting int `json:"waiting"` // messages that wait, this one included
	}
	// Closing is the last message: why the connection ends, and the turn's outcome if that is why.
	Closing struct {
		Reason string `json:"reason"`
		Ended  bool   `json:"ended"`            // the process is done with the conversation
		Status string `json:"status,omitempty"` // as the result of a query has it
		Exit   int    `json:"exit"`
		Text   string `json:"text,omitempty"` // the error, if it ended with one
	}
)

// Messages of the client.
type (
	// Attach makes the peer the one who is asked.
	Attach struct {
		V int `json:"v"`
	}
	// Answer answers a question.
	Answer struct {
		Conversation conversation.ID      `json:"conversation,omitempty"` // "": the one that was said hello for
		Seq          int                  `json:"seq"`                    // of the inquiry_request
		Outcome      conversation.Outcome `json:"outcome"`
		Value        json.RawMessage      `json:"value,omitempty"`
		Reason       string               `json:"reason,omitempty"`
		Arguments    json.RawMessage      `json:"arguments,omitempty"`
		Remember     bool                 `json:"remember,omitempty"`
	}
	// Interrupt does something about the turn: "stop", "reply" with a text, "cancel_tool" or
	// "abort"; "" asks for a Status.
	Interrupt struct {
		Action string `json:"action,omitempty"`
		Text   string `json:"text,omitempty"`
	}
	// Say gives the turn a message for its next boundary. It is answered by Queued or Refused.
	Say struct {
		Text string `json:"text"`
	}
	// Resize gives the size of the peer's terminal. The client lays out all text, so the server ignores it.
	Resize struct {
		Columns int `json:"columns"`
		Rows    int `json:"rows"`
	}
	// Detach ends the connection; the turn goes on.
	Detach struct{}
	// Shutdown ends the turn and the process, as SIGTERM does.
	Shutdown struct{}
)

func (*Hello) kind() string     { return "hello" }
func (*Event) kind() string     { return "event" }
func (*Delta) kind() string     { return "delta" }
func (*Inquiry) kind() string   { return "inquiry" }
func (*Answered) kind() string  { return "answered" }
func (*Refused) kind() string   { return "refused" }
func (*Status) kind() string    { return "status" }
func (*Activity) kind() string  { return "activity" }
func (*Notice) kind() string    { return "notice" }
func (*Queued) kind() string    { return "queued" }
func (*Closing) kind() string   { return "bye" }
func (*Attach) kind() string    { return "attach" }
func (*Answer) kind() string    { return "answer" }
func (*Interrupt) kind() string { return "interrupt" }
func (*Say) kind() string       { return "say" }
func (*Resize) kind() string    { return "resize" }
func (*Detach) kind() string    { return "detach" }
func (*Shutdown) kind() string  { return "shutdown" }

// fresh makes an empty message of a type, nil for an unknown one.
func fresh(kind string) Message {
	for _, m := range []Message{
		&Hello{}, &Event{}, &Delta{}, &Inquiry{}, &Answered{}, &Refused{}, &Status{}, &Activity{}, &Notice{}, &Queued{}, &Closing{},
		&Attach{}, &Answer{}, &Interrupt{}, &Say{}, &Resize{}, &Detach{}, &Shutdown{},
	} {
		if m.kind() == kind {
			return m
		}
	}
	return nil
}

// Encode writes a message as one line. It is [ErrTooLong] for one that is longer than a frame.
func Encode(m Message) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode a message of type %s: %w", m.kind(), err)
	}
	fields := b.Bytes()[1:] // behind the brace
	line := []byte(`{"type":"` + m.kind() + `"`)
	if fields[0] != '}' {
		line = append(line, ',')
	}
	line = append(line, fields...)
	if len(line) > MaxFrame {
		return nil, fmt.Errorf("encode a message of type %s: %w", m.kind(), ErrTooLong)
	}
	return line, nil
}

// Decode reads one line. It is nil without an error for an unknown type, and [ErrGarbled] for an invalid
// message. Of a hello or attach in another version only the version is sure to be set.
func Decode(line []byte) (Message, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Type == nil {
		return nil, fmt.Errorf("%w: %.40q", ErrGarbled, line)
	}
	m := fresh(*head.Type)
	if m == nil {
		return nil, nil
	}
	if err := json.Unmarshal(line, m); err != nil && !foreign(m, err) {
		return nil, fmt.Errorf("%w: type %s: %w", ErrGarbled, *head.Type, err)
	}
	return m, nil
}

// foreign reports whether a message with a field of the wrong type names another
// version, in which the field may have that type.
func foreign(m Message, err error) bool {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return false
	}
	v := 0
	switch m := m.(type) {
	case *Hello:
		v = m.V
	case *Attach:
		v = m.V
	}
	return v != 0 && v != Version
}
