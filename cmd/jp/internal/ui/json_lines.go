package ui

import (
	"fmt"
	"io"
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
