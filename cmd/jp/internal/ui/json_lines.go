package ui

import (
	"io"
	"strings"

	"jp/conversation"
)

// JSONRows writes values as a JSON array, or one per line.
type JSONRows struct {
	w      io.Writer
	format Format
	wrote  bool
}

// NewJSONRows writes to w.
func NewJSONRows(w io.Writer, format Format) *JSONRows { return &JSONRows{w: w, format: format} }

// Add writes one value.
func (r *JSONRows) Add(value any) error {
	var line strings.Builder
	if err := WriteJSON(&line, value); err != nil {
		return err
	}
	return r.line(strings.TrimSuffix(line.String(), "\n"))
}

// AddEvents writes events of a view.
func (r *JSONRows) AddEvents(v *ScreenView, events []*conversation.Event) error {
	for _, e := range events {
		line, err := conversation.ViewJSON(e, v.View.ID, v.View.Incomplete(e))
		if err == nil {
			err = r.line(string(line))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *JSONRows) line(text string) error {
	switch {
	case r.format == FormatJSONL:
		text += "\n"
	case r.wrote:
		text = ",\n" + text
	default:
		text = "[\n" + text
	}
	r.wrote = true
	_, err := io.WriteString(r.w, text)
	return err
}

// Close ends the array.
func (r *JSONRows) Close() error {
	text := "]\n"
	switch {
	case r.format == FormatJSONL:
		return nil
	case !r.wrote:
		text = "[]\n"
	}
	_, err := io.WriteString(r.w, text)
	return err
}
