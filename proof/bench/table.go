package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"unicode/utf8"
)

// Widest cells, which keep the table within 120 columns.
const (
	nameCells  = 36
	rivalCells = 25
)

// A report is all that one run found out.
type report struct {
	Machine  machine      `json:"machine"`
	Places   []filesystem `json:"places"`
	Notes    []string     `json:"notes,omitempty"`
	Rows     []row        `json:"rows"`
	Partial  bool         `json:"partial,omitempty"` // it has only the measurements before the run was ended
	Growth   []growth     `json:"growth,omitempty"`
	Compared []comparison `json:"compared,omitempty"`
}

func (r *report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintln(w, r.Machine)
	for _, p := range r.Places {
		fmt.Fprintln(w, p)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, n)
	}
	if r.Partial {
		fmt.Fprintf(w, "The table is partial: the run ended after %d rows.\n", len(r.Rows))
	}
	fmt.Fprintln(w)
	err := renderTable(w, r.Rows)
	if len(r.Growth) > 0 {
		err = errors.Join(err, renderGrowth(w, r.Growth))
	}
	if r.Compared != nil {
		err = errors.Join(err, renderComparison(w, r.Compared))
	}
	return err
}

// columns aligns cells that are separated by tabs.
func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// renderTable prints rows in columns, and below them the reasons of empty ones.
func renderTable(w io.Writer, rows []row) error {
	t := columns(w)
	fmt.Fprintln(t, "on\trow\tjp\trival\tratio\ttarget\tverdict")
	for _, r := range rows {
		fmt.Fprintln(t, r.cells())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Failed != "" {
			fmt.Fprintf(w, "not measured: %s (%s): %s\n", r.Name, r.On, r.Failed)
		}
	}
	return nil
}

// cells are the columns of a row.
func (r row) cells() string {
	jp, rival := "–", cmp.Or(r.RivalName, "–")
	if r.Failed == "" {
		jp, rival = quantity(r.JP, r.Unit), quantity(r.Rival, r.Unit)+" "+r.RivalName
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", r.On, clipped(r.Name, nameCells), jp, clipped(rival, rivalCells), r.compared(), r.bound(), r.Verdict)
}

// clipped is text of at most n characters.
func clipped(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// failures is an error with the failed measurements, nil if there are none.
func (r *report) failures() error {
	var errs []error
	for _, row := range r.Rows {
		if row.Failed != "" {
			errs = append(errs, fmt.Errorf("%s: %s", row.Name, row.Failed))
		}
	}
	return errors.Join(errs...)
}
