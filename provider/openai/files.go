package openai

import (
	"encoding/base64"
	"fmt"
	"strings"

	"jp/provider"
)

// A partKind is the kind of a part of a message.
type partKind int

const (
	partText partKind = iota
	partImage
	partDocument
)

// A part is a piece of a message as both APIs understand it.
type part struct {
	kind partKind
	text string         // of a text
	file provider.Block // of anything else
}

// partOf is the part for a block. A text names a file that the model cannot read.
func (l Lacks) partOf(b provider.Block) part {
	switch {
	case b.Kind != provider.BlockFile:
		return part{text: b.Text}
	case isImage(b) && !l.Images:
		return part{kind: partImage, file: b}
	case b.Media() == "application/pdf" && b.Genuine() && !l.Files:
		return part{kind: partDocument, file: b}
	}
	return part{text: b.InWords()}
}

// described is a text in the place of a file.
func (p part) described() part {
	if p.kind == partText {
		return p
	}
	return part{text: p.file.Described()}
}

func (p part) url() string {
	return "data:" + p.file.Media() + ";base64," + base64.StdEncoding.EncodeToString(p.file.Data)
}

// isImage reports whether the file is of a type that models read and its bytes match the type.
func isImage(b provider.Block) bool {
	switch b.Media() {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return b.Genuine()
	}
	return false
}

// origin is the line before a file of a tool, since both APIs separate it from its result.
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
