package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"jp/conversation"
)

// maxBody is the most text of a message, and previewBody the part of a longer text, in
// bytes.
const (
	maxBody     = 64 << 10
	previewBody = 16 << 10
)

// isTrailerValue reports whether a value can stand in a trailer and be found by
// its exact bytes.
func isTrailerValue(value string) bool {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == ':', c == '-':
		default:
			return false
		}
	}
	return len(value) >= 1 && len(value) <= 128
}

// trailers returns the lines at the end of a message, which are for git's
// queries only.
func trailers(e *conversation.Event) string {
	b := append(make([]byte, 0, 128), "Jp-Event: "...)
	b = append(b, trailerType(e.Type())...)
	b = strconv.AppendInt(append(b, "\nJp-Turn: "...), int64(e.Turn), 10)
	b = strconv.AppendInt(append(b, "\nJp-Seq: "...), int64(e.Seq), 10)
	if id := callID(e); isTrailerValue(id) {
		b = append(append(b, "\nJp-Call: "...), id...)
	}
	return string(append(b, '\n'))
}

// trailerType is the type if it can stand in a trailer.
func trailerType(t conversation.Type) string {
	if isTrailerValue(string(t)) {
		return string(t)
	}
	return "unknown"
}

func callID(e *conversation.Event) string {
	switch b := e.Body.(type) {
	case *conversation.ToolCallRequest:
		return b.ID
	case *conversation.ToolCallResponse:
		return b.ID
	}
	return ""
}

// A message is a commit message, with the place of the event's text in it.
type message struct {
	bytes   []byte
	subject string
	span    conversation.Span
	lossy   bool // the text has replacements for bytes that a message cannot have
	cut     bool // the text is only the beginning
}

func compose(e *conversation.Event) message {
	subject, at := subjectOf(e)
	m := message{subject: subject, span: conversation.NoText}
	text, has := e.Text()
	body := ""
	switch {
	case !has:
	case text == "":
		m.span = conversation.Span{At: len(subject)}
	case at >= 0:
		m.span = conversation.Span{At: at, Len: len(text)}
	default:
		body = m.body(text)
		m.span = conversation.Span{At: len(subject) + 2, Len: len(body)}
	}
	m.bytes = layout(subject, body, trailers(e))
	return m
}

// subjectOf is the subject, and the place of the text in it. An event that was read has its subject even if
// that only follows from its body; it is written as it was at first.
func subjectOf(e *conversation.Event) (subject string, at int) {
	subject, at = conversation.SubjectOf(e)
	if e.Subject == "" {
		return subject, at
	}
	bare := *e
	bare.Subject = ""
	if derived, at := conversation.SubjectOf(&bare); derived == subject || derived == e.Subject {
		return derived, at
	}
	return subject, at
}

// body is the text as it can stand in a message.
func (m *message) body(text string) string {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		m.lossy = true
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\u2400")
	}
	if len(text) <= maxBody {
		return text
	}
	m.cut = true
	text = text[:previewBody]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		return text[:i+1]
	}
	return strings.ToValidUTF8(text, "") // a rune that was cut in two
}

func layout(subject, body, trailers string) []byte {
	dst := make([]byte, 0, len(subject)+len(body)+len(trailers)+4)
	dst = append(append(dst, subject...), '\n')
	if body != "" {
		dst = append(dst, '\n')
		dst = append(dst, body...)
		dst = append(dst, '\n')
	}
	return append(append(dst, '\n'), trailers...)
}

// isLayout reports whether layout makes this message of the parts.
func isLayout(msg []byte, subject, body, trailers string) bool {
	parts := []string{subject, "\n\n", body, "\n\n", trailers}
	if body == "" {
		parts = []string{subject, "\n\n", trailers}
	}
	for _, part := range parts {
		if len(msg) < len(part) || string(msg[:len(part)]) != part {
			return false
		}
		msg = msg[len(part):]
	}
	return len(msg) == 0
}

// readText checks that a message is, byte for byte, one that compose could have
// written for the event, and returns its subject and its text.
func readText(msg []byte, e *conversation.Event, span conversation.Span) (subject, text string, err error) {
	line, _, _ := bytes.Cut(msg, []byte{'\n'})
	subject = string(line)
	body := ""
	if _, has := e.Text(); has != (span.At >= 0) && !isUnknown(e) {
		return "", "", fmt.Errorf("%w: a %s with text %v", conversation.ErrDamaged, e.Type(), span.At >= 0)
	}
	if span.At >= 0 {
		if span.At > len(msg) || span.Len > len(msg)-span.At {
			return "", "", fmt.Errorf("%w: the text ends behind the message", conversation.ErrDamaged)
		}
		text = string(msg[span.At : span.At+span.Len])
		if span.At > len(subject) {
			body = text
		}
	}
	ours := utf8.Valid(msg) && bytes.IndexByte(msg, 0) < 0 && len(body) <= maxBody &&
		isLayout(msg, subject, body, ownTrailers(msg, e))
	if !ours || span.At >= 0 && !spanFits(span, subject, body) {
		return "", "", fmt.Errorf("%w: the message is not as jp writes it", conversation.ErrDamaged)
	}
	return subject, text, nil
}

// ownTrailers are the trailers that the message must have. For an unknown type it takes them from the
// message itself.
func ownTrailers(msg []byte, e *conversation.Event) string {
	want := trailers(e)
	if !isUnknown(e) {
		return want
	}
	i := bytes.LastIndex(msg, []byte("\n\n"))
	if i < 0 || !strings.HasPrefix(string(msg[i+2:]), want) {
		return want
	}
	return string(msg[i+2:])
}

func isUnknown(e *conversation.Event) bool {
	_, unknown := e.Body.(*conversation.Unknown)
	return unknown
}

func spanFits(span conversation.Span, subject, body string) bool {
	if body != "" {
		return span.At == len(subject)+2 && span.Len == len(body)
	}
	return span.At+span.Len == len(subject)
}

// hasTrailers reports whether a message ends like one of ours.
func hasTrailers(msg []byte) bool {
	i := bytes.LastIndex(msg, []byte("\n\n"))
	return i >= 0 && bytes.HasPrefix(msg[i+2:], []byte("Jp-Event: "))
}
