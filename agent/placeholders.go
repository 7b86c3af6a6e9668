package agent

import (
	"encoding/json"
	"slices"

	"jp/conversation"
	"jp/redact"
)

// placeholders are those in the texts of a value, of known and unknown secrets.
func placeholders(value json.RawMessage) (held []string) {
	conversation.RewriteJSON(value, func(_, text string) string {
		_, found := redact.Restore(text, func(string) (string, bool) { return "", false })
		held = append(held, found...)
		return text
	})
	return slices.Compact(held)
}
