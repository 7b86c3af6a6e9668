package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// A questionView is the visible part of a question. All of its text is clean.
type questionView struct {
	before  []string                 // lines above the first one
	name    string                   // of the tool
	head    string                   // the first line, without the name
	aside   string                   // at the right of the first line
	notes   []string                 // always shown, after the first line
	facts   [][]string               // always shown in full, after the notes: the parts of each line
	body    []string                 // shown as far as there is room
	changes []terminal.Change        // shown in place of the body
	file    string                   // the name of the file that they change
	details []string                 // shown on demand, after the whole body
	also    []*conversation.ToolCall // commands that are listed with it
	always  *turnloop.Rule           // that "always" would add; nil: there is no such answer
}

// The parts that are shown at once, in lines. They must fit a screen together, since the user has to
// see them before answering.
const (
	leastBody    = 3 // of a body, however low the terminal is
	leastHead    = 6 // of the first line, as wide as it is
	mostApproved = 3 // calls that are allowed and wait
	roomNote     = 4 // notes, and lines of a question
	roomBelow    = 4 // the rows below a question: its last line, and those of a chat
)

// callSheet shows the effect of a call.
func (p *Prompter) callSheet(q turnloop.Question) questionView {
	s := questionView{name: toolName(q), head: subject(q), aside: position(q)}
	p.preview(&s, q)
	if q.Hooked {
		s.notes = append(s.notes, "! a hook changed the arguments; the model asked for others (d)")
		s.details = append(append(s.details, "The model asked for:"), argumentLines(q.Inquiry.Call.Request.Arguments)...)
	}
	if q.Warning != "" {
		s.notes = append(s.notes, "! "+safetext.Clean(q.Warning))
	}
	if q.Tool != nil && q.Tool.Description != "" {
		s.details = append(s.details, cleanLines(q.Tool.Description)...)
	}
	s.details = append(s.details, cleanLines(q.Detail)...)
	s.details = append(append(s.details, "Arguments:"), argumentLines(q.Arguments)...)
	return s
}

func (p *Prompter) resultSheet(q turnloop.Question) questionView {
	return questionView{name: toolName(q), head: subject(q), aside: position(q), body: cleanLines(q.Result), details: cleanLines(q.Detail)}
}

// questionSheet shows a tool's question, and its details as far as there is room.
func (p *Prompter) questionSheet(q turnloop.Question) questionView {
	asked := q.Inquiry.Request.Question
	lines := cleanLines(asked.Text)
	s := questionView{name: toolName(q), head: strings.TrimSpace(subject(q)) + " asks:"}
	if !p.previewOverwrite(&s, q) {
		for _, line := range cleanLines(q.Detail) {
			s.body = append(s.body, strings.Split(terminal.Wrap(line, p.width()-len(margin)), "\n")...)
		}
	}
	if shown := written(lines); len(shown) > 0 {
		s.head, s.notes = s.head+" "+shown[0], append(s.notes, shown[1:]...)
		if more := len(s.notes) - roomNote; more > 0 {
			s.notes = append(s.notes[:roomNote:roomNote], fmt.Sprintf("…%d more lines (d)", more))
			s.body = append(append([]string{"It asks:"}, lines...), s.body...)
		}
	}
	s.head = strings.TrimSpace(s.head)
	return s
}

// hasMore reports whether there is more to show than its first lines.
func (s questionView) hasMore() bool { return len(s.body)+len(s.changes)+len(s.details) > 0 }

