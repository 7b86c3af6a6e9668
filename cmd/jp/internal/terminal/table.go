package terminal

import (
	"io"
	"slices"
	"strings"

	"jp/internal/safetext"
)

// gap separates the columns of a table.
const gap = "  "

// A Table prints rows in columns. Its cells are printed as they are, colours
// included: foreign text is cleaned before it becomes a cell.
type Table struct {
	Width    int   // columns to fit into; 0: unaligned, cells separated by tabs
	Flexible int   // index of the column that is cut to fit
	Right    []int // indexes of the columns that are aligned to the right

	rows []row
}

type row struct {
	cells []string
	line  string // in the place of cells
}

// Row adds a row.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		if strings.ContainsAny(cell, "\t\n") {
			cells[i] = strings.Join(strings.FieldsFunc(cell, func(r rune) bool { return r == '\t' || r == '\n' }), " ")
		}
	}
	t.rows = append(t.rows, row{cells: cells})
}

// Line adds a line that belongs to the row before it and does not follow the columns. It is left out
// if tabs separate the cells.
func (t *Table) Line(line string) { t.rows = append(t.rows, row{line: line}) }

// Print writes the table.
func (t *Table) Print(w io.Writer) error {
	var b strings.Builder
	var widths []int
	if t.Width > 0 {
		widths = t.widths()
	}
	for _, r := range t.rows {
		switch {
		case r.cells == nil && t.Width > 0:
			b.WriteString(safetext.Fit(r.line, t.Width) + "\n")
		case r.cells != nil && t.Width > 0:
			b.WriteString(t.align(r.cells, widths) + "\n")
		case r.cells != nil:
			b.WriteString(strings.Join(r.cells, "\t") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Room is how many columns the others leave the flexible one, at most as many as
// the table has.
func (t *Table) Room() int { return t.room(t.natural()) }

func (t *Table) room(natural []int) int {
	others := 0
	for i, width := range natural {
		if i != t.Flexible {
			others += width + len(gap)
		}
	}
	return max(t.Width-others, 0)
}

// widths is how wide each column is: as its widest cell, the flexible one at
// most as wide as the others leave it.
func (t *Table) widths() []int {
	widths := t.natural()
	if t.Flexible < len(widths) {
		widths[t.Flexible] = min(widths[t.Flexible], max(t.room(widths), 1))
	}
	return widths
}

// natural is how wide the widest cell of each column is.
func (t *Table) natural() []int {
	var widths []int
	for _, r := range t.rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], safetext.Columns(cell))
		}
	}
	return widths
}

func (t *Table) align(cells []string, widths []int) string {
	aligned := make([]string, len(cells))
	for i, cell := range cells {
		if i == t.Flexible {
			cell = safetext.Fit(cell, widths[i])
		}
		aligned[i] = pad(cell, widths[i], slices.Contains(t.Right, i))
	}
	return safetext.Fit(strings.TrimRight(strings.Join(aligned, gap), " "), t.Width)
}
