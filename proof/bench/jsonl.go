package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"jp/conversation"
)

// A line is an event as agents usually keep it: one JSON object in a file. It has the parts of a mix's
// events, without empty ones.
type line struct {
	V         int                 `json:"v"`
	Type      conversation.Type   `json:"type"`
	Turn      int                 `json:"turn"`
	Seq       int                 `json:"seq"`
	Time      time.Time           `json:"time"`
	Model     string              `json:"model,omitempty"`
	JP        string              `json:"jp,omitempty"`
	Call      int                 `json:"call,omitempty"`
	Part      conversation.Part   `json:"part,omitempty"`
	For       int                 `json:"for,omitempty"`
	ID        string              `json:"tool_call_id,omitempty"`
	Name      string              `json:"name,omitempty"`
	Finish    conversation.Finish `json:"finish,omitempty"`
	Usage     *conversation.Usage `json:"usage,omitempty"`
	Duration  int64               `json:"duration_ms,omitempty"`
	Arguments json.RawMessage     `json:"arguments,omitempty"`
	Text      string              `json:"text,omitempty"`
}

// encodeLine is the event with the newline that ends it.
func encodeLine(e *conversation.Event) ([]byte, error) {
	l, err := lineOf(e)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(l)
	return append(out, '\n'), err
}

// lineOf is an event of a mix as a line.
func lineOf(e *conversation.Event) (line, error) {
	l := line{V: conversation.Version, Type: e.Type(), Turn: e.Turn, Seq: e.Seq, Time: e.Time, Model: e.Model}
	switch b := e.Body.(type) {
	case *conversation.TurnStart:
		l.Model, l.JP = b.Model, b.JP
	case *conversation.ChatRequest:
		l.Text = b.Content
	case *conversation.ChatResponse:
		l.Call, l.Part, l.Text, l.Finish, l.Usage = b.Call, b.Part, b.Text, b.Finish, b.Usage
	case *conversation.ToolCallRequest:
		l.Call, l.ID, l.Name, l.Arguments, l.Finish, l.Usage = b.Call, b.ID, b.Name, json.RawMessage(b.Arguments), b.Finish, b.Usage
	case *conversation.ToolCallResponse:
		l.For, l.ID, l.Name, l.Text, l.Duration = b.For, b.ID, b.Name, b.Content, b.DurationMS
	default:
		return line{}, fmt.Errorf("no line for %s", e.Type())
	}
	return l, nil
}

// decodeLine makes the event that encodeLine was given.
func decodeLine(text []byte) (*conversation.Event, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	e := &conversation.Event{Turn: l.Turn, Seq: l.Seq, Time: l.Time, Model: l.Model}
	end := conversation.CallEnd{Finish: l.Finish, Usage: l.Usage}
	switch l.Type {
	case conversation.TypeTurnStart:
		e.Body = &conversation.TurnStart{Model: l.Model, JP: l.JP}
	case conversation.TypeChatRequest:
		e.Body = &conversation.ChatRequest{Content: l.Text}
	case conversation.TypeChatResponse:
		e.Body = &conversation.ChatResponse{Call: l.Call, Part: l.Part, Text: l.Text, CallEnd: end}
	case conversation.TypeToolCallRequest:
		e.Body = &conversation.ToolCallRequest{Call: l.Call, ID: l.ID, Name: l.Name, Arguments: l.Arguments, CallEnd: end}
	case conversation.TypeToolCallResponse:
		e.Body = &conversation.ToolCallResponse{For: l.For, ID: l.ID, Name: l.Name, Content: l.Text, DurationMS: l.Duration}
	default:
		return nil, fmt.Errorf("no event for %s", l.Type)
	}
	return e, nil
}

// writeLines writes a file of events and returns its size.
func writeLines(path string, events []*conversation.Event) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for _, e := range events {
		l, err := encodeLine(e)
		if err != nil {
			return 0, err
		}
		size += int64(len(l))
		if _, err := w.Write(l); err != nil {
			return 0, err
		}
	}
	return size, w.Flush()
}

// readLines reads a file of writeLines.
func readLines(path string) ([]*conversation.Event, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var events []*conversation.Event
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		e, err := decodeLine(lines.Bytes())
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, lines.Err()
}
