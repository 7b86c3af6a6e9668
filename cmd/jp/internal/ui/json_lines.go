package ui

import (
	"io"
	"strings"

	"jp/conversation"
)

// WriteEvents writes events of each view as a JSON array, or one per line.
func WriteEvents(w io.Writer, f Format, views []*ScreenView, windows [][]*conversation.Event) error {
	if !f.Structured() {
		return nil
	}
	rows := NewJSONRows(w, f)
	for i, v := range views {
		for _, e := range windows[i] {
			line, err := conversation.ViewJSON(e, v.View.ID, v.View.Incomplete(e))
			if err == nil {
				err = rows.line(string(line))
			}
			if err != nil {
				return err
			}
		}
	}
	return rows.Close()
}

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
