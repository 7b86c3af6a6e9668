package command

import (
	"bytes"
	"encoding/json"
	"fmt"

	"jp/tool"
)

// A callJSON is a call as the program gets it.
type callJSON struct {
	Tool      string                     `json:"tool"`
	Arguments json.RawMessage            `json:"arguments"`
	Answers   map[string]json.RawMessage `json:"answers"`
	Attempt   int                        `json:"attempt"`
	Context   contextJSON                `json:"context"`
}

type contextJSON struct {
	Conversation string `json:"conversation"`
	Seq          int    `json:"seq"`
	Workspace    string `json:"workspace"`
}

// stdin is the program's input.
func (c *command) stdin(call tool.Call) ([]byte, error) {
	in := callJSON{
		Tool: c.spec.Name, Arguments: call.Arguments, Answers: call.Answers, Attempt: call.Attempt,
		Context: contextJSON{Conversation: string(call.Conversation), Seq: call.Seq, Workspace: c.root},
	}
	if in.Answers == nil {
		in.Answers = map[string]json.RawMessage{}
	}
	text, err := encode(in)
	if err != nil {
		return nil, fmt.Errorf("write the call of %s: %w", c.spec.Name, err)
	}
	return append(text, '\n'), nil
}

// encode writes a value as JSON, without escaping HTML.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
