package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"jp/conversation"
)

// repairArguments reads arguments that are damaged but have exactly one reading: another word for empty, an
// object in a JSON string or inside a fence, or the same object several times in a row. It never completes
// truncated arguments.
func repairArguments(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	switch text {
	case "null", "[]":
		return json.RawMessage("{}"), true
	}
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		if strings.TrimSpace(inner) == "null" {
			inner = ""
		}
		return indentObject(inner)
	}
	if fenced, ok := conversation.WithoutFence(text); ok && !blank(fenced) {
		return indentObject(fenced)
	}
	return onceOf(text)
}

// onceOf is the object of which a text consists, several times in a row.
func onceOf(text string) (json.RawMessage, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var first, same []byte
	for n := 0; ; n++ {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) && n > 1 {
			return indentObject(string(first))
		} else if err != nil {
			return nil, false
		}
		canonical, err := conversation.Canonical(value)
		if err != nil || canonical[0] != '{' || n > 0 && !bytes.Equal(same, canonical) {
			return nil, false
		}
		if n == 0 {
			first, same = value, canonical
		}
	}
}
