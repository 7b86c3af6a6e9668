package command

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"jp/conversation"
	"jp/tool"
)

// Bounds of the attachments of an answer. All of them go to the model with each later request of the
// conversation, as text unless they are pictures or PDFs.
const (
	maxAttachments = 16
	maxAttached    = 8 << 20   // bytes, all together
	maxText        = 256 << 10 // bytes of files that go as text, all together
	maxName        = 100       // bytes of a name
)

// An attachmentJSON is a file as an answer has it.
type attachmentJSON struct {
	Name      string  `json:"name"`
	MediaType string  `json:"media_type"`
	Data      *string `json:"data"` // base64
}

func decodeAttachments(text json.RawMessage) ([]tool.Attachment, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var listed []attachmentJSON
	if json.Unmarshal(text, &listed) != nil {
		return nil, errors.New("its attachments are not a list of {name, media_type, data}")
	}
	if len(listed) > maxAttachments {
		return nil, fmt.Errorf("it has %d attachments, and %d is the most", len(listed), maxAttachments)
	}
	var attachments []tool.Attachment
	for i, a := range listed {
		decoded, err := a.decode()
		if err == nil {
			attachments = append(attachments, decoded)
			err = together(attachments)
		}
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i+1, err)
		}
	}
	return attachments, nil
}

// together refuses the last one of a list that is fine by itself.
func together(attachments []tool.Attachment) error {
	size, text, last := 0, 0, attachments[len(attachments)-1]
	for i, a := range attachments {
		if i < len(attachments)-1 && a.Name == last.Name {
			return fmt.Errorf("another one has the name %q", a.Name)
		}
		size += len(a.Data)
		if !strings.HasPrefix(a.MediaType, "image/") && !strings.HasPrefix(a.MediaType, "application/pdf") {
			text += len(a.Data)
		}
	}
	switch {
	case size > maxAttached:
		return fmt.Errorf("all together have more than %d MiB", maxAttached>>20)
	case text > maxText:
		return fmt.Errorf("attachments other than pictures and PDFs have more than %d KiB together", maxText>>10)
	}
	return nil
}

func (a attachmentJSON) decode() (tool.Attachment, error) {
	if err := checkName(a.Name); err != nil {
		return tool.Attachment{}, err
	}
	if a.Data == nil {
		return tool.Attachment{}, errors.New("it has no data")
	}
	data, err := base64.StdEncoding.DecodeString(*a.Data)
	if err != nil {
		return tool.Attachment{}, errors.New("its data is not base64")
	}
	media := a.MediaType
	if media == "" {
		media = http.DetectContentType(data)
	}
	if _, _, err := mime.ParseMediaType(media); err != nil || len(media) > maxName {
		return tool.Attachment{}, fmt.Errorf("its media type is %.40q", media)
	}
	return tool.Attachment{Name: a.Name, MediaType: media, Data: data}, nil
}

// checkName refuses an invalid file name, and names that jp itself uses.
func checkName(name string) error {
	switch name {
	case "":
		return errors.New("it has no name")
	case conversation.PayloadText, conversation.PayloadArguments, conversation.PayloadProvider, conversation.PayloadTools, conversation.PayloadOutput:
		return fmt.Errorf("the name %q is jp's own", name)
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if len(name) > maxName || strings.ContainsFunc(name, unprintable) {
		return fmt.Errorf("invalid name %.40q: want at most %d printable bytes", name, maxName)
	}
	return nil
}
