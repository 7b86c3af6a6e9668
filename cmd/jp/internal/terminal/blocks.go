package terminal

import (
	"strings"

	"jp/internal/lazy"
)

// blocks cuts Markdown into its top-level blocks, line by line. Only whole lines
// are looked at, so that the cuts do not depend on how the text arrives.
type blocks struct {
	line    strings.Builder // a line without its end
	open    []string        // the lines of the block that is being written
	blanks  int             // blank lines since, in a list that may go on
	fence   string          // what closes the code block, "" outside
	list    bool            // the block is a list
	settled []string        // finished blocks
}

// Write takes a part of the text.
func (b *blocks) Write(p []byte) (int, error) {
	rest := string(p)
	for {
		line, after, ended := strings.Cut(rest, "\n")
		b.line.WriteString(line)
		if !ended {
			return len(p), nil
		}
		b.add(b.line.String())
		b.line.Reset()
		rest = after
	}
}

// end finishes the last block.
func (b *blocks) end() {
	if b.line.Len() > 0 {
		b.add(b.line.String())
		b.line.Reset()
	}
	b.finish()
}

// unfinished is what there is of the last block.
func (b *blocks) unfinished() string {
	return strings.Join(append(b.open[:len(b.open):len(b.open)], b.line.String()), "\n")
}

// take returns the finished blocks, once.
func (b *blocks) take() []string {
	settled := b.settled
	b.settled = nil
	return settled
}

var (
	fenceLine   = lazy.Regexp("^ *(?:[-*+] +|[0-9]+[.)] +)?(```+|~~~+)(.*)$")
	listItem    = lazy.Regexp(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)
	listBegin   = lazy.Regexp(`^ {0,3}(?:[-*+]|1[.)])[ \t]+\S`) // ends a paragraph
	headingLine = lazy.Regexp(`^ {0,3}#{1,6}(?:[ \t]|$)`)
)

// add takes a line: it goes on with the block, or finishes it.
func (b *blocks) add(line string) {
	switch {
	case b.fence != "":
		b.fenced(line)
	case strings.TrimSpace(line) == "":
		b.blank()
	default:
		b.text(line)
	}
}

// fenced takes a line of a code block. At the top level, its end is the block's.
func (b *blocks) fenced(line string) {
	b.open = append(b.open, line)
	mark := strings.TrimSpace(line)
	if strings.HasPrefix(mark, b.fence) && strings.Trim(mark, b.fence[:1]) == "" {
		b.fence = ""
		if !b.list {
			b.finish()
		}
	}
}

// blank ends a block, but a list only if what follows does not belong to it.
func (b *blocks) blank() {
	if b.list {
		b.blanks++
		return
	}
	b.finish()
}

func (b *blocks) text(line string) {
	fence := openingFence(line, b.list)
	switch {
	case b.blanks > 0 && !goesOn(line), headingLine().MatchString(line), fence != "" && !goesOn(line),
		!b.list && listBegin().MatchString(line):
		b.finish()
	}
	for ; b.blanks > 0; b.blanks-- {
		b.open = append(b.open, "")
	}
	if len(b.open) == 0 {
		b.list = listItem().MatchString(line)
	}
	b.open = append(b.open, line)
	b.fence = fence
	if headingLine().MatchString(line) {
		b.finish()
	}
}

// goesOn reports whether a line after a blank one belongs to the list before.
func goesOn(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || listItem().MatchString(line)
}

// openingFence is what would close the code block that a line opens.
func openingFence(line string, inList bool) string {
	found := fenceLine().FindStringSubmatch(line)
	if found == nil || found[1][0] == '`' && strings.Contains(found[2], "`") {
		return ""
	}
	if !inList && strings.HasPrefix(line, "    ") {
		return "" // indented code that shows a fence
	}
	return found[1]
}

func (b *blocks) finish() {
	if len(b.open) > 0 {
		b.settled = append(b.settled, strings.Join(b.open, "\n")+"\n")
	}
	b.open, b.blanks, b.fence, b.list = nil, 0, "", false
}

var (
	containers = lazy.Regexp(`^[ \t]*(?:(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$))[ \t]*)+`)
	container  = lazy.Regexp(`>|[-*+]|[0-9]+`)
)

// ruleLine finds the line below the titles of a table, which says how many columns
// the rows have, written or not.
var ruleLine = lazy.Regexp(`(?m)^[-|:> \t*+.)0-9]*\|[-|:> \t]*$`)

// cells is an upper bound of how many cells the tables of a block have.
func cells(block string) int {
	columns := 0
	for _, rule := range ruleLine().FindAllString(block, -1) {
		columns = max(columns, strings.Count(rule, "|")+1)
	}
	return columns * strings.Count(block, "\n")
}

// nesting is an upper bound of how deeply the quotes and lists of a block are
// nested: each level takes a mark, or two columns of white space.
func nesting(block string) int {
	depth := 0
	for line := range strings.Lines(block) {
		prefix := containers().FindString(strings.TrimRight(line, "\n"))
		if prefix != "" {
			columns := strings.Count(prefix, " ") + 4*strings.Count(prefix, "\t")
			depth = max(depth, columns/2+len(container().FindAllString(prefix, -1)))
		}
	}
	return depth
}
