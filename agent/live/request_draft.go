package live

import (
	"errors"
	"io/fs"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
)

// RequestFile is the file among the drafts that keeps the text of a request until it is recorded.
// The id is "" for a conversation that does not exist yet.
func RequestFile(id conversation.ID) string {
	if id == "" {
		return "new.query"
	}
	return string(id) + ".query"
}

// RequestDraft is the text of a request that was not recorded, "" if there is none.
func RequestDraft(own safefile.StateDir, id conversation.ID) (string, error) {
	return KeptDraft(own, RequestFile(id))
}

// KeptDraft is the text of a draft, or that of an editor whose jp was killed.
func KeptDraft(own safefile.StateDir, file string) (string, error) {
	if err := takeEdited(own, file); err != nil {
		return "", err
	}
	text, err := own.ReadSealed(repo.DraftsFolder, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return Asked(string(text)), err
}

// KeepRequest keeps such a text in the place of the last one. An empty text removes it.
func KeepRequest(own safefile.StateDir, id conversation.ID, text string) error {
	return keepRequest(own, RequestFile(id), text)
}

func keepRequest(own safefile.StateDir, file, text string) error {
	if text == "" {
		return own.Remove(repo.DraftsFolder, file)
	}
	return own.ReplaceSealed(repo.DraftsFolder, file, []byte(text+"\n"), safefile.Options{Volatile: true})
}
