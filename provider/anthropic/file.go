package anthropic

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/provider"
)

// Bounds of one file. The API refuses a message above them, and would refuse all later requests of the
// conversation.
const (
	mostImageBytes = 5 << 20  // in base64
	mostImageSide  = 8000     // pixels
	mostFileBytes  = 24 << 20 // of a PDF
)

// A file is a rendered file: exactly one field is set.
type file struct {
	text     *sdk.TextBlockParam
	image    *sdk.ImageBlockParam
	document *sdk.DocumentBlockParam
}

// fileOf renders a file in a form that the API can show to a model: an image, a PDF, or text. For any other
// file, and for a false claim to be one, a text gives the name, the type and the size.
func fileOf(b provider.Block) file {
	media := mediaType(b.MediaType)
	switch {
	case isImage(media) && fitImage(media, b.Data):
		source := sdk.Base64ImageSourceParam{MediaType: sdk.Base64ImageSourceMediaType(media), Data: base64.StdEncoding.EncodeToString(b.Data)}
		return file{image: &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &source}}}
	case media == "application/pdf" && bytes.HasPrefix(b.Data, []byte("%PDF-")) && len(b.Data) <= mostFileBytes:
		source := sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(b.Data)}
		return file{document: &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfBase64: &source}}}
	case isImage(media) || media == "application/pdf" || !isText(media, b.Data):
		return file{text: &sdk.TextBlockParam{Text: "[" + label(b) + ", cannot be shown]"}}
	}
	text := strings.ToValidUTF8(string(b.Data), "\uFFFD")
	return file{text: &sdk.TextBlockParam{Text: "[" + label(b) + "]\n" + strings.ReplaceAll(text, "\x00", "\uFFFD")}}
}

// label names the file. The name is quoted, so that it cannot pass for anything else.
func label(b provider.Block) string {
	media := mediaType(b.MediaType)
	if media == "" {
		media = "of no known type"
	}
	return fmt.Sprintf("file %s, %s, %d bytes", quote(b.Name), media, len(b.Data))
}

// mediaType is the type without its parameters, under its usual name, "" if the declared one is invalid.
func mediaType(declared string) string {
	media, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return ""
	}
	if media == "image/jpg" {
		return "image/jpeg"
	}
	return media
}

// isImage reports whether a file claims to be an image. The API excludes images in XML.
func isImage(media string) bool {
	return strings.HasPrefix(media, "image/") && !strings.HasSuffix(media, "+xml")
}

// fitImage reports whether the bytes are an image of that type and the API
// takes it.
func fitImage(media string, data []byte) bool {
	if http.DetectContentType(data) != media || base64.StdEncoding.EncodedLen(len(data)) > mostImageBytes {
		return false
	}
	var config image.Config
	var err error
	switch media {
	case "image/png":
		config, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		config, err = gif.DecodeConfig(bytes.NewReader(data))
	case "image/webp":
		return true
	default:
		return false
	}
	return err == nil && min(config.Width, config.Height) > 0 && max(config.Width, config.Height) <= mostImageSide
}

// isText reports whether a file claims to be text, or is.
func isText(media string, data []byte) bool {
	return strings.HasPrefix(media, "text/") || utf8.Valid(data) && !bytes.ContainsRune(data, 0)
}
