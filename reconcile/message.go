package reconcile

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"jp/conversation"
)

// The beginning of every message, by which the model and people know it.
const banner = "[SESSION_RESUMED]"

// A DiscardNote tells the model, at the start of the next turn, which files the tools
// of a discarded turn changed, and which ones they may have changed.
func DiscardNote(turn int, wrote, perhaps []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "An earlier attempt at this turn (turn %d) was discarded.\n", turn)
	if len(wrote) > 0 {
		b.WriteString("Its tools changed these files, and the changes may still be there:\n")
		names(&b, wrote, len(wrote))
	}
	if len(perhaps) > 0 {
		b.WriteString("These files changed while one of its tools was lost, by it or by others, and the changes may still be there:\n")
		names(&b, perhaps, len(perhaps))
	}
	return strings.TrimRight(b.String(), "\n")
}

// A RestoredNote tells the model, at the start of a turn, that the user restored files
// since its last answer.
func RestoredNote(paths []string) string {
	var b strings.Builder
	b.WriteString("The user has put these files back to an earlier state since your last answer, so changes that you made to them may be gone:\n")
	names(&b, paths, len(paths))
	return strings.TrimRight(b.String(), "\n")
}

// A LeftBehindNote tells the model that it goes on in a working tree made from
// snapshots, which lack some of the files that its tools wrote.
func LeftBehindNote(paths []string) string {
	var b strings.Builder
	b.WriteString("This working tree was made later, with the files as recorded. It began without your tools' changes to these files, which were not recorded:\n")
	names(&b, paths, len(paths))
	return strings.TrimRight(b.String(), "\n")
}

// message tells what happened, the state at the resume, and what to do about it. The model reads it behind
// the results of all calls, of which the open ones run after it is written. So each sentence is about the
// time of the resume.
func message(r Record, p Plan, report *conversation.Report, age time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s turn %d, model call %d, was interrupted, and resumed %s later. At the resume:\n", banner, r.Turn, max(1, r.Call), conversation.Ago(age))
	facts(&b, report, p.submodules)
	b.WriteString(untracked(p.Untracked))
	if len(r.LeftBehind) > 0 {
		b.WriteString(LeftBehindNote(r.LeftBehind) + "\n")
	}
	if was, is := r.Place.InProgress, p.InProgress; was != is {
		moved(&b, "The operation in progress", was, is)
	}
	switch r.Phase {
	case conversation.PhaseStreaming:
		streaming(&b, r)
	default:
		executing(&b, r, p)
	}
	if r.CutOff {
		b.WriteString(conversation.TextCutOff + "\n")
	}
	b.WriteString("Do not repeat work that the files already show.")
	return b.String()
}

func facts(b *strings.Builder, report *conversation.Report, submodules bool) {
	moved(b, "HEAD", short(report.HeadWas), short(report.HeadIs))
	moved(b, "Branch", report.BranchWas, report.BranchIs)
	switch {
	case len(report.Dirty) == 0 && submodules:
		b.WriteString("The working tree was clean, by git status, which was not asked about what is in submodules.\n")
	case len(report.Dirty) == 0:
		b.WriteString("The working tree was clean, by git status.\n")
	default:
		b.WriteString("These files were not committed, by git status:\n")
		names(b, report.Dirty, len(report.Dirty))
	}
	if len(report.Changed) == 0 {
		b.WriteString("Changed between the last event before the interruption and the resume: nothing.\n")
		return
	}
	fmt.Fprintf(b, "Changed between the last event before the interruption and the resume: %s.\n", report.Stat)
	for _, c := range report.Changed {
		fmt.Fprintf(b, "  %s %s %s\n", c.Status, pathName(c.Path), conversation.PlusMinus(c.Added, c.Deleted))
	}
	if report.More > 0 {
		fmt.Fprintf(b, "  (and %d more files)\n", report.More)
	}
}

// untrackedHead is the line above the files that git does not track.
const untrackedHead = "These files were not tracked by git, and not as before:\n"

// untracked describes the changes of untracked files, "" if there are none.
func untracked(files []Untracked) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(untrackedHead)
	for _, f := range files[:min(len(files), listed)] {
		fmt.Fprintf(&b, "  %s %s\n", f.What, pathName(f.Path))
	}
	if more := len(files) - listed; more > 0 {
		fmt.Fprintf(&b, "  (and %d more files)\n", more)
	}
	return b.String()
}

// toldUntracked extracts the part about untracked files from a message, in the words of [untracked].
func toldUntracked(message string) string {
	_, rest, found := strings.Cut(message, "\n"+untrackedHead)
	if !found {
		return ""
	}
	told := untrackedHead
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		told += line
	}
	return told
}

func moved(b *strings.Builder, what, was, is string) {
	switch {
	case was == is && is == "":
		fmt.Fprintf(b, "%s was none.\n", what)
	case was == is:
		fmt.Fprintf(b, "%s was %s, as before.\n", what, quote(is))
	default:
		fmt.Fprintf(b, "%s was %s, and before %s.\n", what, orNone(is), orNone(was))
	}
}

func orNone(word string) string {
	if word == "" {
		return "none"
	}
	return quote(word)
}

func short(oid string) string { return oid[:min(len(oid), 12)] }

// quote writes a foreign word so that it cannot end its line or look like a part of the
// message.
func quote(word string) string {
	text, err := json.Marshal(word)
	if err != nil {
		return `""`
	}
	canonical, err := conversation.Canonical(text)
	if err != nil {
		return `""`
	}
	return string(canonical)
}

