package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SubjectColumns is the greatest width of a subject.
const SubjectColumns = 72

// SubjectOf returns the line that git shows for the event: the actor, the object and the effect. If the
// event's whole text stands in it, at is the byte at which the text begins, else -1.
func SubjectOf(e *Event) (line string, at int) {
	if e.Subject != "" {
		return tidy(e.Subject), -1
	}
	prefix, quoted := quotingPrefix(e)
	if !quoted {
		return tidy(describe(e)), -1
	}
	text, _ := e.Text()
	if fitsSubject(prefix, text) {
		return prefix + text, len(prefix)
	}
	first := firstLine(text, SubjectColumns)
	if first == "" {
		first = "(no text)"
	}
	return tidy(prefix + first), -1
}

// tidy makes one printable line of at most [SubjectColumns] columns.
func tidy(s string) string {
	if isTidy(s) {
		return s
	}
	s = strings.Join(strings.Fields(strings.Map(printable, strings.ReplaceAll(s, "\n", " "))), " ")
	if s == "" {
		return "(nothing)"
	}
	return Shorten(s, SubjectColumns)
}

// isTidy knows the usual line that tidy leaves as it is.
func isTidy(s string) bool {
	if s == "" || len(s) > SubjectColumns || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

func fitsSubject(prefix, text string) bool {
	if text == "" || !utf8.ValidString(text) || strings.TrimSpace(text) != text {
		return false
	}
	for _, r := range text {
		if printable(r) != r || unicode.IsSpace(r) && r != ' ' || r == 0x85 {
			return false
		}
	}
	return columns(prefix+text) <= SubjectColumns
}

// quotingPrefix is the prefix of a subject that goes on with the event's text.
func quotingPrefix(e *Event) (string, bool) {
	switch b := e.Body.(type) {
	case *Note:
		return "note: ", true
	case *ChatRequest:
		if b.Interrupt {
			return "user replies: ", true
		}
		return "user: ", true
	case *ChatResponse:
		switch {
		case b.Partial:
			return "assistant (cut off): ", true
		case b.Part == PartReasoning:
			return "assistant thinks: ", true
		case b.Part == PartData:
			return "assistant returns: ", true
		}
		return "assistant: ", true
	}
	return "", false
}

// describe is the subject of events that keep their text elsewhere.
func describe(e *Event) string {
	switch b := e.Body.(type) {
	case *TurnStart:
		line := "turn " + strconv.Itoa(e.Turn) + where(e.Git)
		if columns(line+with(b.Model)+b.Approved.words()) <= SubjectColumns || len(b.Approved) == 0 {
			line += with(b.Model)
		}
		return b.Approved.Behind(line)
	case *Prompt:
		return "prompt: " + Count(len(strings.Fields(b.System)), "word")
	case *ToolCallRequest:
		return "call " + b.Name
	case *ToolStarted:
		return "start tool call " + strconv.Itoa(b.For)
	case *ToolCallResponse:
		return b.Name + ": " + responseEffect(b)
	case *InquiryRequest:
		return "ask: " + b.Question.Text
	case *InquiryResponse:
		return "answer: " + answerWords(b)
	case *ConfigDelta:
		return "config: " + deltaWords(b.Delta)
	}
	return describeRecord(e)
}

func describeRecord(e *Event) string {
	switch b := e.Body.(type) {
	case *Metadata:
		return metadataWords(b)
	case *ForkOrigin:
		return fmt.Sprintf("fork of %s at %d (turn %d)", b.Conversation, b.Seq, e.Turn)
	case *Workspace:
		by := "outside: "
		if b.Cut {
			by = "cut away: "
		}
		return by + pathWords(b.Paths, b.More)
	case *TurnDiscarded:
		return fmt.Sprintf("discarded turn %d (%d–%d)", e.Turn, b.FromSeq, b.ToSeq)
	case *TurnStopped:
		if b.Reason != "" {
			return "stopped by " + string(b.By) + ": " + b.Reason
		}
		return "stopped by " + string(b.By)
	case *TurnInterrupted:
		return interruptWords(b)
	case *Resumed:
		return resumedWords(b)
	case *Restored:
		return fmt.Sprintf("restored: %s as of %d", Count(len(b.Files), "file"), b.AsOf)
	case *Withholding:
		return "withheld, since the server refused it: " + strings.Join(b.Attachments, ", ")
	case *Instructions:
		return "instructions: " + strings.Join(b.paths(), ", ")
	case *Compaction:
		return compactionWords(b)
	case *CompactionUndone:
		return fmt.Sprintf("undid the compaction %d", b.For)
	case *WorkState:
		return "state: " + Count(len(b.OpenTasks), "open task")
	case *TurnDone:
		return doneWords(e.Turn, b)
	}
	return string(e.Type())
}

func where(g *Git) string {
	if g == nil || g.Head == "" {
		return ""
	}
	branch := g.Branch
	if branch == "" {
		branch = "detached HEAD"
	}
	return " on " + branch + " " + g.Head[:min(7, len(g.Head))]
}

func with(model string) string {
	if model == "" {
		return ""
	}
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	return " with " + model
}

func responseEffect(b *ToolCallResponse) string {
	if b.IsError {
		return "error: " + firstLine(b.Content, SubjectColumns)
	}
	return Lines(b.Content)
}

// Closed says how the user ended a tool call: "declined" or "cancelled". It is "" for any other
// event.
func (e *Event) Closed() string {
	b, ok := e.Body.(*ToolCallResponse)
	switch {
	case !ok:
	case b.Cancelled:
		return "cancelled"
	case !b.IsError || strings.Contains(e.Subject, ": error: "): // these may be the tool's words
	case strings.HasSuffix(e.Subject, ": declined by "+string(ByUser)):
		return "declined"
	}
	return ""
}

// Lines says how many lines a text has.
func Lines(text string) string {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return Count(n, "line")
}

// Count says a number of things, "1 line", "3 lines", "1 match", "3 matches".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func answerWords(b *InquiryResponse) string {
	if b.Outcome != OutcomeAnswered {
		return string(b.Outcome)
	}
	word := answerWord(b)
	if b.Reason != "" {
		word += ", " + strconv.Quote(b.Reason)
	}
	if b.Remember || b.Choice() == AnswerRunTurn {
		word += " for this turn"
	}
	return word + " (" + string(b.By) + ")"
}

