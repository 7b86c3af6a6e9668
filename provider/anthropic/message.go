package anthropic

import (
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/conversation"
	"jp/provider"
)

// wholeAnswers makes one message of neighbouring answers: the model paused, and
// went on.
func wholeAnswers(all []provider.Message) []provider.Message {
	whole := make([]provider.Message, 0, len(all))
	for _, m := range all {
		n := len(whole)
		if m.Role == conversation.RoleAssistant && n > 0 && whole[n-1].Role == m.Role {
			whole[n-1].Blocks = slices.Concat(whole[n-1].Blocks, m.Blocks)
			continue
		}
		whole = append(whole, m)
	}
	return whole
}

// messagesOf renders a dialogue for a model. Results and the user's words behind them are one message. known
// may be nil. The content is shared with it, and must stay as it is.
func messagesOf(all []provider.Message, m model, known *contents) []sdk.MessageParam {
	messages := make([]sdk.MessageParam, 0, len(all))
	for _, r := range known.of(all, m) {
		role := sdk.MessageParamRoleUser
		if r.role == conversation.RoleAssistant {
			role = sdk.MessageParamRoleAssistant
		}
		if len(r.content) == 0 {
			continue
		}
		if n := len(messages); n > 0 && messages[n-1].Role == role {
			messages[n-1].Content = slices.Concat(messages[n-1].Content, r.content)
			continue
		}
		messages = append(messages, sdk.MessageParam{Role: role, Content: r.content})
	}
	if len(messages) == 0 {
		return nil // the SDK sends an empty list
	}
	return messages
}

func contentOf(m provider.Message) []sdk.ContentBlockParamUnion {
	switch m.Role {
	case conversation.RoleAssistant:
		return replied(m.Blocks)
	case conversation.RoleTool:
		return results(m.Blocks)
	}
	return said(m.Blocks)
}

func replied(blocks []provider.Block) []sdk.ContentBlockParamUnion {
	var content []sdk.ContentBlockParamUnion
	for _, b := range blocks {
		i, ok := readItem(b.Item)
		switch {
		case b.Kind == provider.BlockText && blank(b.Text):
		case ok && i.says(b):
			content = append(content, raw(b.Item))
		case b.Kind == provider.BlockText:
			content = append(content, sdk.NewTextBlock(b.Text))
		case b.Kind == provider.BlockToolCall:
			content = append(content, sdk.NewToolUseBlock(b.ID, argumentsOf(b), b.Name))
		}
	}
	return content
}

// results renders the results of tools, each with its files.
func results(blocks []provider.Block) []sdk.ContentBlockParamUnion {
	var content []sdk.ContentBlockParamUnion
	var last *sdk.ToolResultBlockParam
	for _, b := range blocks {
		switch {
		case b.Kind == provider.BlockResult:
			last = &sdk.ToolResultBlockParam{ToolUseID: b.ID}
			if b.IsError {
				last.IsError = sdk.Bool(true)
			}
			if !blank(b.Text) {
				last.Content = append(last.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: b.Text}})
			}
			content = append(content, sdk.ContentBlockParamUnion{OfToolResult: last})
		case b.Kind == provider.BlockFile && last != nil:
			f := fileOf(b)
			last.Content = append(last.Content, sdk.ToolResultBlockParamContentUnion{OfText: f.text, OfImage: f.image, OfDocument: f.document})
		}
	}
	return content
}

func said(blocks []provider.Block) []sdk.ContentBlockParamUnion {
	var content []sdk.ContentBlockParamUnion
	for _, b := range blocks {
		switch {
		case b.Kind == provider.BlockText && !blank(b.Text):
			content = append(content, sdk.NewTextBlock(b.Text))
		case b.Kind == provider.BlockFile:
			f := fileOf(b)
			content = append(content, sdk.ContentBlockParamUnion{OfText: f.text, OfImage: f.image, OfDocument: f.document})
		}
	}
	return content
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// readable leaves out the thinking that the model would refuse: with a budget, it takes thinking only at the
// beginning of an answer. Such thinking stays out for good, so that sent messages never change.
func (m model) readable(message provider.Message) provider.Message {
	if m.Thinking == thinkingManual && message.Role == conversation.RoleAssistant && !startsThinking(message) {
		return withoutThinking(message)
	}
	return message
}

// withoutLastThinking drops the thinking of the newest answer, since the API refuses it there if the model
// must not think.
func withoutLastThinking(all []provider.Message) []provider.Message {
	at := lastAnswer(all)
	if at < 0 {
		return all
	}
	changed := slices.Clone(all)
	changed[at] = withoutThinking(all[at])
	return changed
}

func withoutThinking(m provider.Message) provider.Message {
	m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b provider.Block) bool {
		i, ok := readItem(b.Item)
		return b.Kind == provider.BlockReasoning && ok && i.thinks()
	})
	return m
}

// lastAnswer is the index of the newest message of the model, else -1.
func lastAnswer(all []provider.Message) int {
	for at, m := range slices.Backward(all) {
		if m.Role == conversation.RoleAssistant {
			return at
		}
	}
	return -1
}

// midTurn reports whether the model continues the turn of its newest answer: it gets the results that it
// waits for, or its own words again.
func midTurn(all []provider.Message) bool {
	at := lastAnswer(all)
	return at >= 0 && (at == len(all)-1 || all[at+1].Role == conversation.RoleTool)
}
