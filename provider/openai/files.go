package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"jp/provider"
)

// A partKind is what a part of a message is.
type partKind int

const (
	partText partKind = iota
	partImage
	partDocument
)

// A part is a piece of a message as both APIs understand it.
type part struct {
	kind  partKind
	text  string // of a text
	name  string // of a file
	media string // of a file
	data  []byte // of a file
}

// partOf is the part that a block becomes. A file that the model cannot read is
// named by a text.
func (l Lacks) partOf(b provider.Block) part {
	if b.Kind != provider.BlockFile {
		return part{text: b.Text}
	}
	p := part{name: b.Name, media: mediaType(b), data: b.Data}
	switch {
	case isImage(p) && !l.Images:
		p.kind = partImage
	case isPDF(p) && !l.Files:
		p.kind = partDocument
	case isText(p):
		return part{text: fmt.Sprintf("File %s:\n%s", quoted(p.name), p.data)}
	default:
		return p.described()
	}
	return p
}

// described is a text in the place of a file.
func (p part) described() part {
	if p.kind == partText && p.data == nil {
		return p
	}
	media := or(p.media, "unknown type")
	return part{text: fmt.Sprintf("[file %s (%s), %d bytes, cannot be shown to this model]", quoted(p.name), media, len(p.data))}
}

// url is the file as a data URL.
func (p part) url() string {
	return "data:" + p.media + ";base64," + base64.StdEncoding.EncodeToString(p.data)
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

// isImage reports whether the file is of a type that models read and its bytes
// are what it claims.
func isImage(p part) bool {
	switch p.media {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return sniffed(p.data) == p.media
	}
	return false
}

func isPDF(p part) bool {
	return p.media == "application/pdf" && sniffed(p.data) == p.media
}

// isText reports whether the file is text, whatever it claims to be; only what
// claims to be a picture or a PDF never is, unless it is drawn with words.
func isText(p part) bool {
	picture := strings.HasPrefix(p.media, "image/") && p.media != "image/svg+xml"
	if picture || p.media == "application/pdf" {
		return false
	}
	return utf8.Valid(p.data) && !strings.ContainsRune(string(p.data), 0)
}

// quoted is a name as a JSON string, so that it cannot pass for anything else.
func quoted(name string) string {
	text, err := json.Marshal(name)
	if err != nil {
		return `"?"`
	}
	return string(text)
}

// origin is the line before a file that a tool returned, since neither API
// keeps the two together.
func origin(kind partKind, tool, id string) part {
	what := "File"
	if kind == partImage {
		what = "Image"
	}
	return part{text: fmt.Sprintf("%s from %s, result of %s:", what, tool, id)}
}

// joined are the texts of the parts, parted by a blank line.
func joined(parts []part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.described().text
	}
	return strings.Join(texts, "\n\n")
}

func onlyText(parts []part) bool {
	for _, p := range parts {
		if p.kind != partText {
			return false
		}
	}
	return true
}
