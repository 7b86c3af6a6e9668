package google

import (
	"fmt"
	"strings"

	"jp/provider"
)

// blobOf is the file of a block if models can look at it: a picture or a document whose bytes match its
// claimed type, or sound and film.
func blobOf(b provider.Block) (*blob, bool) {
	if b.Kind != provider.BlockFile {
		return nil, false
	}
	media := b.Media()
	switch media {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		if !b.Genuine() {
			return nil, false
		}
	case "image/heic", "image/heif",
		"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
		"video/mp4", "video/mpeg", "video/mov", "video/quicktime", "video/avi", "video/webm":
	default:
		return nil, false
	}
	return &blob{MIMEType: media, Data: b.Data}, true
}

// mayBeReturned reports whether a function may return the file.
func mayBeReturned(b *blob) bool {
	switch b.MIMEType {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		return true
	}
	return false
}

func returned(b *blob) returnedFile { return returnedFile{InlineData: b} }

// textOf is the text of a block, or the text that replaces a file without a blob.
func textOf(b provider.Block) string {
	if b.Kind != provider.BlockFile {
		return b.Text
	}
	return b.InWords()
}

// origin is the line before a file that a function returned, if the file is apart from the result.
func origin(b *blob, tool, id string) string {
	what := "File"
	if strings.HasPrefix(b.MIMEType, "image/") {
		what = "Image"
	}
	return fmt.Sprintf("%s from %s, result of %s:", what, tool, id)
}
