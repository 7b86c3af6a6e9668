package attach

import "strings"

// Sizes of texts in messages, in bytes. JSON may make six times as much of them,
// and all texts of a message together must fit a frame.
const (
	longestPiece   = 64 << 10
	longestDetail  = 64 << 10
	longestCommand = 16 << 10
	longestLine    = 4 << 10
)

// cut bounds a text.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// bounded is a question whose texts fit a message. It leaves out answers that do not fit.
func bounded(q Inquiry) Inquiry {
	q.Text, q.Detail = cut(q.Text, longestPiece), cut(q.Detail, longestDetail)
	q.Tool, q.Subject = cut(q.Tool, longestLine), cut(q.Subject, longestLine)
	if size := len(strings.Join(q.Command, " ")); size > longestCommand {
		q.Command = nil // a part of it would be another one
	}
	if _, err := Encode(&q); err != nil {
		q.AnswerType.Options, q.Default = nil, nil
	}
	return q
}
