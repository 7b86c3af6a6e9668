package terminal

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jp/internal/lazy"
	"jp/internal/safetext"
)

// Wrap breaks each line of clean text that has more columns than width, between
// words. The lines that follow are indented as the first one, behind its mark, or
// below its second column. A line with · breaks there first. A word or a command
// that fits a line is never broken; one that does not has a line of its own, which
// the terminal breaks, so that it can still be copied whole. Width 0 leaves all
// lines as they are.
func Wrap(text string, width int) string { return wrapFrom(text, 0, width) }

// wrapFrom wraps a text that begins behind some columns of its first line.
func wrapFrom(text string, column, width int) string {
	if width <= 0 || len(text)+column <= width && !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		b.WriteString(wrapLine(line, column, width))
		if ended {
			b.WriteByte('\n')
		}
		column = 0
	}
	return b.String()
}

func wrapLine(line string, column, width int) string {
	if column+columnsOf(line) <= width {
		return line
	}
	if text := strings.TrimRight(line, " "); text != line && text != "" { // typed text goes behind the blank
		return wrapLine(text, column, width) + line[len(text):]
	}
	line = strings.ReplaceAll(line, "\t", "    ")
	body := strings.TrimLeft(line, " ")
	lead := min(len(line)-len(body), width/2)
	line = strings.Repeat(" ", lead) + body
	hang, rest := hanging(line, width)
	if column > 0 {
		hang = 0
	}
	w := wrapping{width: width, hang: hang, column: column, begun: column > 0}
	if rest > 0 { // the second column goes below the first
		w.hang = lead
		w.parts(line[lead:rest], lead)
		w.hang = min(lead+4, width/2)
		w.endLine()
		w.parts(strings.TrimLeft(line[rest:], " "), 0)
		return w.b.String()
	}
	w.parts(line[lead:], lead)
	return w.b.String()
}

// WrapBelow breaks a line as [Wrap] does, and begins further ones at a column.
func WrapBelow(line string, column, width int) string {
	if width <= 0 || columnsOf(line) <= width {
		return line
	}
	w := wrapping{width: width, hang: column}
	w.parts(line, 0)
	return w.b.String()
}

var (
	markAt   = lazy.Regexp(`^ *(?:\x1b\[[0-9;]*m)*(?:[·✗✓⏸▶○⏳!?*•-]|[0-9]{1,3}|[a-z?])(?:\x1b\[[0-9;]*m)* {1,2}`)
	columnAt = lazy.Regexp(`^ *\S+(?: \S+)* {2,}`)
)

// leastBeside is how many columns a second column has at least.
const leastBeside = 24

// hanging is the column of the lines behind a first one: behind its mark, or below its second column.
// If that leaves too little room, rest is the byte at which the first column ends, and the second goes
// below it.
func hanging(line string, width int) (hang, rest int) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if at := columnAt().FindString(line); at != "" && len(at) < len(line) {
		if behind := safetext.Columns(at); behind <= max(width-leastBeside, width/3) {
			return behind, 0
		}
		return indent, len(strings.TrimRight(at, " "))
	}
	if at := markAt().FindString(line); at != "" && strings.TrimRight(at, " ") != strings.TrimSpace(line) && !proseMark(at) {
		return safetext.Columns(at), 0
	}
	return indent, 0
}

// proseMark reports whether an apparent mark is a word of a sentence: "a file".
func proseMark(at string) bool {
	text := strings.TrimSpace(ansi.Strip(at))
	r, _ := utf8.DecodeRuneInString(text)
	return (r >= 'a' && r <= 'z' || r >= '0' && r <= '9') && !strings.HasPrefix(at, "  ")
}

// separator stands between the parts of a line.
const separator = " · "

type wrapping struct {
	b      strings.Builder
	width  int
	hang   int  // of further lines
	column int  // of the line's end
	begun  bool // there is more than blanks on it
}

