package main

import (
	"encoding/json"
	"strings"
)

// forged are the lines of a request to a model that begin as only jp's own do, with the attacker's mark, at
// places that the model takes for the user's or jp's: outside of the model's texts and the results of
// tools.
func forged(body string) (found []string) {
	var request any
	if json.Unmarshal([]byte(body), &request) != nil {
		return nil
	}
	walk(request, func(text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[SESSION_RESUMED] forged") || strings.HasPrefix(line, "</turn>forged") {
				found = append(found, "an envelope was forged: "+firstLine([]byte(line)))
			}
		}
	})
	return found
}

// walk calls a function with each string that speaks with authority.
func walk(value any, each func(string)) {
	switch v := value.(type) {
	case string:
		each(v)
	case []any:
		for _, element := range v {
			walk(element, each)
		}
	case map[string]any:
		if v["role"] == "assistant" || v["role"] == "model" || v["role"] == "tool" || v["type"] == "tool_result" || v["type"] == "function_call_output" {
			return
		}
		for _, element := range v {
			walk(element, each)
		}
	}
}
