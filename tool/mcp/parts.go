package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// readable replaces each part of a call's answer that the SDK cannot read by a text
// that names it, so that one such part does not cost the parts beside it. The
// protocol adds kinds of parts from time to time. mended is false where the answer
// can stay as it is, and where its parts are not the reason that it cannot be read.
func readable(result json.RawMessage) (_ json.RawMessage, mended bool) {
	if json.Unmarshal(result, new(sdk.CallToolResult)) == nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	var parts []json.RawMessage
	if json.Unmarshal(result, &fields) != nil {
		return nil, false
	}
	if content := fields["content"]; json.Unmarshal(content, &parts) != nil {
		if len(content) == 0 || content[0] != '{' {
			return nil, false
		}
		parts, mended = []json.RawMessage{content}, true // one part, and no list
	}
	for i, part := range parts {
		err := readPart(part)
		if err == nil {
			continue
		}
		if bare := peel(part); readPart(bare) == nil {
			parts[i], mended = bare, true
			continue
		}
		text, failed := json.Marshal(&sdk.TextContent{Text: unread(part, err)})
		if failed != nil {
			return nil, false
		}
		parts[i], mended = text, true
	}
	if !mended {
		return nil, false
	}
	content, err := json.Marshal(parts)
	if err != nil {
		return nil, false
	}
	fields["content"] = content
	again, err := json.Marshal(fields)
	return again, err == nil
}

// readPart is why one part cannot be read.
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

// unread names a part that cannot be read, and says what it has as text.
func unread(part json.RawMessage, why error) string {
	var p struct{ Type, Text string }
	var fields map[string]json.RawMessage
	if json.Unmarshal(part, &fields) == nil {
		_ = json.Unmarshal(fields["type"], &p.Type)
		_ = json.Unmarshal(fields["text"], &p.Text)
	}
	_ = json.Unmarshal(part, &p.Text) // a text without a type around it
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
