package prompt

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// preview adds the effect of a call: the difference that it makes to a file, the command that it runs,
// or else its arguments.
func (p *Prompter) preview(s *questionView, q turnloop.Question) {
	var known bool
	switch s.name {
	case "fs_modify_file":
		known = p.previewModify(s, q.Arguments)
	case "fs_create_file":
		known = p.previewCreate(s, q.Arguments, q.Inquiry.Request.Covers)
	case "fs_delete_file":
		known = p.previewDelete(s, q.Arguments)
	case "fs_move_file":
		known = previewMove(s, q.Arguments)
	case "shell_run":
		known = p.previewCommand(s, q)
	default:
		p.previewProgram(s, q)
	}
	if !known && string(compact(q.Arguments)) != "{}" {
		s.body = argumentLines(q.Arguments)
	}
}

type edit struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Count int    `json:"count"`
}

func (p *Prompter) previewModify(s *questionView, arguments json.RawMessage) bool {
	var args struct {
		Path  string `json:"path"`
		Edits []edit `json:"edits"`
	}
	if json.Unmarshal(arguments, &args) != nil || len(args.Edits) == 0 {
		return false
	}
	if before, ok := p.content(args.Path); ok {
		if after, ok := apply(before, args.Edits); ok {
			s.difference(args.Path, before, after)
			return true
		}
		s.notes = append(s.notes, "! the edits do not fit the file as it is now")
	}
	var before, after strings.Builder
	for _, e := range args.Edits {
		before.WriteString(withNewline(e.Old))
		after.WriteString(withNewline(e.New))
	}
	s.difference(args.Path, before.String(), after.String())
	for i := range s.changes {
		s.changes[i].Number = 0 // the place in the file is unknown
	}
	return true
}

// apply makes edits to a text, if each of them fits.
func apply(text string, edits []edit) (string, bool) {
	for _, e := range edits {
		if e.Old == "" || strings.Count(text, e.Old) != max(e.Count, 1) {
			return "", false
		}
		text = strings.ReplaceAll(text, e.Old, e.New)
	}
	return text, true
}

func (p *Prompter) previewCreate(s *questionView, arguments json.RawMessage, covers []string) bool {
	var args struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}
	if json.Unmarshal(arguments, &args) != nil || args.Content == nil {
		return false
	}
	before, exists := p.content(args.Path)
	switch {
	case len(covers) > 0:
		s.notes = append(s.notes, "! the file exists and will be overwritten")
	case exists:
		s.notes = append(s.notes, "! the file exists")
	}
	s.difference(args.Path, before, *args.Content)
	return true
}

// previewOverwrite shows the new content of a file that jp's own tool asks to overwrite.
func (p *Prompter) previewOverwrite(s *questionView, q turnloop.Question) bool {
	var args struct{ Path, Content string }
	if s.name != "fs_create_file" || json.Unmarshal(q.Arguments, &args) != nil {
		return false
	}
	before, readable := p.content(args.Path)
	if readable {
		s.difference(args.Path, before, args.Content)
	}
	return readable
}

func (p *Prompter) previewDelete(s *questionView, arguments json.RawMessage) bool {
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(arguments, &args) != nil || args.Path == "" {
		return false
	}
	if before, ok := p.content(args.Path); ok {
		s.difference(args.Path, before, "")
	}
	return true
}

func previewMove(s *questionView, arguments json.RawMessage) bool {
	var args struct {
		Source string `json:"source"`
		Target string `json:"target"`
	}
	if json.Unmarshal(arguments, &args) != nil || args.Source == "" || args.Target == "" {
		return false
	}
	s.head = safetext.Escape(args.Source) + " → " + safetext.Escape(args.Target)
	return true
}

