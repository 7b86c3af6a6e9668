package anthropic

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/respjson"

	"jp/conversation"
	"jp/provider"
)

// A block is a content block that is being received.
type block struct {
	part      int    // its number among the parts of the answer
	start     string // as it began
	is        item
	kind      provider.ChunkKind
	first     string               // its initial text
	fields    []conversation.Field // as it began, in order
	grown     map[string]*strings.Builder
	citations [][]byte
	lost      bool // a piece came that the block cannot hold
}

// newBlock begins a block. A block of an unknown type is kept like thinking: it has no visible text, and goes
// back as it came.
func newBlock(start string, text provider.ChunkKind) (*block, error) {
	fields, err := conversation.ParseObject(provider.CleanText([]byte(start)))
	if err != nil {
		return nil, err
	}
	is, ok := readItem([]byte(start))
	if !ok {
		return nil, conversation.ErrJSON
	}
	b := &block{start: start, is: is, kind: provider.ChunkReasoning, fields: fields, grown: map[string]*strings.Builder{}}
	switch is.Type {
	case "text":
		b.kind, b.first = text, deref(is.Text)
	case "thinking":
		b.first = deref(is.Thinking)
	case "tool_use":
		b.kind = provider.ChunkToolCall
		if input := string(is.Input); input != "{}" && input != "null" {
			b.first = input
		}
	}
	return b, nil
}

func deref(text *provider.StreamText) string {
	if text == nil {
		return ""
	}
	return string(*text)
}

// extend adds a piece, and returns its visible text.
func (b *block) extend(delta sdk.MessageStreamEventUnionDelta) string {
	switch delta.Type {
	case "text_delta":
		return b.grow("text", "text", decoded(delta.JSON.Text, delta.Text))
	case "thinking_delta":
		return b.grow("thinking", "thinking", decoded(delta.JSON.Thinking, delta.Thinking))
	case "input_json_delta":
		return b.grow("tool_use", "input", decoded(delta.JSON.PartialJSON, delta.PartialJSON))
	case "signature_delta":
		b.grow("thinking", "signature", delta.Signature)
	case "citations_delta":
		b.citations = append(b.citations, []byte(delta.Citation.RawJSON()))
	default:
		b.lost = true
	}
	return ""
}

// decoded is a field's text with halves of characters, which the SDK replaces.
func decoded(field respjson.Field, text string) string {
	if !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	if kept, err := provider.DecodeText(field.Raw()); err == nil {
		return kept
	}
	return text
}

// grow adds a piece to a field that blocks of the given type have, and returns it if the block is one. A
// block of an unknown type may have any field.
func (b *block) grow(of, key, piece string) string {
	switch {
	case b.is.Type == of:
		b.builder(key).WriteString(piece)
		return piece
	case b.is.Type == "text" || b.is.Type == "tool_use" || b.is.thinks():
		b.lost = true
	default:
		b.builder(key).WriteString(piece)
	}
	return ""
}

// builder collects the growing text of a field, from its initial text on.
func (b *block) builder(key string) *strings.Builder {
	if b.grown[key] == nil {
		b.grown[key] = &strings.Builder{}
		if b.is.Type == key { // the text of a text, the thinking of a thinking
			b.grown[key].WriteString(b.first)
			return b.grown[key]
		}
		var was string
		if json.Unmarshal(value(b.fields, key), &was) == nil {
			b.grown[key].WriteString(was)
		}
	}
	return b.grown[key]
}

// item is the block as it goes back, nil if it must not.
func (b *block) item() json.RawMessage {
	fields := b.fields
	for _, key := range []string{"text", "thinking", "signature", "input"} {
		grown := b.grown[key]
		if grown == nil || grown.Len() == 0 {
			continue
		}
		raw := []byte(provider.JoinText(grown.String()))
		if key != "input" {
			raw = quote(string(raw))
		} else if _, err := conversation.ParseObject(raw); err != nil {
			return nil
		}
		fields = with(fields, key, raw)
	}
	if len(b.citations) > 0 {
		fields = with(fields, "citations", array(b.citations))
	}
	whole := object(fields)
	is, ok := readItem(whole)
	if b.lost || !ok || !is.whole() || conversation.CheckJSON(whole) != nil {
		return nil
	}
	return whole
}

// with sets a field, at its place or at the end.
func with(fields []conversation.Field, key string, raw []byte) []conversation.Field {
	all := make([]conversation.Field, 0, len(fields)+1)
	found := false
	for _, f := range fields {
		if f.Key == key {
			f.Raw, found = raw, true
		}
		all = append(all, f)
	}
	if !found {
		all = append(all, conversation.Field{Key: key, Raw: raw})
	}
	return all
}
