package terminal

import (
	"strings"

	extended "github.com/yuin/goldmark/extension/ast"

	"jp/internal/safetext"
)

const (
	divider  = " │ " // between the columns of a Markdown table
	crossing = "─┼─"
	slimmest = 6  // columns that a wide cell is left
	unbroken = 16 // longest word for which a column is kept wide enough
)

// A cell is the text of a cell of a Markdown table.
type cell []span

// table is the lines of a Markdown table: in columns, whose cells are wrapped to
// fit, or else each row as a list of its cells.
func (d *document) table(n *extended.Table, width int) []string {
	rows := d.rows(n)
	widths := fitted(rows, width-(len(rows[0])-1)*safetext.Columns(divider))
	if widths == nil {
		return d.records(rows, width)
	}
	lines := d.row(rows[0], widths, n.Alignments)
	rules := make([]string, len(widths))
	for i, columns := range widths {
		rules[i] = strings.Repeat("─", columns)
	}
	lines = append(lines, strings.Join(rules, crossing))
	for _, row := range rows[1:] {
		lines = append(lines, d.row(row, widths, n.Alignments)...)
	}
	return lines
}

// rows is the cells of a table, the titles first. All rows have as many.
func (d *document) rows(n *extended.Table) [][]cell {
	var rows [][]cell
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		on := look(0)
		if len(rows) == 0 {
			on = bold
		}
		cells := make([]cell, 0, len(n.Alignments))
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, d.inline(c, on))
		}
		rows = append(rows, cells)
	}
	return rows
}

// row lays out one row of cells.
func (d *document) row(cells []cell, widths []int, alignments []extended.Alignment) []string {
	wrapped := make([][]string, len(widths))
	height := 1
	for i := range widths {
		wrapped[i] = d.wrap(cells[i], widths[i])
		height = max(height, len(wrapped[i]))
	}
	lines := make([]string, height)
	for at := range lines {
		parts := make([]string, len(widths))
		for i, columns := range widths {
			text := ""
			if at < len(wrapped[i]) {
				text = wrapped[i][at]
			}
			parts[i] = aligned(text, columns, alignments[i])
		}
		lines[at] = strings.TrimRight(strings.Join(parts, divider), " ")
	}
	return lines
}

func aligned(text string, columns int, alignment extended.Alignment) string {
	if alignment == extended.AlignCenter {
		text = pad(text, (columns+safetext.Columns(text))/2, true)
	}
	return pad(text, columns, alignment == extended.AlignRight)
}

// records shows each row as lines of a title and a cell.
func (d *document) records(rows [][]cell, width int) []string {
	titles, rest := rows[0], rows[1:]
	if len(rest) == 0 {
		titles, rest = make([]cell, len(titles)), rows
	}
	var lines []string
	for _, row := range rest {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		for i, cell := range row {
			if len(cell) > 0 {
				lines = append(lines, d.wrap(d.record(titles[i], cell), width)...)
			}
		}
	}
	return lines
}

func (d *document) record(title, cell cell) []span {
	if len(title) == 0 {
		return cell
	}
	spans := append([]span{}, title...)
	return append(append(spans, span{text: ": "}), cell...)
}

// fitted is how wide the columns are in a room for all: as wide as their cells if possible, else the
// wide ones equally less, but as wide as their words while there is room. It is nil if there is no
// room for the columns.
func fitted(rows [][]cell, room int) []int {
	natural, least := measured(rows)
	if sum(natural) <= room {
		return natural
	}
	if sum(least) > room {
		for i := range least {
			least[i] = min(least[i], slimmest)
		}
	}
	if len(least) == 0 || sum(least) > room {
		return nil
	}
	for left := room - sum(least); left > 0; {
		slim := slimmestOf(least, natural)
		if slim < 0 {
			break
		}
		least[slim]++
		left--
	}
	return least
}

// slimmestOf is the column that is the first to become wider, -1 if all are as
// wide as they need.
func slimmestOf(widths, natural []int) int {
	found := -1
	for i, width := range widths {
		if width < natural[i] && (found < 0 || width < widths[found]) {
			found = i
		}
	}
	return found
}

// measured is how wide the columns are if nothing is wrapped, and if no usual
// word is broken.
func measured(rows [][]cell) (natural, least []int) {
	natural, least = make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			text := shown(cell)
			natural[i] = max(natural[i], safetext.Columns(text), 1)
			for word := range strings.FieldsSeq(text) {
				least[i] = max(least[i], min(safetext.Columns(word), unbroken))
			}
		}
	}
	return natural, least
}

func sum(widths []int) int {
	total := 0
	for _, width := range widths {
		total += width
	}
	return total
}
