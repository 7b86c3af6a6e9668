package reconcile

import (
	"strings"
	"time"

	"jp/conversation"
)

// words say in one line what a resume found: how long ago it was, what moved in
// the files, and what is known of the calls that have no result.
func words(changed []conversation.PathStat, head bool, calls []Call, age time.Duration) string {
	found := []string{conversation.ChangedWords(changed, 0)}
	if head {
		found = append(found, "HEAD moved")
	}
	for _, c := range calls {
		state := classWords[c.Class]
		switch {
		case c.Call.Started == nil && c.Class == Waiting:
			state = classWords[NotStarted]
		case c.Call.Started != nil && c.Class == NotStarted:
			state = "runs again with the answer"
		case c.Class == Delegated && c.Delegate.Left:
			state = "does not go on with its child"
		}
		found = append(found, c.Call.Request.Name+" "+state)
	}
	return "resumed after " + conversation.Ago(age) + ": " + strings.Join(found, "; ")
}

var classWords = map[Class]string{
	NotStarted: "not started",
	Repeatable: "runs again",
	Unknown:    "of unknown outcome",
	Waiting:    "waits for an answer",
	Gone:       "not there any more",
	Alive:      "still running",
	Delegated:  "goes on with its child",
}
