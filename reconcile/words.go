package reconcile

import (
	"fmt"
	"strings"
	"time"

	"jp/conversation"
)

// words sum up the findings of a resume in one line: its age, the changes of the files, and the known state
// of the calls without a result.
func words(changed []conversation.PathStat, head, cutOff bool, files []Untracked, calls []Call, age time.Duration) string {
	found := []string{conversation.ChangedWords(changed, 0)}
	if head {
		found = append(found, "HEAD moved")
	}
	if len(files) > 0 {
		found = append(found, UntrackedWords(files))
	}
	if cutOff {
		found = append(found, "the answer was cut off")
	}
	times := map[string]int{}
	first := len(found)
	for _, c := range calls {
		state := classWords[c.Class]
		switch {
		case c.Call.Started == nil && c.Class == Waiting:
			state = classWords[NotStarted]
			if waits := waitsFor(c.Call); waits != "" {
				state = "waits for " + waits
			}
		case c.Class == NotStarted && declined(c.Call):
			state = "declined"
		case c.Call.Started != nil && c.Class == NotStarted:
			state = "runs again with the answer"
		case c.Class == Delegated && c.Delegate.Left:
			state = "does not go on with its child"
		case c.Class == Delegated && !c.Delegate.Begun:
			state = "begins its child, in which there is nothing"
		}
		state = c.Call.Request.Name + " " + state
		if times[state]++; times[state] == 1 {
			found = append(found, state)
		}
	}
	for i, state := range found[first:] {
		if n := times[state]; n > 1 {
			found[first+i] = fmt.Sprintf("%s (%d times)", state, n)
		}
	}
	return "resumed after " + conversation.Ago(age) + ": " + strings.Join(found, "; ")
}

// UntrackedWords name a few untracked files, with their fate.
func UntrackedWords(files []Untracked) string {
	const named = 3
	var words []string
	for _, f := range files[:min(len(files), named)] {
		words = append(words, f.Path+" "+f.What)
	}
	text := "untracked: " + strings.Join(words, ", ")
	if more := len(files) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// declined reports whether the user has declined the call.
func declined(call *conversation.ToolCall) bool {
	q := call.Permission()
	return q != nil && q.Response != nil && q.Response.Choice() == conversation.AnswerSkip
}

var classWords = map[Class]string{
	NotStarted: "not started",
	Repeatable: "runs again",
	Unknown:    "of unknown outcome",
	Waiting:    "waits for an answer",
	Gone:       "is no tool here",
	Alive:      "still running",
	Delegated:  "goes on with its child",
}
