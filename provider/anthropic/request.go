package anthropic

import (
	"bytes"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"jp/provider"
)

// paramsOf renders a request for a model. Equal requests give equal bytes, with any content of known.
func paramsOf(r *provider.Request, m model, o Options, known *contents) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: r.Model, MaxTokens: m.maxTokens(o.MaxTokens)}
	messages := wholeAnswers(r.Messages)
	p.Thinking, p.OutputConfig.Effort = thinkingOf(m, o.Thinking, p.MaxTokens, messages)
	thinks := p.Thinking.OfAdaptive != nil || p.Thinking.OfEnabled != nil
	if m.Thinking != thinkingNone && !thinks {
		messages = withoutLastThinking(messages)
	}
	if o.Temperature != nil && m.Sampling && !thinks {
		p.Temperature = sdk.Float(*o.Temperature)
	}
	if !blank(r.System) {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	p.Tools = toolsOf(r.Tools)
	if r.NoTools && len(p.Tools) > 0 {
		none := sdk.NewToolChoiceNoneParam()
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &none}
	}
	if len(r.Schema) > 0 {
		p.OutputConfig.Format = formatOf(r.Schema)
	}
	p.Messages = messagesOf(messages, m, known)
	mark(&p, o.fixedLife())
	return p
}

// thinkingOf is the setting of the model's thinking. If the turn resumes behind an answer whose thinking is
// lost, a model with a budget would refuse the request, so it does not think until the turn ends.
func thinkingOf(m model, want Effort, maxTokens int64, all []provider.Message) (sdk.ThinkingConfigParamUnion, sdk.OutputConfigEffort) {
	var none sdk.ThinkingConfigParamUnion
	switch m.Thinking {
	case thinkingManual:
		budget := min(want.budget(), maxTokens/2)
		if want == EffortOff || budget < leastBudget || midTurn(all) && !startsThinking(all[lastAnswer(all)]) {
			return none, ""
		}
		return sdk.ThinkingConfigParamOfEnabled(budget), ""
	case thinkingAdaptive:
		if want != EffortOff {
			return adaptive(m), sdk.OutputConfigEffort(want.upTo(m.Effort))
		}
		switch m.Off {
		case offDisable:
			disabled := sdk.NewThinkingConfigDisabledParam()
			return sdk.ThinkingConfigParamUnion{OfDisabled: &disabled}, ""
		case offNever:
			return adaptive(m), sdk.OutputConfigEffort(EffortLow.upTo(m.Effort))
		}
	}
	return none, ""
}

// leastBudget is the fewest tokens that the API lets a model think.
const leastBudget = 1024

func adaptive(m model) sdk.ThinkingConfigParamUnion {
	config := &sdk.ThinkingConfigAdaptiveParam{}
	if m.Hidden {
		config.Display = sdk.ThinkingConfigAdaptiveDisplaySummarized
	}
	return sdk.ThinkingConfigParamUnion{OfAdaptive: config}
}

func toolsOf(tools []provider.Tool) []sdk.ToolUnionParam {
	var all []sdk.ToolUnionParam
	for _, t := range tools {
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](parameters(t.Parameters))}
		if !blank(t.Description) {
			tool.Description = sdk.String(t.Description)
		}
		all = append(all, sdk.ToolUnionParam{OfTool: tool})
	}
	return all
}

// mark sets the four places up to which a prefix of the request is cached. The fixed part lives longer: the
// tools with the system prompt, and the first message of the user, which begins with the instructions. The last two messages
// of the user move on, so that the next request still finds one of them.
func mark(p *sdk.MessageNewParams, fixed sdk.CacheControlEphemeralTTL) {
	long, short := sdk.NewCacheControlEphemeralParam(), sdk.NewCacheControlEphemeralParam()
	long.TTL = fixed
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = long
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = long
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0; i-- {
		first := i == 0 // a conversation begins with a message of the user
		if p.Messages[i].Role != sdk.MessageParamRoleUser || left == 0 && !first {
			continue
		}
		control := short
		if first {
			control = long // a longer one behind a shorter one is refused by the API
		}
		content := slices.Clone(p.Messages[i].Content)
		content[len(content)-1] = marked(content[len(content)-1], control)
		p.Messages[i].Content = content
		left = max(0, left-1)
	}
}

// marked is a copy of a block with a mark of the cache, since other requests share the block. A block without
// a field for the mark stays as it is.
func marked(block sdk.ContentBlockParamUnion, control sdk.CacheControlEphemeralParam) sdk.ContentBlockParamUnion {
	switch {
	case block.OfText != nil:
		copied := *block.OfText
		block.OfText = &copied
	case block.OfToolResult != nil:
		copied := *block.OfToolResult
		block.OfToolResult = &copied
	case block.OfImage != nil:
		copied := *block.OfImage
		block.OfImage = &copied
	case block.OfDocument != nil:
		copied := *block.OfDocument
		block.OfDocument = &copied
	default:
		return block
	}
	*block.GetCacheControl() = control
	return block
}

// fixedLife is how long the fixed part is cached. Only Anthropic's own address surely knows the longer life.
func (o Options) fixedLife() sdk.CacheControlEphemeralTTL {
	switch {
	case o.CacheLife == "5m":
		return ""
	case o.CacheLife == "1h", o.BaseURL == "", o.BaseURL == usualURL:
		return sdk.CacheControlEphemeralTTLTTL1h
	}
	return ""
}

// body is the body of a streaming request. lists holds the JSON of earlier requests.
func body(p sdk.MessageNewParams, lists *provider.EncodedLists[sdk.MessageParam]) (provider.EncodedBody, error) {
	return lists.Body(p.Messages, provider.Encoding[sdk.MessageParam]{
		Whole: func(messages []sdk.MessageParam) ([]byte, error) {
			p.Messages = messages
			return encode(p)
		},
		One: func(m sdk.MessageParam) ([]byte, error) {
			message, err := m.MarshalJSON()
			return withoutHTMLEscapes(message), err
		},
		Same: func(a, b sdk.MessageParam) bool {
			return a.Role == b.Role && len(a.Content) == len(b.Content) && len(a.Content) > 0 && &a.Content[0] == &b.Content[0]
		},
		Stub: sdk.NewUserMessage(sdk.NewTextBlock("jp: the messages, 7b1f0c52e9d34a68")),
	})
}

func encode(p sdk.MessageNewParams) ([]byte, error) {
	body, err := p.MarshalJSON()
	if err != nil {
		return nil, err
	}
	// The params lack a field for it. The body is an object with other keys.
	body = append(bytes.TrimSuffix(body, []byte("}")), `,"stream":true}`...)
	return withoutHTMLEscapes(body), nil
}

// withoutHTMLEscapes undoes the SDK encoder's escapes of angle brackets and ampersands, so that blocks go
// back with the bytes with which they came. It works in place.
func withoutHTMLEscapes(body []byte) []byte {
	out := body[:0]
	for len(body) > 0 {
		at := bytes.IndexByte(body, '\\')
		if at < 0 || at+1 >= len(body) {
			break
		}
		out = append(out, body[:at]...)
		body = body[at:]
		length, char := 2, byte(0)
		if len(body) >= 6 {
			char = escaped(string(body[:6]))
		}
		if char != 0 {
			out, length = append(out, char), 6
		} else {
			out = append(out, body[:2]...)
		}
		body = body[length:]
	}
	return append(out, body...)
}

// escaped is the character of an HTML escape, 0 for any other text.
func escaped(sequence string) byte {
	switch sequence {
	case `\u003c`:
		return '<'
	case `\u003e`:
		return '>'
	case `\u0026`:
		return '&'
	}
	return 0
}
