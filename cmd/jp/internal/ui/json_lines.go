package ui

import (
	"fmt"
	"io"
	"strings"
)

// WriteLines writes JSON objects as an array, or one per line.
func WriteLines(w io.Writer, f Format, lines [][]byte) error {
	var err error
	switch f {
	case FormatJSONL:
		for _, line := range lines {
			_, err = fmt.Fprintf(w, "%s\n", line)
		}
	case FormatJSON:
		fmt.Fprint(w, "[")
		for i, line := range lines {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, "\n%s", line)
		}
		_, err = fmt.Fprint(w, "]\n")
	}
	return err
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
	before := ""
	switch {
	case r.format == FormatJSON && r.wrote:
		before = ",\n"
	case r.format == FormatJSON:
		before = "[\n"
	}
	r.wrote = true
	if _, err := io.WriteString(r.w, before); err != nil {
		return err
	}
	var line strings.Builder
	if err := WriteJSON(&line, value); err != nil {
		return err
	}
	text := line.String()
	if r.format == FormatJSON {
		text = strings.TrimSuffix(text, "\n")
	}
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
