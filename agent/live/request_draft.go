package live

import (
	"errors"
	"io/fs"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
)

// RequestFile is the file among the drafts that keeps the text of a request until it is recorded. The id is
// "" for a future conversation.
func RequestFile(id conversation.ID) string {
	if id == "" {
		return "new.query"
	}
	return string(id) + ".query"
}

// RequestDraft is the text of an unrecorded request, or "".
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

// picturesFile is the file among the drafts with the pictures of a request, beside that of its text.
func picturesFile(file string) string { return strings.TrimSuffix(file, ".query") + ".pictures" }

// DraftPictures are the pictures that were kept with a draft, as they were given to [KeepDraftPictures].
func DraftPictures(own safefile.StateDir, file string) []byte {
	data, err := own.ReadSealed(repo.DraftsFolder, picturesFile(file))
	if err != nil {
		return nil // there are none
	}
	return data
}

// KeepDraftPictures keeps the pictures of a draft, in place of the last ones. Without any it removes them.
// For the file "" it does nothing.
func KeepDraftPictures(own safefile.StateDir, file string, pictures []byte) error {
	switch {
	case file == "":
		return nil
	case len(pictures) == 0:
		return own.Remove(repo.DraftsFolder, picturesFile(file))
	}
	return own.ReplaceSealed(repo.DraftsFolder, picturesFile(file), pictures, safefile.Options{Volatile: true})
}
