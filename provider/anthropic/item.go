package anthropic

import (
	"bytes"
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"jp/provider"
)

// item has the relevant fields of a content block that goes back as it came.
type item struct {
	Type      string               `json:"type"`
	Text      *provider.StreamText `json:"text"`
	Thinking  *provider.StreamText `json:"thinking"`
	Signature string               `json:"signature"`
	Data      string               `json:"data"`
	ID        string               `json:"id"`
	Name      string               `json:"name"`
	Input     json.RawMessage      `json:"input"`
}

func readItem(raw json.RawMessage) (item, bool) {
	var i item
	if len(raw) == 0 || json.Unmarshal(raw, &i) != nil {
		return item{}, false
	}
	return i, i.Type != ""
}

// thinks reports whether the block is one of the two kinds of thinking.
func (i item) thinks() bool { return i.Type == "thinking" || i.Type == "redacted_thinking" }

// whole reports whether a thinking block has the fields that the API requires. Blocks of other types pass
// unread.
func (i item) whole() bool {
	switch i.Type {
	case "thinking":
		return i.Thinking != nil && i.Signature != ""
	case "redacted_thinking":
		return i.Data != ""
	}
	return true
}

// says reports whether the block still has the text to send. Text that the user or jp changed since goes
// without the block.
func (i item) says(b provider.Block) bool {
	switch b.Kind {
	case provider.BlockText:
		return i.Type == "text" && i.Text != nil && string(*i.Text) == b.Text
	case provider.BlockToolCall:
		return i.Type == "tool_use" && i.ID == b.ID && i.Name == b.Name && sameJSON(i.Input, argumentsOf(b))
	}
	return i.whole()
}

// raw is a block of a message that is sent byte for byte.
func raw(block json.RawMessage) sdk.ContentBlockParamUnion {
	return param.Override[sdk.ContentBlockParamUnion](block)
}

// argumentsOf is the object that a tool is called with.
func argumentsOf(b provider.Block) json.RawMessage {
	if len(b.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return b.Arguments
}

// sameJSON reports whether two texts differ at most in the white space between
// their tokens.
func sameJSON(a, b []byte) bool {
	var left, right bytes.Buffer
	return json.Compact(&left, a) == nil && json.Compact(&right, b) == nil && bytes.Equal(left.Bytes(), right.Bytes())
}

// startsThinking reports whether a message begins with thinking that can be
// sent.
func startsThinking(m provider.Message) bool {
	for _, b := range m.Blocks {
		i, ok := readItem(b.Item)
		if b.Kind == provider.BlockReasoning && !(ok && i.whole()) {
			continue
		}
		return b.Kind == provider.BlockReasoning && i.thinks()
	}
	return false
}
