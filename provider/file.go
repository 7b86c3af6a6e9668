package provider

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Media is the type that a file claims, without parameters and under its usual name. Without a claim it is
// the type of its bytes.
func (b Block) Media() string {
	claimed, _, err := mime.ParseMediaType(b.MediaType)
	switch {
	case err != nil || claimed == "":
		return sniffed(b.Data)
	case claimed == "image/jpg":
		return "image/jpeg"
	}
	return claimed
}

// Genuine reports whether the bytes of a picture or a PDF match its claimed type.
func (b Block) Genuine() bool { return sniffed(b.Data) == b.Media() }

func sniffed(data []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return media
}

// Readable reports whether a file is text, with any claimed type. A file that claims to be a picture, other
// than SVG, or a PDF is never text.
func (b Block) Readable() bool {
	media := b.Media()
	picture := strings.HasPrefix(media, "image/") && media != "image/svg+xml"
	if picture || media == "application/pdf" {
		return false
	}
	return utf8.Valid(b.Data) && !strings.ContainsRune(string(b.Data), 0)
}

// InWords replaces a file that cannot be sent: by its text if it has one, else by its description.
func (b Block) InWords() string {
	if b.Readable() {
		return fmt.Sprintf("File %s:\n%s", quoted(b.Name), b.Data)
	}
	return b.Described()
}

// Described is the description of a file that the model cannot be shown.
func (b Block) Described() string {
	return fmt.Sprintf("[file %s (%s), %d bytes, cannot be shown to this model]", quoted(b.Name), b.Media(), len(b.Data))
}
