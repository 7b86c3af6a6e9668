package google

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"jp/provider"
)

// blobOf is the file of a block where models can look at it: a picture or a
// document whose bytes are what it claims to be, or sound and film.
func blobOf(b provider.Block) (*genai.Blob, bool) {
	if b.Kind != provider.BlockFile {
		return nil, false
	}
	media := mediaType(b)
	switch media {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		if sniffed(b.Data) != media {
			return nil, false
		}
	case "image/heic", "image/heif",
		"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
		"video/mp4", "video/mpeg", "video/mov", "video/quicktime", "video/avi", "video/webm":
	default:
		return nil, false
	}
	return &genai.Blob{MIMEType: media, Data: b.Data}, true
}

// mayBeReturned reports whether a function may return the file.
func mayBeReturned(blob *genai.Blob) bool {
	switch blob.MIMEType {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		return true
	}
	return false
}

func returned(blob *genai.Blob) *genai.FunctionResponsePart {
	return &genai.FunctionResponsePart{
		InlineData: &genai.FunctionResponseBlob{MIMEType: blob.MIMEType, Data: blob.Data},
	}
}

// textOf is the text of a block, or what stands for a file that is no blob: its
// content where it is text, else its name.
func textOf(b provider.Block) string {
	if b.Kind != provider.BlockFile {
		return b.Text
	}
	media := mediaType(b)
	if isText(media, b.Data) {
		return fmt.Sprintf("File %s:\n%s", quoted(b.Name), b.Data)
	}
	return fmt.Sprintf("[file %s (%s), %d bytes, cannot be shown to this model]", quoted(b.Name), media, len(b.Data))
}

// origin is the line before a file that a function returned, where the two do
// not stay together.
func origin(blob *genai.Blob, tool, id string) string {
	what := "File"
	if strings.HasPrefix(blob.MIMEType, "image/") {
		what = "Image"
	}
	return fmt.Sprintf("%s from %s, result of %s:", what, tool, id)
}

// mediaType is the type that the file claims, without parameters; where it
// claims none, the one that its bytes show.
func mediaType(b provider.Block) string {
	claimed, _, err := mime.ParseMediaType(b.MediaType)
	switch {
	case err != nil || claimed == "":
		return sniffed(b.Data)
	case claimed == "image/jpg":
		return "image/jpeg"
	}
	return claimed
}

func sniffed(data []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return media
}

// isText reports whether the file can be read as text. What claims to be a
// picture cannot, unless it is drawn with words.
func isText(media string, data []byte) bool {
	if strings.HasPrefix(media, "image/") && media != "image/svg+xml" {
		return false
	}
	return utf8.Valid(data) && !strings.ContainsRune(string(data), 0)
}

// quoted is a name as a JSON string, so that it cannot pass for anything else.
func quoted(name string) string {
	text, err := json.Marshal(name)
	if err != nil {
		return `"?"`
	}
	return string(text)
}
