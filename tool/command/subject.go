package command

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
)

// subjectLength is how many characters of an argument a subject keeps.
const subjectLength = 200

// subject returns the subject of a call, on one line: its first text, in the order of the names and required
// ones first, else its only argument.
func subject(parameters map[string]Parameter) func(json.RawMessage) string {
	names := slices.SortedFunc(maps.Keys(parameters), func(a, b string) int {
		if parameters[a].Required != parameters[b].Required {
			return map[bool]int{true: -1, false: 1}[parameters[a].Required]
		}
		return strings.Compare(a, b)
	})
	return func(raw json.RawMessage) string {
		var given map[string]json.RawMessage
		if json.Unmarshal(raw, &given) != nil {
			return ""
		}
		for _, name := range names {
			if text, ok := asText(given[name]); ok {
				return oneLine(text)
			}
		}
		if len(given) == 1 {
			for _, value := range given {
				return oneLine(string(value))
			}
		}
		return ""
	}
}

// asText is the text of a JSON string, unless it is blank.
func asText(value json.RawMessage) (string, bool) {
	var text string
	return text, json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) != ""
}

func oneLine(text string) string {
	return conversation.Shorten(strings.Join(strings.Fields(text), " "), subjectLength)
}
