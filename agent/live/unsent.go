package live

import (
	"encoding/json"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
)

// unsentFile is the file among the drafts with the unsent text that the user typed at prompts of a
// conversation.
func unsentFile(id conversation.ID) string { return string(id) + ".unsent" }

// mostUnsent is the longest text that is kept, in bytes.
const mostUnsent = 64 << 10

// An Unsent keeps such text, by its prompt. If jp cannot read or write the file, only that text is lost.
type Unsent struct {
	Dir safefile.StateDir
	ID  conversation.ID // "" keeps no text
}

// Keep replaces the text of a prompt. An empty text removes it.
func (u Unsent) Keep(prompt, text string) {
	if u.ID == "" || len(text) > mostUnsent {
		return
	}
	texts := u.texts()
	delete(texts, prompt)
	if text != "" {
		texts[prompt] = text
	}
	if len(texts) == 0 {
		_ = u.Dir.Remove(repo.DraftsFolder, unsentFile(u.ID))
		return
	}
	if data, err := json.Marshal(texts); err == nil {
		_ = u.Dir.ReplaceSealed(repo.DraftsFolder, unsentFile(u.ID), data, safefile.Options{Volatile: true})
	}
}

// Text returns the text of a prompt, "" without one.
func (u Unsent) Text(prompt string) string { return u.texts()[prompt] }

func (u Unsent) texts() map[string]string {
	texts := map[string]string{}
	if u.ID == "" {
		return texts
	}
	data, err := u.Dir.ReadSealed(repo.DraftsFolder, unsentFile(u.ID))
	if err != nil || json.Unmarshal(data, &texts) != nil || texts == nil {
		return map[string]string{}
	}
	return texts
}
