package provider_test

import (
	"encoding/json"
	"fmt"

	"jp/conversation"
)

// The item of each API with an event of its model, as jp keeps it. Truncated parts have none.

func anthropicItem(e *conversation.Event) json.RawMessage {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		switch {
		case b.Partial || b.Text == "":
		case b.Part == conversation.PartReasoning:
			return object(`{"type":"thinking","thinking":%q,"signature":"sig%d"}`, b.Text, e.Seq)
		default:
			return object(`{"type":"text","text":%q}`, b.Text)
		}
	case *conversation.ToolCallRequest:
		return object(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, b.ID, b.Name, b.Arguments)
	}
	return nil
}

func responsesItem(e *conversation.Event) json.RawMessage {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		switch {
		case b.Partial || b.Text == "":
		case b.Part == conversation.PartReasoning:
			return object(`{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":%q}],"encrypted_content":"gAAA%d"}`, e.Seq, b.Text, e.Seq)
		default:
			return object(`{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%q}]}`, e.Seq, b.Text)
		}
	case *conversation.ToolCallRequest:
		return object(`{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%q}`, e.Seq, b.ID, b.Name, b.Arguments)
	}
	return nil
}

func geminiItem(e *conversation.Event) json.RawMessage {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		switch {
		case b.Partial || b.Text == "":
		case b.Part == conversation.PartReasoning:
			return object(`{"text":%q,"thought":true}`, b.Text)
		case e.Seq%2 == 0:
			return object(`{"text":%q,"thoughtSignature":"c2ln%04d"}`, b.Text, e.Seq)
		default:
			return object(`{"text":%q}`, b.Text)
		}
	case *conversation.ToolCallRequest:
		if e.Seq%2 == 0 { // some servers omit ids
			return object(`{"functionCall":{"name":%q,"args":%s},"thoughtSignature":"c2ln%04d"}`, b.Name, b.Arguments, e.Seq)
		}
		return object(`{"functionCall":{"id":"fc_%d","name":%q,"args":%s},"thoughtSignature":"c2ln%04d"}`, e.Seq, b.Name, b.Arguments, e.Seq)
	}
	return nil
}

// object is an item with its values filled in; texts are written as %q.
func object(format string, values ...any) json.RawMessage {
	for i, v := range values {
		switch v := v.(type) {
		case string:
			values[i] = quotable(v)
		case json.RawMessage:
			values[i] = quotable(v)
		}
	}
	return json.RawMessage(fmt.Sprintf(format, values...))
}

// quotable is a text that %q writes as a JSON string, and %s unquoted.
type quotable string

// Format implements [fmt.Formatter].
func (q quotable) Format(f fmt.State, verb rune) {
	text := []byte(q)
	if verb == 'q' {
		text, _ = json.Marshal(string(q)) // a string is always JSON
	}
	_, _ = f.Write(text)
}