func written(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// brief is a sheet as far as it fits the screen together with the menu below it.
func (p *Prompter) brief(s questionView, menu string) string {
	free := p.rows() - rowsOf(menu, p.width()) - roomBelow
	top := s.top(p.opts.Palette, p.width(), free)
	fit := bodyFit{drawing: s.drawing(p.opts.Palette, p.width())}
	if menu != "" {
		fit.hint = ": d"
	}
	also := alsoLines(s)
	free = max(free-strings.Count(also, "\n")-rowsOf(top, p.width()), leastBody)
	rows := fit.difference(s.changes, free)
	if s.changes == nil {
		rows = fit.text(s.body, free)
	}
	for _, row := range rows {
		top += row + "\n"
	}
	return top + also
}

// rowsOf is how many rows whole lines take.
func rowsOf(text string, width int) int {
	if text == "" {
		return 0
	}
	return terminal.RowsOf(terminal.Wrap(strings.TrimSuffix(text, "\n"), width), width)
}

// top is the fixed part of a sheet, on so many rows with the least of a body.
func (s questionView) top(palette terminal.Palette, width, free int) string {
	var b strings.Builder
	for _, line := range s.before {
		b.WriteString(line + "\n")
	}
	b.WriteString(s.headline(palette, width, free-len(s.before)-len(s.notes)-len(s.facts)-leastBody))
	for _, note := range s.notes {
		b.WriteString(terminal.WrapBelow(margin+palette.Change(safetext.Bound(note, 2*(width-len(margin)))), len(margin), width) + "\n")
	}
	for _, parts := range s.facts {
		b.WriteString(terminal.Wrap(margin+palette.Change(strings.Join(parts, " · ")), width) + "\n")
	}
	return b.String()
}

// approvedRows is one row for each of the calls that are allowed and wait for the other answers.
func approvedRows(calls []*conversation.ToolCall, palette terminal.Palette, width int) (rows []string) {
	const lead, word = "  ○ ", " · approved"
	for i, call := range calls {
		if rest := len(calls) - i; i == mostApproved-1 && rest > 1 {
			return append(rows, fmt.Sprintf("%s%d more%s", lead, rest, word))
		}
		what := tool.Verb(call.Request.Name) + strings.TrimPrefix(call.Event.Subject, "call "+call.Request.Name)
		rows = append(rows, lead+safetext.Fit(safetext.OneLine(what), max(width-len("  o ")-safetext.Columns(word)-1, 1))+palette.Dim(word))
	}
	return rows
}

func alsoLines(s questionView) string {
	lines := ""
	if len(s.also) > 0 {
		lines = margin + conversation.Count(len(s.also), "more command") + map[bool]string{true: " asks:\n", false: " ask:\n"}[len(s.also) == 1]
	}
	for _, call := range s.also {
		lines += alsoLine(call) + "\n"
	}
	return lines
}

// details shows the full text in the pager, also one that fits the screen: there is one way out of it. Without a pager the
// text takes the place of the question if it fits the screen, else it stays above the menu.
func (p *Prompter) details(s questionView, m menu) {
	all := s.full(p.opts.Palette, p.width())
	whole := s.top(p.opts.Palette, p.width(), p.rows()) + all + alsoLines(s)
	switch {
	case p.opts.Others != nil && p.opts.Page != nil && p.opts.Page(terminal.Wrap(whole, p.width())):
		if p.text.marked {
			p.text.anew(p.brief(s, p.layout(m)))
		}
	case p.text.marked && rowsOf(whole, p.width())+rowsOf(p.layout(m), p.width())+roomBelow <= p.rows():
		p.text.anew(whole)
	default:
		p.show(all)
	}
}

// drawing is how the changes of a question are drawn.
func (s questionView) drawing(palette terminal.Palette, width int) terminal.Drawing {
	return terminal.Drawing{Palette: palette, File: s.file, Margin: len(margin), Width: width, Wraps: true}
}

// margin stands before the lines below the first one of a question.
const margin = "    "

func (s questionView) full(palette terminal.Palette, width int) string {
	var b strings.Builder
	for _, rows := range s.drawing(palette, width).Rows(s.changes) {
		b.WriteString(strings.Join(rows, "\n") + "\n")
	}
	for _, line := range append(s.body[:len(s.body):len(s.body)], s.details...) {
		b.WriteString(margin + palette.Change(line) + "\n")
	}
	return b.String()
}

// headline is the name, the subject in full, if it has no more rows than these, and at the right edge, or on the
// next line if there is no room, the position.
func (s questionView) headline(palette terminal.Palette, width, rows int) string {
	verb := tool.Verb(s.name)
	left := verb
	if s.head != "" {
		left += " " + safetext.Bound(s.head, max(rows, leastHead)*(width-len(margin))-safetext.Columns(verb)-1)
	}
	used := len(margin) + safetext.Columns(left)
	left = terminal.WrapBelow("  "+palette.Yellow("●")+" "+palette.Bold(verb)+strings.TrimPrefix(left, verb), len(margin), width)
	if s.aside == "" {
		return left + "\n"
	}
	if space := width - used - safetext.Columns(s.aside); space >= 2 {
		return left + strings.Repeat(" ", space) + s.aside + "\n"
	}
	return left + "\n" + margin + s.aside + "\n"
}

// whether asks for a call of a tool.
func whether(name string) string {
	if verb := tool.Verb(name); verb != name {
		return strings.ToUpper(verb[:1]) + verb[1:] + " it?"
	}
	return "Run it?"
}

func toolName(q turnloop.Question) string {
	if q.Tool != nil {
		return safetext.Show(q.Tool.Name)
	}
	return safetext.Show(q.Inquiry.Call.Request.Name)
}

func subject(q turnloop.Question) string {
	if q.Subject == "" {
		return ""
	}
	return safetext.Show(q.Subject)
}

func position(q turnloop.Question) string {
	if q.Batch < 2 {
		return ""
	}
	return fmt.Sprintf("call %d of %d", q.Position, q.Batch)
}

// cleanLines splits foreign text into printable lines. It shows hidden characters: the person has to
// judge them.
func cleanLines(text string) []string {
	text = strings.TrimRight(safetext.RevealOutput(text), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// argumentLines shows JSON, indented.
func argumentLines(arguments json.RawMessage) []string {
	return cleanLines(string(indented(arguments)))
}

func indented(value json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return value
	}
	return b.Bytes()
}

func compact(value json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// asJSON encodes a value without touching characters such as <.
func asJSON(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
