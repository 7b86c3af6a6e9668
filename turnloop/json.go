package turnloop

import "encoding/json"

// word is a JSON string.
func word(s string) json.RawMessage {
	b, _ := json.Marshal(s)
	return b
}

func asJSON(text json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	return object
}