func answerWord(b *InquiryResponse) string {
	switch choice := b.Choice(); choice {
	case "":
	case AnswerRun, AnswerRunTurn, AnswerDeliver:
		return "yes"
	case AnswerRunNetwork:
		return "yes, with network"
	case AnswerSkip, AnswerWithhold:
		return "no"
	case AnswerEdit:
		return "edited"
	default:
		return choice
	}
	switch string(b.Answer) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return string(b.Answer)
}

func deltaWords(delta raw) string {
	fields, err := ParseObject(delta)
	if err != nil || len(fields) == 0 {
		return "nothing"
	}
	var words []string
	for _, f := range fields {
		value := string(f.Raw)
		var text string
		if json.Unmarshal(f.Raw, &text) == nil {
			value = text
		}
		words = append(words, f.Key+" = "+value)
	}
	return strings.Join(words, ", ")
}

func metadataWords(b *Metadata) string {
	var words []string
	if b.Title != nil {
		words = append(words, "title: "+*b.Title)
	}
	mark := func(m *OptionalTime, set, cleared string) {
		switch {
		case m == nil:
		case m.Time.IsZero():
			words = append(words, cleared)
		default:
			words = append(words, set)
		}
	}
	mark(b.PinnedAt, "pinned", "unpinned")
	mark(b.ArchivedAt, "archived", "unarchived")
	if b.ExpiresAt != nil && !b.ExpiresAt.Time.IsZero() {
		words = append(words, "expires "+b.ExpiresAt.Time.UTC().Format(time.DateOnly))
	} else {
		mark(b.ExpiresAt, "", "does not expire")
	}
	if b.Labels != nil {
		words = append(words, "labels: "+strings.Join(sortedKeys(b.Labels), ", "))
	}
	if b.Parent != "" {
		words = append(words, "parent: "+string(b.Parent))
	}
	return strings.Join(words, "; ")
}

