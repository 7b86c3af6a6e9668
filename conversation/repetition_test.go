package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

// roundsOf makes the events of a turn. Each word is a model call whose tool calls, joined by +,
// are NAME=RESULT, with a suffix: ~ took a second, * changed a file, ! was cancelled, ? is
// open, - is an error, @ has a result too long to be sent. Other words: "says" of the user, "moved" by others, "on" lets it go on,
// "answers" without a tool, "broken" is a model call that has no end.
func roundsOf(words string) []*Event {
	events := []*Event{{Body: &TurnStart{}}, {Seq: 1, Body: &ChatRequest{Content: "go"}}}
	add := func(b Body) int {
		events = append(events, &Event{Seq: len(events), Body: b})
		return len(events) - 1
	}
	for ordinal, word := range strings.Fields(words) {
		ordinal++
		switch word {
		case "says":
			add(&ChatRequest{Content: "no", Interrupt: true})
			continue
		case "moved":
			add(&Workspace{Paths: []PathStat{{Path: "a", Status: "M"}}})
			continue
		case "on":
			add(&Note{Content: TextRepeating})
			continue
		case "answers":
			add(&ChatResponse{Call: ordinal, Part: PartMessage, Text: "well", CallEnd: CallEnd{Finish: FinishStop}})
			continue
		case "broken":
			add(&ChatResponse{Call: ordinal, Part: PartMessage, Text: "we"})
			continue
		}
		var asked []int
		calls := strings.Split(word, "+")
		for _, call := range calls {
			name, _, _ := strings.Cut(call, "=")
			asked = append(asked, add(&ToolCallRequest{Call: ordinal, Name: name, Arguments: []byte(`{"n":1}`), CallEnd: CallEnd{Finish: FinishToolCalls}}))
		}
		for i, call := range calls {
			_, result, _ := strings.Cut(call, "=")
			r := &ToolCallResponse{For: asked[i], Content: result[:1], IsError: strings.Contains(result, "-"), Cancelled: strings.Contains(result, "!")}
			if strings.Contains(result, "~") {
				r.DurationMS = 1000
			}
			if strings.Contains(result, "*") {
				r.Changed = []FileChange{{Path: "a", After: fmt.Sprint(ordinal)}}
			}
			if strings.Contains(result, "@") {
				r.Content, r.Truncated = fmt.Sprint("read it with event ", len(events)), &Truncated{Bytes: 1 << 20, SHA256: result[:1]}
			}
			if !strings.Contains(result, "?") {
				add(r)
			}
		}
	}
	return events
}

func TestRepetitionsOfATurn(t *testing.T) {
	for words, want := range map[string]string{
		"":                                   "",
		"a=1 a=1 a=1 a=1":                    "1 2 3 4 idle",
		"a=1 a=2 a=1":                        "1 1 2",
		"a=1 a=2 a=3":                        "1 1 1 idle",
		"a=1 a=1- a=1":                       "1 1 2",
		"a=1- a=1- a=1-":                     "1 2 3 idle",
		"a=1~ a=1 a=1":                       "1 2 3",
		"a=1 a=1~ a=1":                       "1 2 3",
		"a=1 a=1* a=1":                       "1 2 3",
		"b=1~ a=1 a=1 a=1":                   "1 1 2 3 idle",
		"moved a=1 a=1 a=1":                  "1 2 3 idle",
		"a=1 moved a=1 a=1":                  "1 2 3",
		"a=1 a=1 says a=1":                   "1 2 1 idle",
		"a=1 a=1 on a=1 a=1":                 "1 2 1 2 idle",
		"a=1 answers a=1":                    "1 1 1 idle",
		"a=1 broken a=1":                     "1 2 idle",
		"a=1 a=1! a=1":                       "1 1 1 idle",
		"a=1 a=1 a=1?":                       "1 2 1 idle",
		"a=1@ a=1@ a=2@":                     "1 2 1 idle",
		"a=1 a=1@ a=1":                       "1 1 2",
		"a=1 b=1 a=1 b=1 a=1 b=1":            "1 1 2 2 3 3",
		"a=1 b=1 a=1 b=2 a=1 b=3":            "1 1 2 1 2 1 idle",
		"a=1 b=1 a=1 b=1 says a=1 b=1 a=1":   "1 1 2 2 1 1 2",
		"a=1 b=1 a=1 a=1 a=1":                "1 1 2 2 3 idle",
		"a=1 a=1 b=1 a=1 b=1":                "1 2 1 2 2",
		"a=1 b=1 c=1 a=1 b=1 c=1":            "1 1 1 1 1 1 idle",
		"a=1+b=1 b=1+a=1 a=1+b=1":            "1 2 3 idle",
		"a=1+b=1 a=1 a=1+b=1 a=1":            "1 1 2 2",
		"a=1+a=1 a=1 a=1":                    "1 2 3 idle",
		"a=1+b=1~ a=1+b=1 a=1+b=1 a=1+b=2":   "1 2 3 1 idle",
		"a=1+b=1! a=1+b=1 a=1+b=1! a=1+b=1!": "1 1 1 1 idle",
	} {
		got := ""
		all := LedgerOf(roundsOf(words)).Repetitions()
		for i, r := range all {
			got += fmt.Sprint(r.Times, " ")
			if i == len(all)-1 && r.Idle && !r.Pair {
				got += "idle"
			}
		}
		require.Equal(t, want, strings.TrimSpace(got), words)
	}
}
