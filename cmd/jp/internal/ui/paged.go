package ui

import (
	"cmp"
	"encoding/json"
	"io"

	"jp/cmd/jp/internal/terminal"
)

func WriteJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// Paged writes a long text, through the user's pager on a terminal.
func (e *Env) Paged(write func(io.Writer) error) (err error) {
	w, err := terminal.Page(e.Environ, e.Stdout, !e.NoPager && !e.Format.Structured())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, w.Close()) }()
	return write(e.resultsTo(w))
}
