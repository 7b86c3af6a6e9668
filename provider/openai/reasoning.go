package openai

import (
	"encoding/json"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// chatState is the data beside text that a server of Chat Completions sends and expects back.
type chatState struct {
	Content   *string           `json:"reasoning_content,omitempty"`
	Reasoning *string           `json:"reasoning,omitempty"`
	Details   []json.RawMessage `json:"reasoning_details,omitempty"`
	Extra     json.RawMessage   `json:"extra_content,omitempty"`
}

// stateOf is the state that a block's item holds, empty if there is none.
func stateOf(b provider.Block) chatState {
	var s chatState
	if len(b.Item) == 0 || json.Unmarshal(b.Item, &s) != nil {
		return chatState{}
	}
	return s
}

// item is the state as an item, nil if it is empty.
func (s chatState) item() json.RawMessage {
	if s.Content == nil && s.Reasoning == nil && len(s.Details) == 0 && len(s.Extra) == 0 {
		return nil
	}
	item, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return item
}

// reasoningBack tells for each message whether its reasoning goes back. A turn's first tool call decides for
// the whole turn, so that messages stay the same when the next turn begins.
func (d Dialect) reasoningBack(messages []provider.Message) []ReasoningBack {
	back := make([]ReasoningBack, len(messages))
	turn := ReasoningNever
	for i, m := range messages {
		switch {
		case d.ReasoningBack != ReasoningToolTurns:
			turn = d.ReasoningBack
		case m.Role == conversation.RoleUser && (i == 0 || messages[i-1].Role == conversation.RoleAssistant):
			turn = ReasoningNever
		case calls(m):
			turn = ReasoningToolTurns
		}
		back[i] = turn
	}
	return back
}

func calls(m provider.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == provider.BlockToolCall {
			return true
		}
	}
	return false
}

// state are the fields of an assistant's message that go back unchanged.
func (d Dialect) state(blocks []provider.Block, back ReasoningBack) map[string]any {
	fields := map[string]any{}
	for _, b := range blocks {
		if b.Kind != provider.BlockText {
			continue
		}
		for name, value := range d.extraContent(b) {
			fields[name] = value
		}
	}
	if details := details(blocks); d.ReasoningDetails && len(details) > 0 {
		fields["reasoning_details"] = details
		return fields
	}
	if back == ReasoningNever {
		return fields
	}
	field, text := d.reasoningText(blocks)
	if back == ReasoningAll { // the server refuses a message without it
		field = d.reasoningField()
		if text == "" {
			text = " "
		}
	}
	if text != "" {
		fields[field] = text
	}
	return fields
}

func details(blocks []provider.Block) []json.RawMessage {
	var all []json.RawMessage
	for _, b := range blocks {
		if b.Kind == provider.BlockReasoning {
			all = append(all, stateOf(b).Details...)
		}
	}
	return all
}

// reasoningText is the reasoning of a message, and the field that it came in.
func (d Dialect) reasoningText(blocks []provider.Block) (field, text string) {
	field = d.reasoningField()
	var all strings.Builder
	for _, b := range blocks {
		if b.Kind != provider.BlockReasoning {
			continue
		}
		switch s := stateOf(b); {
		case s.Content != nil:
			field = "reasoning_content"
			all.WriteString(*s.Content)
		case s.Reasoning != nil:
			field = "reasoning"
			all.WriteString(*s.Reasoning)
		}
	}
	return field, all.String()
}

// extraContent is the block's extra_content as a field, nil if the dialect lacks it.
func (d Dialect) extraContent(b provider.Block) map[string]any {
	extra := stateOf(b).Extra
	if !d.ExtraContent || len(extra) == 0 {
		return nil
	}
	return map[string]any{"extra_content": extra}
}
