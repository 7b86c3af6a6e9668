package turnloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// An output is a result as jp records it.
type output struct {
	sent  string                  // for the model
	whole *conversation.Truncated // measure of the whole, if it is more
	rest  []conversation.Draft    // jp's payloads beside the message, if it is more
	cut   bool                    // sent lacks a part of the readable text
}

// outputOf cuts a tool's output to at most so many bytes, and keeps all of it up to
// [tool.Limit]. It looks for secrets before it cuts anything, and cuts the output of a program
// as a terminal shows it. event is the number of the event that will have it, if the model can
// read it.
func outputOf(name string, content []byte, whole *conversation.Truncated, most int, redact func(string) string, event int, canRead bool) output {
	if len(content) <= most {
		return output{sent: string(content), whole: whole}
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(content), "\uFFFD"), "\x00", "\u2400")
	if redact != nil {
		text = redact(text)
	}
	if whole == nil {
		whole = tool.Whole([]byte(text))
	}
	kept, _ := tool.Truncate([]byte(text), tool.Limit)
	read := []byte(toRead(name, string(kept)))
	sent := tool.Shorten(read, most, func(g tool.Gap) string {
		how := ""
		if canRead {
			how = fmt.Sprintf(" %s reads them: event %d, first_line %d", tool.EventRead, event, g.First)
			if g.Skip > 0 {
				how += fmt.Sprintf(", skip_bytes %d", g.Skip)
			}
			how += "."
		}
		return fmt.Sprintf("[jp left out lines %d to %d here, %s.%s]", g.First, g.Last, conversation.Count(int(g.Bytes), "byte"), how)
	})
	return output{sent: string(sent), whole: whole, cut: len(read) > most, rest: []conversation.Draft{conversation.WithPayload(conversation.Payload{
		Name: conversation.PayloadOutput, MediaType: "text/plain", Data: kept,
	})}}
}

// toRead is the result of a tool as the model reads it.
func toRead(name, text string) string {
	if conversation.Exact(name) {
		return text
	}
	return safetext.Shown(text)
}

var (
	errNoEvent  = errors.New("this conversation has no event of this number that can be read")
	errDiscard  = errors.New("the event is in a turn that the user discarded")
	errWithheld = errors.New("the result was not released to the model")
	errAbsent   = errors.New("the text of the event is not in this repository")
)

// readable finds the text of an event as the model may read it: a message, the arguments
// of a call, or the whole output of a tool. It is for one goroutine; events are those at
// the time of the call.
func readable(events []*conversation.Event, payload func(context.Context, conversation.Payload) ([]byte, bool, error)) func(context.Context, int) (tool.EventText, error) {
	return func(ctx context.Context, seq int) (tool.EventText, error) {
		for turn := range conversation.Turns(events) {
			for _, e := range turn.Events {
				if e.Seq != seq {
					continue
				}
				found, err := readableIn(turn.Ledger(), e)
				if err != nil {
					return tool.EventText{}, err
				}
				whole := cmp.Or(e.Payload(conversation.PayloadOutput), e.Payload(conversation.PayloadText))
				if whole == nil {
					return found, nil
				}
				data, here, err := payload(ctx, *whole)
				if err == nil && !here {
					err = errAbsent
				}
				if found.Text = string(data); e.Type() == conversation.TypeToolCallResponse {
					found.Text = toRead(e.Body.(*conversation.ToolCallResponse).Name, found.Text)
				}
				return found, err
			}
		}
		return tool.EventText{}, errNoEvent
	}
}

func readableIn(ledger *conversation.Ledger, e *conversation.Event) (tool.EventText, error) {
	if ledger.Discarded {
		return tool.EventText{}, errDiscard
	}
	text, _ := e.Text()
	switch b := e.Body.(type) {
	case *conversation.ChatRequest:
		return tool.EventText{Of: "message of the user", Text: text}, nil
	case *conversation.ChatResponse:
		return tool.EventText{Of: "answer", Text: text}, nil
	case *conversation.ToolCallRequest:
		return tool.EventText{Of: "arguments of " + b.Name, Text: text}, nil
	case *conversation.ToolCallResponse:
		call := ledger.ToolCall(b.For)
		if call == nil {
			return tool.EventText{}, errNoEvent
		}
		if how, _ := call.Delivery(); how != conversation.Delivered {
			return tool.EventText{}, errWithheld
		}
		return tool.EventText{Of: "result of " + b.Name, Text: toRead(b.Name, text)}, nil
	}
	return tool.EventText{}, errNoEvent
}
