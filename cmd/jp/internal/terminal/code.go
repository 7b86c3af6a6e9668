package terminal

import "strings"

// A codeBlock is a code block that is printed line by line.
type codeBlock struct {
	*fenced
	palette Palette
	begun   bool // a line of it is printed
	blanks  int  // blank lines since
}

func newCode(f *fenced, p Palette) *codeBlock { return &codeBlock{fenced: f, palette: p} }

// lines lays out the next lines. Blank ones wait for another line.
func (c *codeBlock) lines(texts []string) (shown []string) {
	for _, text := range texts {
		line := c.indented(text)
		if strings.Trim(line, " ") == "" {
			c.blanks++
			continue
		}
		if c.begun || len(shown) > 0 {
			shown = append(shown, make([]string, c.blanks)...)
		}
		shown, c.blanks = append(shown, codeMargin+c.palette.Cyan(line)), 0
	}
	c.begun = c.begun || len(shown) > 0
	return shown
}

// unfinished lays out a line that is being written.
func (c *codeBlock) unfinished(text string) []string {
	line := c.indented(text)
	if strings.Trim(line, " ") == "" {
		return nil
	}
	blanks := 0
	if c.begun {
		blanks = c.blanks
	}
	return append(make([]string, blanks), codeMargin+c.palette.Cyan(line))
}

// codeMargin stands before each line of code.
const codeMargin = "  "

// indented is a line without what the whole block is indented by.
func (c *codeBlock) indented(line string) string {
	for column := 0; column < c.indent && line != "" && (line[0] == ' ' || line[0] == '\t'); {
		next := column + 1
		if line[0] == '\t' {
			next = (column/4 + 1) * 4
		}
		line, column = strings.Repeat(" ", max(next-c.indent, 0))+line[1:], next
	}
	return strings.ReplaceAll(line, "\t", "    ")
}
