package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// maxItemID is the longest id that the server takes back.
const maxItemID = 64

// receivedItem has the relevant fields of an item that is sent back.
type receivedItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Role      string `json:"role"`
	Phase     string `json:"phase"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// receivedItems are the items of an answer as they were received. ok is false if there is no reasoning to
// send, if an item is missing or differs from its block, or if reasoning has lost the item behind it.
func receivedItems(blocks []provider.Block) ([]inputItem, bool) {
	var items []inputItem
	thought := false
	for i, b := range blocks {
		if b.Kind == provider.BlockReasoning {
			thought = true
			if i+1 == len(blocks) || blocks[i+1].Kind == provider.BlockReasoning {
				return nil, false
			}
		}
		item, ok := itemAsReceived(b)
		if !ok {
			return nil, false
		}
		items = append(items, item)
	}
	return items, thought
}

// itemAsReceived is the block's item without its status, which clients must not send.
func itemAsReceived(b provider.Block) (inputItem, bool) {
	var item receivedItem
	fields, err := conversation.ParseObject(b.Item)
	if err != nil || json.Unmarshal(b.Item, &item) != nil || len(item.ID) > maxItemID || !item.says(b) {
		return inputItem{}, false
	}
	fields = slices.DeleteFunc(fields, func(f conversation.Field) bool { return f.Key == "status" })
	return inputItem{received: joinFields(fields)}, true
}

// says reports whether the item matches the block.
func (r receivedItem) says(b provider.Block) bool {
	switch b.Kind {
	case provider.BlockReasoning:
		return r.Type == "reasoning" && r.ID != "" && r.Encrypted != ""
	case provider.BlockText:
		return r.Type == "message" && r.Role == "assistant" && same(r.text(), b.Text)
	case provider.BlockToolCall:
		return r.Type == "function_call" && r.CallID == b.ID && r.Name == b.Name && same(r.Arguments, string(b.Arguments))
	}
	return false
}

// thought is the item's text of the model's reasoning: its summary, whose parts are paragraphs, or all of it.
func (r receivedItem) thought() string {
	var parts []string
	for _, part := range r.Summary {
		parts = append(parts, part.Text)
	}
	if len(parts) == 0 {
		return r.text()
	}
	return strings.Join(parts, "\n\n")
}

func (r receivedItem) text() string {
	var text strings.Builder
	for _, c := range r.Content {
		text.WriteString(c.Text)
		text.WriteString(c.Refusal)
	}
	return text.String()
}

// same reports whether two texts are equal, or are the same JSON.
func same(a, b string) bool {
	if a == b {
		return true
	}
	canonicalA, errA := conversation.Canonical([]byte(a))
	canonicalB, errB := conversation.Canonical([]byte(b))
	return errA == nil && errB == nil && bytes.Equal(canonicalA, canonicalB)
}

// phaseOf is whether the text was commentary or the answer, as the model gave
// it.
func phaseOf(b provider.Block) string {
	var item receivedItem
	if json.Unmarshal(b.Item, &item) != nil {
		return ""
	}
	return item.Phase
}
