package google

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

func user(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleUser, Blocks: blocks}
}

func said(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleAssistant, Blocks: blocks}
}

func results(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleTool, Blocks: blocks}
}

func text(text string) provider.Block {
	return provider.Block{Kind: provider.BlockText, Text: text}
}

func reasoning(text string) provider.Block {
	return provider.Block{Kind: provider.BlockReasoning, Text: text}
}

func call(id, name, arguments string) provider.Block {
	return provider.Block{Kind: provider.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

func result(id, name, text string) provider.Block {
	return provider.Block{Kind: provider.BlockResult, ID: id, Name: name, Text: text}
}

func failed(b provider.Block) provider.Block {
	b.IsError = true
	return b
}

func file(id, name, media, data string) provider.Block {
	return provider.Block{Kind: provider.BlockFile, ID: id, Name: name, MediaType: media, Data: []byte(data)}
}

func with(b provider.Block, item string) provider.Block {
	b.Item = json.RawMessage(item)
	return b
}

// canonical is a JSON value in a form that can be compared, numbers and all.
func canonical(t require.TestingT, value []byte) string {
	form, err := conversation.Canonical(value)
	require.NoError(t, err, "%s", value)
	return string(form)
}

func sentBody(t require.TestingT, r *provider.Request, o Options) map[string]json.RawMessage {
	body, err := encodeTwice(r, modelNamed(r.Model), o)
	require.NoError(t, err)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &fields))
	return fields
}

func requireContents(t *testing.T, model, want string, messages ...provider.Message) {
	t.Helper()
	fields := sentBody(t, &provider.Request{Model: model, Messages: messages}, Options{})
	require.Equal(t, canonical(t, []byte(want)), canonical(t, fields["contents"]))
}

const png = "\x89PNG\r\n\x1a\n"