// pathName writes a recorded path. A path outside of UTF-8 is recorded as a C string, which is on one line
// and has an end already.
func pathName(recorded string) string {
	plain, err := conversation.UnquotePath(recorded)
	if err == nil && plain != recorded && conversation.QuotePath(plain) == recorded {
		return recorded
	}
	return quote(recorded)
}

func names(b *strings.Builder, paths []string, all int) {
	for _, p := range paths[:min(len(paths), listed)] {
		fmt.Fprintf(b, "  %s\n", pathName(p))
	}
	if all > listed {
		fmt.Fprintf(b, "  (and %d more files)\n", all-listed)
	}
}

func streaming(b *strings.Builder, r Record) {
	if r.Broken == "" {
		b.WriteString("You had not answered yet.\n")
		return
	}
	b.WriteString("You were answering. This is what you had written, as JSON, and it may be incomplete:\n---\n")
	b.WriteString(quote(r.Broken))
	b.WriteString("\n---\nAnswer again from the files as they are.\n")
}

// textAfter says which of the message and the results is newer.
const textAfter = "This message was written before the calls went on. What they did after it is missing here.\n"

func executing(b *strings.Builder, r Record, p Plan) {
	b.WriteString("Your tool calls, each of which has its result above:\n")
	classes := map[*conversation.ToolCall]Call{}
	for _, c := range p.Calls {
		classes[c.Call] = c
	}
	for _, call := range r.Ledger.ToolCalls {
		if call.Request.Call != r.Call {
			continue
		}
		b.WriteString(callLine(call, classes[call]))
	}
	b.WriteString(textAfter + "Check what is there before you repeat a call whose outcome is unknown.\n")
	for _, c := range p.Calls {
		if c.Class == Delegated {
			b.WriteString(c.delegate())
		}
	}
}

// callLine describes a call: its request, its state, and its questions with their answers.
func callLine(call *conversation.ToolCall, c Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s (%s) %s: %s\n", quote(call.Request.Name), quote(call.Request.ID), arguments(call), state(call, c))
	for _, q := range call.Inquiries {
		if q.Request.Kind == conversation.KindHook {
			continue
		}
		fmt.Fprintf(&b, "    asked %s: %s\n", quote(q.Request.Question.Text), answerOf(q))
	}
	return b.String()
}

// most is how many characters of a call's arguments the message has.
const most = 200

// arguments are those of a call as JSON, or the beginning of them in a JSON string.
func arguments(call *conversation.ToolCall) string {
	text, whole := oneLine(call.Arguments())
	if whole && len(text) <= most {
		return text
	}
	return "with arguments that begin " + quote(strings.ToValidUTF8(text[:min(len(text), most)], ""))
}

// oneLine is a JSON value on one line, and whether it is one.
func oneLine(value json.RawMessage) (text string, whole bool) {
	if canonical, err := conversation.Canonical(value); err == nil {
		return string(canonical), true
	}
	return string(value), false
}

func answerOf(q *conversation.Inquiry) string {
	switch {
	case q.Live():
		return "had no answer yet"
	case q.Response == nil:
		return "had no answer"
	case q.Response.Outcome != conversation.OutcomeAnswered:
		return string(q.Response.Outcome)
	}
	text, whole := oneLine(q.Response.Answer)
	if !whole || len(text) > most {
		text = quote(strings.ToValidUTF8(text[:min(len(text), most)], ""))
	}
	if q.Response.Reason != "" {
		text += ", because " + quote(q.Response.Reason)
	}
	return text
}

// state describes a call at the resume, for the model.
func state(call *conversation.ToolCall, c Call) string {
	if !call.Open() {
		if call.Result.IsError {
			return "had its result, an error"
		}
		return "had its result"
	}
	switch c.Class {
	case NotStarted, Waiting:
		if waits := waitsFor(call); call.Started == nil && waits != "" {
			return "had not started, and waited for " + waits
		}
		if call.Started != nil {
			return "had asked a question before it changed anything, and was to run again with the answer"
		}
		return "had not started"
	case Repeatable:
		return "had started without a result, and was to run again"
	case Gone:
		return "had not started, as there was no such tool"
	case Alive:
		return "was still running"
	case Delegated:
		return "was delegated"
	}
	text := "outcome unknown: it had started, and no result was recorded"
	for _, files := range []struct {
		words string
		paths []string
	}{
		{"changed after its start", c.Touched}, {"not changed when jp looked", c.Untouched}, {"not there when jp looked", c.Absent},
		{"there when jp looked and not recorded before, so it is unknown whether it changed them", c.Untold},
	} {
		if len(files.paths) > 0 {
			text += "; " + files.words + ": " + quotes(files.paths)
		}
	}
	return text
}

func quotes(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = pathName(p)
	}
	return strings.Join(quoted, ", ")
}

// Evidence is the message to the model in the place of an unknown result.
func Evidence(c Call) string {
	var b strings.Builder
	b.WriteString("The outcome of this call is unknown: it had started when jp ended, and no result of it was recorded.")
	files := c.Files(quotes)
	if len(files) == 0 {
		files = []string{"Which files it would have changed is not known."}
	}
	for _, sentence := range files {
		b.WriteString(" " + sentence)
	}
	b.WriteString(" What it did elsewhere cannot be seen. Look at what is there before you repeat it.")
	return b.String()
}
