package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A questionView is what a person sees of a question. All of its text is clean.
type questionView struct {
	name    string
	head    string     // the first line, without the name
	aside   string     // at the right of the first line
	notes   []string   // always shown, after the first line
	facts   [][]string // always shown in full, after the notes: the parts of each line
	body    []string   // shown as far as there is room
	details []string   // shown on demand, after the whole body
}

// What is shown at once, in lines: nothing of it may push the rest off a screen,
// since the user has to see it before answering.
const (
	roomy    = 8 // of a body
	roomHead = 6 // of the first line, as wide as it is
	roomNote = 4 // notes, and lines of a question
)

// callSheet shows what a call would do.
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

// resultSheet shows what a call has returned.
func (p *Prompter) resultSheet(q turnloop.Question) questionView {
	return questionView{name: toolName(q), head: subject(q), aside: position(q), body: cleanLines(q.Result), details: cleanLines(q.Detail)}
}

// questionSheet shows what a tool asks. What it adds is shown on demand, if
// there is a key for it.
func (p *Prompter) questionSheet(q turnloop.Question) questionView {
	asked := q.Inquiry.Request.Question
	lines := cleanLines(asked.Text)
	s := questionView{name: toolName(q), head: strings.TrimSpace(subject(q)) + " asks:"}
	s.details = cleanLines(q.Detail)
	if shown := written(lines); len(shown) > 0 {
		s.head, s.notes = s.head+" "+shown[0], shown[1:]
		if more := len(s.notes) - roomNote; more > 0 {
			s.notes = append(s.notes[:roomNote:roomNote], fmt.Sprintf("…%d more lines (d)", more))
			s.details = append(append([]string{"It asks:"}, lines...), s.details...)
		}
	}
	s.head = strings.TrimSpace(s.head)
	if kind := asked.AnswerType; kind.Type != "boolean" && (kind.Type != "select" || len(kind.Options) > byDigit) {
		s.body, s.details = s.details, nil
	}
	return s
}

// written are the lines that are not blank.
func written(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// brief is a sheet in a few lines.
func (p *Prompter) brief(s questionView) string {
	var b strings.Builder
	b.WriteString(p.headline(s))
	for _, note := range s.notes {
		b.WriteString("  " + p.colour(safetext.Bound(note, 2*p.width()-4)) + "\n")
	}
	for _, parts := range s.facts {
		b.WriteString(terminal.Wrap("  "+p.colour(strings.Join(parts, " · ")), p.width()) + "\n")
	}
	shown := s.body
	if len(shown) > roomy+1 {
		shown = shown[:roomy]
	}
	for _, line := range shown {
		b.WriteString("  " + p.colour(safetext.Fit(strings.ReplaceAll(line, "\t", "    "), p.width()-2)) + "\n")
	}
	if hidden := len(s.body) - len(shown); hidden > 0 {
		b.WriteString(p.opts.Palette.Dim(fmt.Sprintf("  …%d more lines (d)", hidden)) + "\n")
	}
	return b.String()
}

// full is all that there is to see.
func (p *Prompter) full(s questionView) string {
	var b strings.Builder
	for _, line := range append(s.body[:len(s.body):len(s.body)], s.details...) {
		b.WriteString("  " + p.colour(line) + "\n")
	}
	return b.String()
}

// headline is the name, the subject in full, and at the right edge, or on the
// next line if there is no room, the position.
func (p *Prompter) headline(s questionView) string {
	left := s.name
	if s.head != "" {
		left += " " + safetext.Bound(s.head, roomHead*p.width()-safetext.Columns(s.name))
	}
	used := safetext.Columns(left)
	left = p.opts.Palette.Bold(s.name) + strings.TrimPrefix(left, s.name)
	if s.aside == "" {
		return left + "\n"
	}
	if space := p.width() - used - safetext.Columns(s.aside); space >= 2 {
		return left + strings.Repeat(" ", space) + s.aside + "\n"
	}
	return left + "\n  " + s.aside + "\n"
}

// colour colours a line of a difference.
func (p *Prompter) colour(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return p.opts.Palette.Green(line)
	case strings.HasPrefix(line, "-"):
		return p.opts.Palette.Red(line)
	case strings.HasPrefix(line, "!"):
		return p.opts.Palette.Yellow(line)
	}
	return line
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
	if q.Batch == 0 {
		return ""
	}
	return fmt.Sprintf("call %d of %d", q.Position, q.Batch)
}

// cleanLines splits foreign text into lines that can be printed. What is hidden in it is
// shown: it is there to be judged.
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