func pathWords(paths []PathStat, more int) string {
	if len(paths) == 1 && more == 0 {
		p := paths[0]
		return p.Path + " " + pathVerb(p) + " (" + PlusMinus(p.Added, p.Deleted) + ")"
	}
	return Count(len(paths)+more, "file") + " changed"
}

// Recorded begins the subject of a record of files that nobody changed since the event before: untracked
// files that a call names, and files that a fork is about to put back.
const Recorded = "recorded: "

// OutsideWords is the subject of a record of outside changes; same reports the files of the record that are
// no such changes.
func OutsideWords(paths []PathStat, same func(path string, p PathStat) bool) string {
	changed := slices.DeleteFunc(slices.Clone(paths), func(p PathStat) bool {
		path, err := UnquotePath(p.Path)
		return err == nil && same(path, p)
	})
	switch {
	case len(changed) > 0:
		return "outside: " + pathWords(changed, 0)
	case len(paths) == 1:
		return Recorded + paths[0].Path
	}
	return Recorded + Count(len(paths), "file")
}

// PlusMinus says how many lines were added and deleted, "+7 -3"; a negative
// count means a binary file.
func PlusMinus(added, deleted int) string {
	if added < 0 || deleted < 0 {
		return "binary"
	}
	return fmt.Sprintf("+%d -%d", added, deleted)
}

// ChangedWords say which files changed outside of a conversation, "files as recorded" if none did.
func ChangedWords(paths []PathStat, more int) string {
	switch {
	case len(paths)+more == 0:
		return "files as recorded"
	case len(paths) == 1 && more == 0:
		path := paths[0].Path
		if strings.ContainsFunc(path, unicode.IsControl) { // a subject is one line
			path = strconv.Quote(path)
		}
		return path + " " + pathVerb(paths[0])
	}
	return pathWords(paths, more)
}

func pathVerb(p PathStat) string {
	switch p.Status {
	case "A":
		return "added"
	case "D":
		return "deleted"
	}
	return "changed"
}

// Shown is the subject of a restored event for people, who name events with a sign.
func (*Restored) Shown(subject string) string {
	at := strings.LastIndexByte(subject, ' ') + 1
	_, err := strconv.Atoi(subject[at:])
	for _, to := range []string{" as before ", " as after ", " as of "} {
		if err == nil && strings.HasSuffix(subject[:at], to) {
			return subject[:at] + "@" + subject[at:]
		}
	}
	return subject
}

func resumedWords(b *Resumed) string {
	line := "resumed after " + Ago(time.Duration(b.AgeMS)*time.Millisecond)
	if b.Report != nil {
		line += ": " + ChangedWords(b.Report.Changed, b.Report.More)
	}
	return b.Approved.Behind(line)
}

func interruptWords(b *TurnInterrupted) string {
	by := string(b.By)
	if b.Signal != "" {
		by = b.Signal
	}
	words := "interrupted by " + by + " while " + string(b.Phase)
	if b.Reason != "" {
		words += ": " + b.Reason
	}
	return words
}

func doneWords(turn int, b *TurnDone) string {
	words := []string{Count(b.Calls, "call")}
	if b.Input > 0 || b.Output > 0 {
		words = append(words, Tokens(b.Input)+" in", Tokens(b.Output)+" out")
	}
	if b.CostUSD != "" {
		words = append(words, Dollars(b.CostUSD))
	}
	words = append(words, Ago(time.Duration(b.DurationMS)*time.Millisecond))
	return fmt.Sprintf("turn %d done: %s", turn, strings.Join(words, ", "))
}

func compactionWords(b *Compaction) string {
	tokens := ""
	if b.Before > 0 {
		tokens = ", " + TokensWords(b.Before, b.Basis, "", b.After)
	}
	if b.Kind == CompactTrim {
		done := "trimmed"
		if b.Room > 0 {
			done = "shortened"
		}
		return fmt.Sprintf("%s %s (%d–%d)%s", done, Count(len(b.Trimmed), "result"), b.FromSeq, b.ToSeq, tokens)
	}
	return fmt.Sprintf("compacted %d–%d: %s%s", b.FromSeq, b.ToSeq, Count(len(b.Items), "item"), tokens)
}