// parts adds a text behind some blanks, broken at its separators first.
func (w *wrapping) parts(text string, blanks int) {
	if blanks > 0 {
		w.b.WriteString(strings.Repeat(" ", blanks))
		w.column += blanks
	}
	for i, part := range strings.Split(text, separator) {
		wide := safetext.Columns(part)
		switch {
		case i == 0:
		case w.column+3+wide <= w.width:
			w.b.WriteString(separator)
			w.column += 3
		default:
			w.endLine()
		}
		w.words(part)
	}
}

// words adds the words of a text to the line.
func (w *wrapping) words(text string) {
	for _, u := range units(text, w.width) {
		switch {
		case !w.begun || w.column+u.gap+u.wide <= w.width:
			w.b.WriteString(strings.Repeat(" ", u.gap))
			w.column += u.gap
		default:
			w.endLine()
		}
		if !w.begun && w.column+u.wide > w.width && u.wide <= w.width {
			w.shrink(u.wide)
		}
		w.b.WriteString(u.text)
		w.column += u.wide
		w.begun = true
	}
}

// shrink takes away as much of the indentation as a wide word needs.
func (w *wrapping) shrink(wide int) {
	text := w.b.String()
	w.b.Reset()
	w.b.WriteString(text[:len(text)-(w.column-(w.width-wide))])
	w.column = w.width - wide
}

func (w *wrapping) endLine() {
	w.b.WriteByte('\n')
	w.b.WriteString(strings.Repeat(" ", w.hang))
	w.column, w.begun = w.hang, false
}

// A unit is a text that a line keeps in one piece, and the blanks before it.
type unit struct {
	gap  int
	text string
	wide int
}

// commandAt finds commands that a person may copy.
var commandAt = lazy.Regexp(`\b(?:jp|git)(?: -C (?:'[^']*'|\S+))? [a-z][a-z-]*(?: (?:--?[A-Za-z]\S*|@\S+|'[^']*'|"[^"]*"|[0-9a-z]*[0-9][0-9a-z]*\b|[A-Z]{2,}\b|…))*`)

// units are the words of a text, and the commands in it that fit into a room.
func units(text string, room int) []unit {
	var all []unit
	kept := commandAt().FindAllStringIndex(text, -1)
	within := func(at int) bool {
		for _, k := range kept {
			if k[0] < at && at < k[1] && safetext.Columns(text[k[0]:k[1]]) <= room {
				return true
			}
		}
		return false
	}
	start, gap := 0, 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && (text[at] != ' ' || within(at)) {
			continue
		}
		if at > start {
			all = append(all, splitWide(gap, text[start:at], room)...)
			gap = 0
		}
		gap, start = gap+1, at+1
	}
	return all
}

// splitWide splits a word at the places that need no space: beside wide characters, and behind the
// commas of JSON that does not fit into a room.
func splitWide(gap int, word string, room int) []unit {
	whole := safetext.Columns(word)
	if whole > room && (word[0] == '{' || word[0] == '[') {
		var all []unit
		for part := range strings.SplitAfterSeq(word, ",") {
			all, gap = append(all, unit{gap, part, safetext.Columns(part)}), 0
		}
		return all
	}
	if whole == utf8.RuneCountInString(ansi.Strip(word)) {
		return []unit{{gap, word, whole}}
	}
	var all []unit
	var before cluster
	piece := unit{gap: gap}
	for word != "" {
		sequence := style().FindString(word)
		piece.text, word = piece.text+sequence, word[len(sequence):]
		if word == "" {
			break
		}
		next, wide := ansi.FirstGraphemeCluster(word, ansi.GraphemeWidth)
		after := cluster{text: next, width: wide}
		if before.text != "" && breaks(before, after) {
			all, piece = append(all, piece), unit{}
		}
		piece.text, piece.wide = piece.text+next, piece.wide+wide
		before, word = after, word[len(next):]
	}
	return append(all, piece)
}

