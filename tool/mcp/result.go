package mcp

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/tool"
)

// Bounds of the attachments of one result.
const (
	maxImage    = 5 << 20
	maxFile     = 5 << 20
	maxAttached = 20 << 20
	maxFiles    = 20
)

// images are the kinds that models are shown.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// A conversion makes a tool's result of a server's, part by part.
type conversion struct {
	text  bytes.Buffer
	said  bool // a part of the answer is text
	files []tool.Attachment
	size  int
}

// convert makes a result of a server's answer. Text stays as it is, and is cut like that of any tool.
// Attachments are bounded, and a line names the omitted ones. A picture has the media type of its bytes.
// Structured content counts only if there is no text, since servers repeat themselves.
func convert(r *sdk.CallToolResult) tool.Result {
	var c conversion
	for _, part := range r.Content {
		c.part(part)
	}
	if r.NeedsInput() {
		c.line("The server asks for input from a person, which jp does not pass on. The call was not completed.")
	}
	if !c.said {
		c.structured(r.StructuredContent)
	}
	if c.text.Len() == 0 && r.IsError {
		c.line("The tool failed, and did not say why.")
	}
	content, whole := tool.Truncate(c.text.Bytes(), tool.Limit)
	return tool.Result{Content: content, Truncated: whole, IsError: r.IsError || r.NeedsInput(), Attachments: c.files}
}

func (c *conversion) part(part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		c.words(p.Text)
	case *sdk.ImageContent:
		c.image(p.Data, p.MIMEType)
	case *sdk.AudioContent:
		c.file("audio", p.Data, p.MIMEType)
	case *sdk.EmbeddedResource:
		c.resource(p.Resource)
	case *sdk.ResourceLink:
		c.line("[link " + words(p.URI, p.Name, p.MIMEType, p.Description) + "]")
	default:
		c.line("[left out: a part of a kind that jp does not know]")
	}
}

// line adds text as a line of its own.
func (c *conversion) line(text string) {
	if n := c.text.Len(); n > 0 && c.text.Bytes()[n-1] != '\n' {
		c.text.WriteByte('\n')
	}
	c.text.WriteString(text)
}

// words adds a text of the server.
func (c *conversion) words(text string) {
	c.said = c.said || strings.TrimSpace(text) != ""
	c.line(text)
}

func (c *conversion) structured(value any) {
	if value == nil {
		return
	}
	if text, err := canonical(value); err == nil {
		c.line(string(text))
	}
}

func (c *conversion) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
		c.line("[left out: an empty resource]")
	case len(r.Blob) > 0 && slices.Contains(images, http.DetectContentType(r.Blob)):
		c.line("[resource " + words(r.URI, r.MIMEType) + "]")
		c.image(r.Blob, r.MIMEType)
	case len(r.Blob) > 0:
		c.line("[resource " + words(r.URI, r.MIMEType) + "]")
		c.file("resource", r.Blob, r.MIMEType)
	default:
		c.line("[resource " + words(r.URI, r.MIMEType) + "]")
		c.words(r.Text)
	}
}

// image attaches a picture. Its bytes determine its type, since a provider refuses a picture with a wrong
// type, and with it the whole conversation.
func (c *conversion) image(data []byte, declared string) {
	media := http.DetectContentType(data)
	switch {
	case !slices.Contains(images, media):
		c.leave("image", declared, len(data), "it is not a PNG, JPEG, GIF or WebP")
	case len(data) > maxImage:
		c.leave("image", declared, len(data), fmt.Sprintf("it has more than %d MiB", maxImage>>20))
	default:
		c.attach("image", strings.TrimPrefix(media, "image/"), media, data)
	}
}

// file attaches a file of any other type.
func (c *conversion) file(kind string, data []byte, media string) {
	media = words(media)
	switch {
	case len(data) == 0:
		c.leave(kind, media, 0, "it is empty")
	case len(data) > maxFile:
		c.leave(kind, media, len(data), fmt.Sprintf("it has more than %d MiB", maxFile>>20))
	default:
		c.attach(kind, "bin", media, data)
	}
}

func (c *conversion) attach(kind, ending, media string, data []byte) {
	if len(c.files) == maxFiles || c.size+len(data) > maxAttached {
		c.leave(kind, media, len(data), fmt.Sprintf("a result has up to %d files with %d MiB together", maxFiles, maxAttached>>20))
		return
	}
	name := fmt.Sprintf("%s-%d.%s", kind, len(c.files)+1, ending)
	c.files, c.size = append(c.files, tool.Attachment{Name: name, MediaType: media, Data: data}), c.size+len(data)
	c.line(fmt.Sprintf("[%s: %s, %d bytes]", name, media, len(data)))
}

func (c *conversion) leave(kind, media string, size int, why string) {
	c.line(fmt.Sprintf("[%s left out, %s, %d bytes: %s]", kind, words(media), size, why))
}

// maxWord is how long a name that a server gives may be.
const maxWord = 2 << 10

// words joins words of a server on one line.
func words(said ...string) string {
	var kept []string
	for _, s := range said {
		s = strings.Join(strings.Fields(clean(s)), " ")
		if s != "" {
			kept = append(kept, strings.ToValidUTF8(s[:min(len(s), maxWord)], ""))
		}
	}
	return strings.Join(kept, ", ")
}
