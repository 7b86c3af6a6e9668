package terminal

import (
	"strings"
	"unicode/utf8"

	"jp/internal/lazy"
)

// blocks cuts Markdown into its top-level blocks, line by line. Only whole lines
// are looked at, so that the cuts do not depend on how the text arrives. A block that gets
// too long is cut into several, between two lines or two words.
type blocks struct {
	streams bool // code blocks are given away line by line

	line    strings.Builder // a line without its end
	open    []string        // the lines of the block that is being written
	size    int             // of them, in bytes
	joined  bool            // the block goes on with the last one
	blanks  int             // blank lines since, in a list that may go on
	fence   string          // the fence that closes the code block, "" outside
	code    *fenced         // the code block that is given away line by line, nil outside
	list    bool            // the block is a list
	settled []finishedBlock // finished blocks
}

// A finishedBlock is a finished block, or a line of a code block, or the end of one.
type finishedBlock struct {
	text   string
	joined bool    // no blank line stands before it
	code   *fenced // the code block that this is a line of, without its end; nil: a block
	end    bool    // of the code block
}

// A fenced code block has a language, and is indented.
type fenced struct {
	language string
	indent   int
}

// How long a block may get, in bytes, and a line of code.
const longestBlock, longestCode = 8 << 10, 64 << 10

// Write takes a part of the text.
func (b *blocks) Write(p []byte) (int, error) {
	rest := string(p)
	for {
		line, after, ended := strings.Cut(rest, "\n")
		if room := b.room(); len(line) >= room {
			b.line.WriteString(line[:room])
			rest = rest[room:]
			b.cutLine()
			continue
		}
		b.line.WriteString(line)
		if !ended {
			return len(p), nil
		}
		b.add(b.line.String())
		b.line.Reset()
		rest = after
	}
}

// room is how much longer the line may get.
func (b *blocks) room() int {
	if b.fence != "" {
		return longestCode - b.line.Len()
	}
	return max(longestBlock-b.line.Len(), 1)
}

// cutLine cuts a line that is too long, between two words if it can.
func (b *blocks) cutLine() {
	line := b.line.String()
	end := len(line)
	for back := 1; back < utf8.UTFMax; back++ {
		if last := line[len(line)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				end -= back
			}
			break
		}
	}
	head, tail := line[:end], line[end:]
	if space := strings.LastIndexByte(head, ' '); space > len(head)/2 && b.fence == "" {
		head, tail = line[:space], line[space+1:]
	}
	b.line.Reset()
	b.add(head)
	if b.fence == "" {
		b.finish()
		b.joined = true
	}
	b.line.WriteString(tail)
}

// end finishes the last block.
func (b *blocks) end() {
	if b.line.Len() > 0 {
		b.add(b.line.String())
		b.line.Reset()
	}
	if b.code != nil {
		b.settled, b.code = append(b.settled, finishedBlock{code: b.code, end: true}), nil
	}
	b.finish()
}

// unfinished is the text of the last block so far. Of a code block that is printed line by line, it is
// the last line.
func (b *blocks) unfinished() string {
	return strings.Join(append(b.open[:len(b.open):len(b.open)], b.line.String()), "\n")
}

// take returns each finished block once.
func (b *blocks) take() []finishedBlock {
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
	mark := strings.TrimSpace(line)
	closes := strings.HasPrefix(mark, b.fence) && strings.Trim(mark, b.fence[:1]) == ""
	if b.code != nil {
		if !closes || len(line)-len(strings.TrimLeft(line, " \t")) > 3 { // it is code, though it ends the block
			b.settled = append(b.settled, finishedBlock{text: line, code: b.code})
		}
		if closes {
			b.settled = append(b.settled, finishedBlock{code: b.code, end: true})
			b.code, b.fence = nil, ""
		}
		return
	}
	b.keep(line)
	if closes {
		b.fence = ""
		if !b.list {
			b.finish()
		}
	}
}

// keep adds a line to the block. If the block gets too long, the line begins another one that
// continues it: with the titles of a table, or in the code that is being written.
func (b *blocks) keep(line string) {
	wholeCode := b.fence != "" && !b.list && len(b.open) > 0 && openingFence(b.open[0], false) == b.fence
	if !wholeCode && b.size+len(line) >= longestBlock && len(b.open) > 0 && (!b.list || listItem().MatchString(line) && line[0] != ' ' || b.size >= 2*longestBlock) {
		var again []string
		if len(b.open) > 2 && ruleLine().MatchString(b.open[1]) {
			again = b.open[:2]
		}
		fence := b.fence
		if fence != "" {
			again = []string{fence}
		}
		b.finish()
		b.joined, b.fence, b.open = true, fence, again
		b.list = fence == "" && listItem().MatchString(line)
		if fence != "" && b.streams {
			b.code, b.open = &fenced{indent: len(line) - len(strings.TrimLeft(line, " "))}, nil
			b.fenced(line)
			return
		}
	}
	b.open = append(b.open, line)
	b.size += len(line) + 1
}

// blank ends a block. It ends a list only if the next line does not belong to it.
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
		b.keep("")
	}
	if len(b.open) == 0 {
		b.list = listItem().MatchString(line)
		if fence != "" && !b.list && b.streams {
			b.fence, b.code = fence, newFenced(line)
			return
		}
	}
	b.keep(line)
	b.fence = fence
	if headingLine().MatchString(line) {
		b.finish()
	}
}

// goesOn reports whether a line after a blank one belongs to the list before.
func goesOn(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || listItem().MatchString(line)
}

// openingFence is the fence that would close the code block that a line opens.
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
		b.settled = append(b.settled, finishedBlock{text: strings.Join(b.open, "\n") + "\n", joined: b.joined})
	}
	b.open, b.size, b.joined, b.blanks, b.fence, b.list = nil, 0, false, 0, "", false
}

// newFenced begins the code block that a line opens.
func newFenced(line string) *fenced {
	mark := strings.TrimLeft(line, " ")
	return &fenced{language: languageOf(mark), indent: len(line) - len(mark)}
}

// languageOf is the first word behind the marks that open a code block.
func languageOf(mark string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(mark, "`~")), " ")
	return word
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
