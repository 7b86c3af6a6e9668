package google

import (
	"bytes"
	"encoding/json"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// A receivedPart is a part of an answer: the fields that jp reads, and the raw part.
type receivedPart struct {
	Text             provider.StreamText
	Thought          bool
	ThoughtSignature string
	FunctionCall     *functionCall

	raw json.RawMessage
}

// receivedPartOf reads a part. ok is false if it must not be sent again.
func receivedPartOf(raw json.RawMessage) (receivedPart, bool) {
	p := receivedPart{raw: raw}
	if _, err := conversation.ParseObject(raw); err != nil {
		return p, false
	}
	err := json.Unmarshal(raw, &p)
	return p, err == nil && !strings.ContainsRune(string(p.Text), 0)
}

// blank reports whether the part has neither a call nor text.
func (p receivedPart) blank() bool {
	return p.FunctionCall == nil && strings.TrimSpace(string(p.Text)) == ""
}

// signed is the part, as it came, with a signature.
func (p receivedPart) signed(signature string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(p.raw, &fields) != nil {
		return p.raw
	}
	fields["thoughtSignature"] = json.RawMessage(`"` + signature + `"`)
	raw, err := json.Marshal(fields)
	if err != nil {
		return p.raw
	}
	return raw
}

// itemOf is the state to keep of parts that came one behind the other and are
// one to jp: a part, or a list of them.
func itemOf(parts []receivedPart) json.RawMessage {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0].raw
	}
	list := make([][]byte, len(parts))
	for i, p := range parts {
		list[i] = p.raw
	}
	return json.RawMessage("[" + string(bytes.Join(list, []byte(","))) + "]")
}

// receivedParts reads an item. ok is false if there is none, or if any part of it must not be sent.
func receivedParts(item json.RawMessage) ([]receivedPart, bool) {
	item = bytes.TrimSpace(item)
	if len(item) == 0 {
		return nil, false
	}
	var list []json.RawMessage
	if item[0] != '[' {
		list = append(list, item)
	} else if json.Unmarshal(item, &list) != nil || len(list) == 0 {
		return nil, false
	}
	parts := make([]receivedPart, len(list))
	for i, raw := range list {
		part, ok := receivedPartOf(raw)
		if !ok {
			return nil, false
		}
		parts[i] = part
	}
	return parts, true
}

func raws(parts []receivedPart) []any {
	all := make([]any, len(parts))
	for i, p := range parts {
		all[i] = p.raw
	}
	return all
}

func holdsText(parts []receivedPart) bool {
	for _, p := range parts {
		if !p.blank() && !p.Thought {
			return true
		}
	}
	return false
}

func holdsCall(parts []receivedPart) bool {
	for _, p := range parts {
		if p.FunctionCall != nil {
			return true
		}
	}
	return false
}

// isCallOf reports whether the parts are one call of the function, with an object for its arguments, followed
// by signatures at most.
func isCallOf(parts []receivedPart, name string) bool {
	first := parts[0].FunctionCall
	if first == nil || first.Name != name || len(first.Args) > 0 && first.Args[0] != '{' {
		return false
	}
	for _, p := range parts[1:] {
		if !p.blank() {
			return false
		}
	}
	return true
}
