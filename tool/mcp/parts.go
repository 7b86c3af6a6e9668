package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// readable replaces each unreadable part of a call's answer by a text that names it, so that the parts beside
// it remain. The protocol adds kinds of parts from time to time. A value in the place of a list of parts
// counts as the only part, and unreadable fields are left out. mended is false if the answer can stay as it
// is, or is of another request.
func readable(result json.RawMessage) (_ json.RawMessage, mended bool) {
	if json.Unmarshal(result, new(sdk.CallToolResult)) == nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil || fields["content"] == nil && fields["isError"] == nil {
		return nil, false
	}
	var parts []json.RawMessage
	if content := fields["content"]; content != nil && json.Unmarshal(content, &parts) != nil {
		parts = []json.RawMessage{content}
	}
	for i, part := range parts {
		err := readPart(part)
		if err == nil {
			continue
		}
		if bare := peel(part); readPart(bare) == nil {
			parts[i] = bare
			continue
		}
		text, failed := json.Marshal(&sdk.TextContent{Text: unread(part, err)})
		if failed != nil {
			return nil, false
		}
		parts[i] = text
	}
	kept := map[string]any{"content": append([]json.RawMessage{}, parts...)}
	for name, value := range fields {
		switch {
		case name == "content":
		case readField(name, value) == nil:
			kept[name] = value
		case name == "isError":
			kept[name] = !slices.Contains([]string{`"false"`, `""`, "0"}, string(value))
		}
	}
	again, err := json.Marshal(kept)
	return again, err == nil
}

// readField is the error of reading one field of an answer.
func readField(name string, value json.RawMessage) error {
	alone, err := json.Marshal(map[string]json.RawMessage{"content": json.RawMessage("[]"), name: value})
	if err != nil {
		return err
	}
	return json.Unmarshal(alone, new(sdk.CallToolResult))
}

// readPart is the error of reading one part.
func readPart(part json.RawMessage) error {
	alone, err := json.Marshal(map[string]any{"content": []json.RawMessage{part}})
	if err != nil {
		return err
	}
	return json.Unmarshal(alone, new(sdk.CallToolResult))
}

// peel is a part without the prefix data:TYPE;base64, before its data.
func peel(part json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(part, &fields) != nil {
		return part
	}
	for _, key := range []string{"data", "blob", "resource"} {
		var text string
		if json.Unmarshal(fields[key], &text) == nil {
			if before, data, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(before, "data:") {
				fields[key], _ = json.Marshal(strings.TrimSpace(data))
			}
		} else if key == "resource" && fields[key] != nil {
			fields[key] = peel(fields[key])
		}
	}
	if bare, err := json.Marshal(fields); err == nil {
		return bare
	}
	return part
}

// kinds are the types of parts that jp reads.
var kinds = map[string]bool{"text": true, "image": true, "audio": true, "resource": true, "resource_link": true}

// unread names an unreadable part and adds its text. A bare string, number or boolean stands for itself.
func unread(part json.RawMessage, why error) string {
	var value any
	switch err := json.Unmarshal(part, &value); value := value.(type) {
	case string:
		return value
	case float64, bool:
		if err == nil {
			return string(part)
		}
	}
	var p struct{ Type, Text string }
	var fields map[string]json.RawMessage
	if json.Unmarshal(part, &fields) == nil {
		_ = json.Unmarshal(fields["type"], &p.Type)
		_ = json.Unmarshal(fields["text"], &p.Text)
	}
	name, reason := words(p.Type), words(why.Error())
	if strings.Contains(reason, " into Go ") {
		reason = "a field has another type than the protocol says"
	}
	switch {
	case name == "":
		name = "[left out: a part without a type]"
	case kinds[p.Type]:
		name = fmt.Sprintf("[left out: a part of the type %q that cannot be read: %s]", name, reason)
	default:
		name = fmt.Sprintf("[left out: a part of the type %q, which jp does not know]", name)
	}
	if p.Text != "" {
		name += "\n" + p.Text
	}
	return name
}