// style matches changes in the look of text. They take no columns.
var style = lazy.Regexp(`^(?:\x1b\[[0-9;]*m)+`)

// columnsOf is how many columns a line takes, with its tabs.
func columnsOf(line string) int {
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			column += 8 - column%8
		}
		column += safetext.Columns(part)
	}
	return column
}

// Choices lays out choices: lead, if it is not empty, and then each of them, on
// lines of a width behind an indentation. Lines break between choices, and within
// one that is wider than a line between its words. Width 0 makes one line of all.
func Choices(width, indent int, lead string, choices ...string) string {
	if lead != "" {
		choices = append([]string{lead}, choices...)
	}
	blanks := strings.Repeat(" ", indent)
	lines, line := []string(nil), ""
	for i, choice := range choices {
		gap := "   "
		if i == 1 && lead != "" {
			gap = "  "
		}
		switch {
		case i == 0:
			line = blanks + choice
		case width <= 0 || safetext.Columns(line+gap+choice) <= width:
			line += gap + choice
		default:
			lines, line = append(lines, line), blanks+choice
		}
		if width > 0 && safetext.Columns(line) > width {
			w := wrapping{width: width, hang: min(indent+2, width/2)}
			w.parts(choice, indent)
			wrapped := strings.Split(w.b.String(), "\n")
			lines, line = append(lines, wrapped[:len(wrapped)-1]...), wrapped[len(wrapped)-1]
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// WrapCommand lays out a command on lines of a width behind an indentation. One that
// fits a line is not broken, even if that takes from the indentation. Others go on
// behind a backslash, between their words, so that a shell takes them as they stand.
func WrapCommand(command string, width, indent int) string {
	wide := safetext.Columns(command)
	if width <= 0 || indent+wide <= width {
		return strings.Repeat(" ", indent) + command
	}
	if wide <= width {
		return strings.Repeat(" ", width-wide) + command
	}
	const behind = " \\"
	indent = min(indent, 2)
	var b strings.Builder
	line := strings.Repeat(" ", indent)
	words := shellWords(command)
	for i, word := range words {
		last := len(behind)
		if i == len(words)-1 {
			last = 0
		}
		switch {
		case i == 0:
			line += word
		case safetext.Columns(line+" "+word)+last <= width:
			line += " " + word
		default:
			b.WriteString(line + behind + "\n")
			line = strings.Repeat(" ", indent+2) + word
		}
	}
	return b.String() + line
}

// shellWords splits a command at the single blanks that a shell splits it at.
func shellWords(command string) []string {
	const ansiQuote = '$' // $'…', in which a backslash escapes
	var words []string
	var quote, before rune
	start, escaped := 0, false
	for at, r := range command {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote || quote == ansiQuote && r == '\'' {
				quote = 0
			}
		case r == '\'' && before == '$':
			quote = ansiQuote
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			words, start = append(words, command[start:at]), at+1
		}
		before = r
	}
	return append(words, command[start:])
}

// A Wrapper writes clean text for people to a terminal, as [Wrap] breaks it.
type Wrapper struct {
	out    io.Writer
	width  func() int
	column int // of the last line's end
}

// NewWrapper returns a Wrapper; width returns the number of columns, 0 for any number.
func NewWrapper(out io.Writer, width func() int) *Wrapper { return &Wrapper{out: out, width: width} }

// Write writes text. The next write continues an unfinished last line.
func (w *Wrapper) Write(text []byte) (int, error) {
	shown := wrapFrom(string(text), w.column, w.width())
	last := shown[strings.LastIndexByte(shown, '\n')+1:]
	if len(last) == len(shown) {
		w.column += safetext.Columns(last)
	} else {
		w.column = safetext.Columns(last)
	}
	if _, err := io.WriteString(w.out, shown); err != nil {
		return 0, err
	}
	return len(text), nil
}
