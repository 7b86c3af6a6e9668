package web

import (
	"slices"
	"strings"
)

// mostLines are the most lines of a cell in one line of a table.
const mostLines = 10

// mostRepeated are bytes of a cell that are repeated in each row that it spans.
const mostRepeated = 80

// workOfCell bounds how many cells and rows a page has.
const workOfCell = 16

// A table has rows of cells. Text beside them goes before the table.
type table struct {
	rows   [][]cell
	layout bool // it only arranges blocks
	roles  bool // its rows and cells are elements with their roles
	flat   int  // open elements around it that stay on one line
}

type cell struct {
	sink          *sink
	columns, rows int // that it spans
}

// table is the innermost table, nil if there is none or too many are nested.
func (p *page) table() *table {
	if len(p.tables) == 0 {
		return nil
	}
	return p.tables[len(p.tables)-1]
}

// part is the name of an element. One with the role or the style of a part of a table has that part's, if it is in a table of such.
// One with the style of a block has that of a block.
func (p *page) part(t tag) string {
	part := ""
	switch display(t.attrs["style"]) {
	case "table", "inline-table":
		part = "table"
	case "table-row":
		part = "tr"
	case "table-cell":
		part = "td"
	case "block", "flex", "grid", "list-item", "flow-root", "table-caption":
		if !isBlock(t.name) {
			return "div"
		}
	}
	for _, role := range strings.Fields(strings.ToLower(t.attrs["role"])) {
		switch role {
		case "table", "grid", "treegrid":
			part = "table"
		case "row":
			part = "tr"
		case "cell", "gridcell", "columnheader", "rowheader":
			part = "td"
		}
	}
	inside := p.table() != nil && p.table().roles
	switch {
	case part == "", slices.Contains([]string{"table", "tr", "td", "th"}, t.name):
		return t.name
	case part == "table", inside:
		return part
	case isBlock(t.name):
		return t.name
	}
	return "div" // beside the others
}

func (p *page) startTable(e *element, t tag) {
	e.table = true
	var opened *table
	if len(p.tables) < mostTables {
		role := strings.TrimSpace(t.attrs["role"])
		opened = &table{roles: t.name != "table", layout: role == "presentation" || role == "none", flat: p.flat}
		p.flat = 0
	}
	p.tables = append(p.tables, opened)
}

func (p *page) startCell(e *element, t tag) {
	at := p.table()
	if at == nil {
		return
	}
	if len(at.rows) == 0 {
		at.rows = append(at.rows, nil)
	}
	e.cell, e.outer = true, p.out
	p.out = &sink{}
	p.work += workOfCell
	last := &at.rows[len(at.rows)-1]
	*last = append(*last, cell{sink: p.out, columns: number(t.attrs["colspan"], 1, mostSpan), rows: number(t.attrs["rowspan"], 1, mostSpan)})
}

// endTable writes a table: as Markdown, or each cell as a block if it arranges blocks.
func (p *page) endTable() {
	t := p.table()
	p.tables = p.tables[:len(p.tables)-1]
	if t == nil {
		return
	}
	p.flat = t.flat
	rows := slices.DeleteFunc(t.rows, blankRow)
	columns, most := 0, 1
	for _, row := range rows {
		sum := 0
		for _, c := range row {
			sum += c.columns
			most = max(most, 1+strings.Count(string(c.sink.text), "\n"))
		}
		columns = max(columns, sum)
	}
	switch {
	case len(rows) == 0:
	case t.layout || len(rows[0]) <= 1 && columns <= 1 || most > mostLines || most > 1 && len(rows) == 1:
		p.arrange(rows)
	default:
		p.lines(p.grid(rows, columns))
	}
}

// arrange writes each cell as a block, and a rule between rows of several.
func (p *page) arrange(rows [][]cell) {
	for i, row := range rows {
		if i > 0 && (len(row) > 1 || len(rows[i-1]) > 1) {
			p.lines("---")
		}
		for _, c := range row {
			p.gap(gapBlank)
			if len(c.sink.text) > 0 {
				p.verbatim(string(c.sink.text))
			}
		}
	}
	p.gap(gapBlank)
}

// grid is a table of Markdown. The first row is its head.
func (p *page) grid(rows [][]cell, columns int) string {
	var b strings.Builder
	var spanning []struct {
		until int // row
		text  string
	}
	for i, row := range rows {
		b.WriteByte('|')
		column := 0
		put := func(text string) {
			b.WriteString(" " + text + " |")
			column++
			p.work += len(text) + 3
		}
		above := func() {
			for column < len(spanning) && spanning[column].until > i && p.work < mostWork {
				put(spanning[column].text)
			}
		}
		for _, c := range row {
			above()
			text, repeated := oneLine(string(c.sink.text)), ""
			if len(text) <= mostRepeated {
				repeated = text
			}
			for n := range c.columns {
				if p.work >= mostWork {
					p.cut = true
					return b.String()
				}
				if c.rows > 1 {
					for len(spanning) <= column {
						spanning = append(spanning, struct {
							until int
							text  string
						}{})
					}
					spanning[column].until, spanning[column].text = i+c.rows, repeated
				}
				put(text)
				if text = ""; n == 0 {
					repeated = ""
				}
			}
		}
		above()
		for i == 0 && column < columns && p.work < mostWork {
			put("")
		}
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat("---|", column))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// oneLine is the text of a cell for one line of a table.
func oneLine(text string) string {
	var lines []string
	code := ""
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case code != "" && bare == code:
			code = ""
		case code != "" && bare != "":
			lines = append(lines, "`"+strings.TrimRight(line, spaces)+"`")
		case strings.HasPrefix(bare, "```"):
			code = bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		case bare != "" && strings.Trim(bare, "|-") != "":
			lines = append(lines, bare)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "<br>"), "|", `\|`)
}