// previewCommand shows a command of any length word for word.
func (p *Prompter) previewCommand(s *questionView, q turnloop.Question) bool {
	var args struct {
		Argv    []string `json:"argv"`
		Dir     string   `json:"cwd"`
		Seconds float64  `json:"timeout_s"`
		Stdin   string   `json:"stdin"`
	}
	if json.Unmarshal(q.Arguments, &args) != nil || len(args.Argv) == 0 {
		return false
	}
	limit := p.limit(q)
	if wanted := time.Duration(args.Seconds * float64(time.Second)); wanted > 0 && (limit == 0 || wanted < limit) {
		limit = wanted
	}
	s.head = safetext.EscapeAll(args.Argv)
	p.placeFacts(s, args.Dir, limit)
	for _, line := range cleanLines(args.Stdin) {
		s.body = append(s.body, "< "+line)
	}
	return true
}

// previewProgram shows the program of a tool whose calls always start the same
// one.
func (p *Prompter) previewProgram(s *questionView, q turnloop.Question) {
	if q.Tool == nil || len(q.Tool.Command) == 0 {
		return
	}
	s.notes = append(s.notes, "runs "+safetext.EscapeAll(q.Tool.Command))
	p.placeFacts(s, "", p.limit(q))
}

// limit is how long a call may run that names no time itself, 0 for any time.
func (p *Prompter) limit(q turnloop.Question) time.Duration {
	if q.Tool != nil && q.Tool.Timed {
		return q.Tool.Timeout
	}
	return p.opts.Limit
}

// placeFacts shows the directory in which a program runs, its confinement and its time limit.
func (p *Prompter) placeFacts(s *questionView, dir string, limit time.Duration) {
	facts := []string{safetext.Bound("in "+safetext.Show(directory(p.opts.Dir, dir)), 2*p.width()-4)}
	if p.opts.Confinement != "" {
		facts = append(facts, strings.Split(safetext.Clean(p.opts.Confinement), " · ")...)
	}
	if limit > 0 {
		facts = append(facts, "at most "+span(limit))
	}
	s.facts = append(s.facts, facts)
	if p.opts.Confinement == "" {
		s.facts = append(s.facts, []string{"! not confined: it can do all that you can"})
	}
}

func directory(base, named string) string {
	switch {
	case named == "" && base == "":
		return "."
	case named == "":
		return base
	case path.IsAbs(named):
		return path.Clean(named)
	}
	return path.Join(base, named)
}

func span(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

// readable is the size in bytes up to which a file is compared.
const readable = 1 << 20

// content is the text of a file of the workspace as it is now.
func (p *Prompter) content(name string) (string, bool) {
	if p.opts.Root == nil {
		return "", false
	}
	info, err := p.opts.Root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > readable {
		return "", false
	}
	file, err := p.opts.Root.Open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, readable+1))
	if err != nil || len(text) > readable || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}

// difference adds the lines of a file that change, with those around them.
func (s *questionView) difference(name, before, after string) {
	if len(before) > readable || len(after) > readable {
		s.notes = append(s.notes, fmt.Sprintf("! too large to compare: %d bytes, then %d", len(before), len(after)))
		return
	}
	unified, added, deleted := tool.UnifiedDiff("a", "b", before, after)
	s.changes, s.file = terminal.Changes(unified), name
	if len(s.changes) == 0 {
		s.notes = append(s.notes, "(no change)")
		return
	}
	for i, c := range s.changes {
		s.changes[i].Text = safetext.Reveal(blanksShown(c))
	}
	s.aside = strings.TrimPrefix(fmt.Sprintf("%s, +%d −%d", s.aside, added, deleted), ", ")
}

// blanksShown is the text of a line of a difference. Blanks that are all of an added line are counted, since they look
// like an empty one.
func blanksShown(c terminal.Change) string {
	if c.Mark == '+' && c.Text != "" && strings.TrimSpace(c.Text) == "" {
		return fmt.Sprintf("⟨%s⟩", conversation.Count(utf8.RuneCountInString(c.Text), "blank"))
	}
	return c.Text
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
