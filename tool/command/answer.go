package command

import (
	"bytes"
	"encoding/json"

	"jp/tool"
)

// The kinds of answer, as programs write them.
const (
	kindSuccess  = "success"
	kindError    = "error"
	kindQuestion = "needs_input"
)

// An answer is a program's output in JSON, in the place of plain text.
type answer struct {
	kind   string
	result tool.Result
}

// decode reads an answer. is reports whether the text is one: a JSON object with a known type and the main
// field of that type. Other programs write JSON, too, so other objects are plain text. An invalid answer
// becomes an error that says so.
func decode(text []byte) (a answer, is bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return answer{}, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return answer{}, false
	}
	kind, _ := asText(fields["type"])
	var about string
	switch kind {
	case kindSuccess:
		a.result, about = decodeSuccess(fields, text), "content"
	case kindError:
		a.result, about = decodeError(fields, text), "message"
	case kindQuestion:
		a.result, about = decodeNeedsInput(fields, text), "question"
	default:
		return answer{}, false
	}
	if _, there := fields[about]; !there && kind != kindQuestion { // the name of this kind is distinct enough
		return answer{}, false
	}
	a.kind = kind
	if kind == kindSuccess && a.result.IsError {
		a.kind = kindError
	}
	return a, true
}

// decodeSuccess reads a result. Content of another type than string stays JSON.
func decodeSuccess(fields map[string]json.RawMessage, text []byte) tool.Result {
	attachments, err := decodeAttachments(fields["attachments"])
	if err != nil {
		return faulty(err, text)
	}
	return tool.Result{Content: textOrJSON(fields["content"]), Attachments: attachments}
}

func decodeError(fields map[string]json.RawMessage, text []byte) tool.Result {
	var transient bool
	_ = json.Unmarshal(fields["transient"], &transient) // anything but true counts as false
	message := textOrJSON(fields["message"])
	if len(bytes.TrimSpace(message)) == 0 {
		return faulty(errNoText, text)
	}
	if transient {
		if message[len(message)-1] != '\n' {
			message = append(message, '\n')
		}
		message = append(message, "[The tool says that this may pass: the same call can be tried again.]\n"...)
	}
	return tool.Result{Content: message, IsError: true}
}

// textOrJSON is a JSON string as text, and any other value as it is written.
func textOrJSON(value json.RawMessage) []byte {
	var text *string
	if json.Unmarshal(value, &text) == nil && text != nil {
		return []byte(*text)
	}
	return bytes.Clone(value)
}
