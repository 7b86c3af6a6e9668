package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"jp/provider"
)

// value is a field's raw JSON, nil if it is absent or null.
func value(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// str is a field's text, "" for any other value. Like all text of this package it keeps halves of characters,
// whose other halves may come with the next piece.
func str(raw json.RawMessage) string {
	text, err := provider.DecodeText(raw)
	if err != nil {
		return "" // any other value counts as empty
	}
	return text
}

// content is the content of a delta, split into text and thinking.
type content struct{ text, thinking string }

// contentOf reads content that is a string, or a list of chunks as Mistral's
// reasoning models send it.
func contentOf(raw json.RawMessage) content {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return content{text: str(raw)}
	}
	type textChunk struct {
		Text provider.StreamText `json:"text"`
	}
	var chunks []struct {
		textChunk
		Thinking []textChunk `json:"thinking"`
	}
	var c content
	_ = json.Unmarshal(raw, &chunks) // chunks of other kinds are ignored
	for _, chunk := range chunks {
		c.text += string(chunk.Text)
		for _, thought := range chunk.Thinking {
			c.thinking += string(thought.Text)
		}
	}
	return c
}

// argumentsOf is a piece of arguments. Some servers send an object instead of
// its text.
func argumentsOf(raw json.RawMessage) string {
	if bytes.HasPrefix(raw, []byte("{")) {
		return string(raw)
	}
	return str(raw)
}

// detail has the relevant fields of a server's reasoning detail.
type detail struct {
	Type    string              `json:"type"`
	Index   int                 `json:"index"` // of the text that this is a piece of
	Text    provider.StreamText `json:"text"`
	Summary provider.StreamText `json:"summary"`
	Signed  string              `json:"signature"`
}

// detailText is the text of reasoning details.
func detailText(details []json.RawMessage) string {
	var text strings.Builder
	for _, raw := range details {
		var d detail
		_ = json.Unmarshal(raw, &d) // a detail of another form is ignored
		text.WriteString(string(d.Text))
		text.WriteString(string(d.Summary))
	}
	return text.String()
}

// mergeDetails adds details to those before. Pieces of one text become one detail. Everything else stays as
// it came.
func mergeDetails(details, more []json.RawMessage) []json.RawMessage {
	for _, raw := range more {
		if n := len(details); n > 0 {
			if merged := mergedDetail(details[n-1], raw); merged != nil {
				details[n-1] = merged
				continue
			}
		}
		details = append(details, raw)
	}
	return details
}

// mergedDetail joins two pieces of one text. It returns nil if they are pieces of different texts. A
// signature covers the whole text, so a signed text is complete. Of fields besides the text the later ones
// count.
func mergedDetail(a, b json.RawMessage) json.RawMessage {
	var first, second detail
	if json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return nil
	}
	field, text := "text", first.Text+second.Text
	switch {
	case first.Type != second.Type || first.Index != second.Index || first.Signed != "" && second.Text != "":
		return nil
	case first.Type == "reasoning.summary":
		field, text = "summary", first.Summary+second.Summary
	case first.Type != "reasoning.text":
		return nil
	}
	fields := map[string]any{}
	for _, raw := range []json.RawMessage{a, b} {
		var piece map[string]json.RawMessage
		_ = json.Unmarshal(raw, &piece) // it was read as an object above
		for name, value := range piece {
			if _, there := fields[name]; !there || string(value) != "null" {
				fields[name] = value
			}
		}
	}
	fields[field] = text
	merged, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return merged
}
