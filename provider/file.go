package provider

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Media is the type that a file claims, without parameters and under its usual
// name; where it claims none, the one that its bytes show.
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

// Genuine reports whether the bytes of a picture or a PDF are what it claims to
// be.
func (b Block) Genuine() bool { return sniffed(b.Data) == b.Media() }

func sniffed(data []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return media
}

// Readable reports whether a file is text, whatever it claims to be; only what
// claims to be a picture or a PDF never is, unless it is drawn with words.
func (b Block) Readable() bool {
	media := b.Media()
	picture := strings.HasPrefix(media, "image/") && media != "image/svg+xml"
	if picture || media == "application/pdf" {
		return false
	}
	return utf8.Valid(b.Data) && !strings.ContainsRune(string(b.Data), 0)
}

// InWords stands for a file where the file itself cannot be sent: its text where
// it has one, else which file it is.
func (b Block) InWords() string {
	if b.Readable() {
		return fmt.Sprintf("File %s:\n%s", quoted(b.Name), b.Data)
	}
	return b.Described()
}

// Described says which file it is that the model cannot be shown.
func (b Block) Described() string {
	return fmt.Sprintf("[file %s (%s), %d bytes, cannot be shown to this model]", quoted(b.Name), b.Media(), len(b.Data))
}
